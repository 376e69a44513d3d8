// Gives each fuzz target the files of its committed corpus, and changes of them: what a target once
// found stays found, in every build and with every compiler.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "fuzz/target.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

namespace fs = std::filesystem;

std::string BytesOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The names of all targets that are built: each has a folder.
std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(BIGTABLE_FUZZ_CORPUS)) {
    const std::string name = entry.path().filename();
    if (BIGTABLE_FUZZ_SERVER || !name.starts_with("server_")) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// How many inputs beside its files a target is given: some make tables.
int InputsFor(const std::string& target) {
  if (target == "c_api" || target == "server_data" || target == "server_admin") return 100;
  return target == "server_http" ? 500 : 10'000;
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

std::vector<std::string> CorpusOf(const std::string& target) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(BIGTABLE_FUZZ_CORPUS) / target)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> files;
  for (const fs::path& path : paths) files.push_back(BytesOf(path));
  return files;
}

// Any bytes, or the beginning of a file and the end of another one, with changes.
std::string RandomInput(const std::vector<std::string>& files, Random* random) {
  if (random->OneIn(2)) return random->Bytes(random->Below(300));
  std::string bytes = random->Pick(files);
  const std::string& other = random->Pick(files);
  bytes.resize(random->Between(0, bytes.size()));
  bytes.append(other, random->Between(0, other.size()));
  return random->OneIn(4) ? bytes : Changed(std::move(bytes), random);
}

class CorporaTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, CorporaTest, testing::ValuesIn(Names()),
                         [](const auto& instance) { return instance.param; });

TEST_P(CorporaTest, TheTargetStandsItsCorpusAndChangesOfIt) {
  const FuzzTarget target = FindFuzzTarget(GetParam());
  ASSERT_NE(target, nullptr) << "there is a corpus, and no target";
  const std::vector<std::string> files = CorpusOf(GetParam());
  ASSERT_FALSE(files.empty());
  Random random(1);
  for (const std::string& bytes : files) target(bytes);
  // A large corpus takes no longer than a small one.
  for (int i = 0; i < InputsFor(GetParam()) / 2; ++i) target(Changed(random.Pick(files), &random));
  target("");
}

TEST_P(CorporaTest, TheTargetStandsRandomInputs) {
  const FuzzTarget target = FindFuzzTarget(GetParam());
  ASSERT_NE(target, nullptr);
  const std::vector<std::string> files = CorpusOf(GetParam());
  ForEachSeed(InputsFor(GetParam()), [&](uint64_t seed) {
    Random random(seed);
    target(RandomInput(files, &random));
  });
}

}  // namespace
}  // namespace bigtable
