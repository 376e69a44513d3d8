// The seeds of the corpora: what seeds_test.cc and server_seeds.cc have in common.
#ifndef BIGTABLE_TESTS_FUZZ_SEEDS_H_
#define BIGTABLE_TESTS_FUZZ_SEEDS_H_

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace bigtable {

// By target and name.
using Seeds = std::map<std::string, std::map<std::string, std::string>>;

// As FuzzInput::Piece takes it.
inline std::string AsPiece(std::string_view bytes) {
  std::string piece = {static_cast<char>(bytes.size() & 0xff),
                       static_cast<char>(bytes.size() >> 8)};
  return piece.append(bytes);
}
inline std::string WithForm(uint8_t form, std::string_view bytes) {
  return std::string(1, static_cast<char>(form)).append(bytes);
}

// Whether the committed files are these. BIGTABLE_REWRITE_TESTDATA=1 writes them anew.
inline void CompareSeeds(const Seeds& seeds) {
  namespace fs = std::filesystem;
  const bool rewrite = std::getenv("BIGTABLE_REWRITE_TESTDATA") != nullptr;
  for (const auto& [target, files] : seeds) {
    const fs::path folder = fs::path(BIGTABLE_FUZZ_CORPUS) / target;
    for (const auto& [name, bytes] : files) {
      const fs::path path = folder / ("seed_" + name);
      if (rewrite) {
        fs::create_directories(folder);
        std::ofstream(path, std::ios::binary) << bytes;
      }
      std::ifstream in(path, std::ios::binary);
      const std::string committed(std::istreambuf_iterator<char>(in), {});
      // Another version of zstd may compress to other bytes.
      EXPECT_TRUE(name == "zstd" ? !committed.empty() : committed == bytes) << path;
    }
  }
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_FUZZ_SEEDS_H_
