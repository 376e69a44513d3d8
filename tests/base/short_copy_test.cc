// CopyShort copies like memcpy, and neither writes nor reads outside the range: the source ends
// with its allocation, which AddressSanitizer checks.
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/key_buffer.h"
#include "support/random.h"

namespace bigtable {
namespace {

constexpr size_t kMostBytes = 80;  // more than twice the size that is copied without a call
constexpr size_t kMargin = 64;     // on both sides of the target

TEST(ShortCopyTest, CopiesExactlyTheRangeForAllAlignments) {
  Random random(1);
  for (size_t n = 0; n <= kMostBytes; ++n) {
    for (size_t from = 0; from < 16; ++from) {
      for (size_t to = 0; to < 16; ++to) {
        const std::string bytes = random.Bytes(from + n);
        const std::vector<char> source(bytes.begin(), bytes.end());
        std::string target = random.Bytes(kMargin + to + n + kMargin);
        std::string expected = target;
        expected.replace(kMargin + to, n, bytes, from, n);

        CopyShort(target.data() + kMargin + to, source.data() + from, n);
        ASSERT_TRUE(target == expected) << n << " bytes from " << from << " to " << to;
        ASSERT_TRUE(std::string(source.begin(), source.end()) == bytes) << n;
      }
    }
  }
}

TEST(ShortCopyTest, ZeroBytesMayBeCopiedFromNull) {
  char target = 'x';
  CopyShort(&target, nullptr, 0);
  EXPECT_EQ(target, 'x');
}

}  // namespace
}  // namespace bigtable
