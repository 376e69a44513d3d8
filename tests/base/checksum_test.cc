// The checksum is XXH3, whichever way it is computed: other builds read the files.
#include "base/checksum.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <xxhash.h>

#include "gtest/gtest.h"

#include "support/random.h"

namespace bigtable {
namespace {

TEST(ChecksumTest, IsTheSameWithEveryWidthOfVectors) {
  Random random(1);
  const std::string bytes = random.Bytes(5000);
  for (size_t size = 0; size <= bytes.size(); size += size < 1200 ? 1 : 61) {
    for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, random.Next()}) {
      ASSERT_EQ(Checksum(std::string_view(bytes).substr(0, size), seed),
                XXH3_64bits_withSeed(bytes.data(), size, seed))
          << size << " bytes, seed " << seed;
    }
  }
}

TEST(ChecksumTest, HasNotChanged) {
  EXPECT_EQ(Checksum(""), 0x2d06800538d394c2u);
  EXPECT_EQ(Checksum(std::string(1000, 'x'), 7), 12011178006697514372u);
}

}  // namespace
}  // namespace bigtable
