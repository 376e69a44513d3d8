// Gives each fuzz target the files of its committed corpus, and changes of them: what a target once
// found stays found, in every build and with every compiler.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "fuzz/target.h"
#include "support/random.h"

namespace bigtable {
namespace {

namespace fs = std::filesystem;

std::string BytesOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The names of all targets: each has a folder.
std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(BIGTABLE_FUZZ_CORPUS)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// A few bytes are changed, removed or doubled.
std::string Changed(std::string bytes, Random* random) {
  for (uint64_t n = 1 + random->Below(4); n > 0 && !bytes.empty(); --n) {
    const size_t at = random->Below(bytes.size());
    switch (random->Below(4)) {
      case 0:
        bytes.erase(at, 1 + random->Below(8));
        break;
      case 1:
        bytes.insert(at, bytes.substr(at, 1 + random->Below(8)));
        break;
      case 2:
        bytes[at] = static_cast<char>(random->OneIn(2) ? 0xff : 0);
        break;
      default:
        bytes[at] = static_cast<char>(random->Below(256));
    }
  }
  return bytes;
}

class CorporaTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, CorporaTest, testing::ValuesIn(Names()),
                         [](const auto& instance) { return instance.param; });

TEST_P(CorporaTest, TheTargetStandsItsCorpusAndChangesOfIt) {
  const FuzzTarget target = FindFuzzTarget(GetParam());
  ASSERT_NE(target, nullptr) << "there is a corpus, and no target";
  const int changes = GetParam() == "c_api" ? 10 : 1000;  // each makes a table
  Random random(1);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(BIGTABLE_FUZZ_CORPUS) / GetParam())) {
    const std::string bytes = BytesOf(entry.path());
    SCOPED_TRACE(entry.path().string());
    target(bytes);
    for (int i = 0; i < changes; ++i) target(Changed(bytes, &random));
    ++files;
  }
  EXPECT_GT(files, 0u);
  target("");
}

}  // namespace
}  // namespace bigtable
