// Access lists as bytes.
#include "admission/access_list_store.h"

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"
#include "support/random.h"

namespace bigtable {
namespace {

TEST(AccessListFormatTest, TheWorkedExampleIsTrue) {
  const AccessList list = {.readers = {"b", "a"}, .writers = {"*"}};
  const std::string bytes = EncodeAccessList(list);
  EXPECT_EQ(absl::BytesToHexString(bytes), "01020161016201012a");
  ASSERT_OK_AND_ASSIGN(const AccessList decoded, DecodeAccessList(bytes));
  EXPECT_EQ(decoded, list);
}

TEST(AccessListFormatTest, DecodedListsEqualTheEncodedOnes) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    AccessList list;
    for (uint64_t n = random.Below(20); n > 0; --n)
      list.readers.insert(random.Bytes(random.Below(9)));
    for (uint64_t n = random.Below(20); n > 0; --n)
      list.writers.insert(random.Bytes(random.Below(9)));
    ASSERT_OK_AND_ASSIGN(const AccessList decoded, DecodeAccessList(EncodeAccessList(list)));
    ASSERT_EQ(decoded, list);
  }
}

TEST(AccessListFormatTest, MalformedBytesAreRefused) {
  const std::string bytes = EncodeAccessList({.readers = {"ab", "cd"}, .writers = {"ef", "gh"}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_STATUS(kDataLoss, "", DecodeAccessList(std::string_view(bytes).substr(0, size)));
  }
  EXPECT_STATUS(kDataLoss, "", DecodeAccessList(bytes + "x"));
  EXPECT_STATUS(kFailedPrecondition, "version 2; this program knows 1", DecodeAccessList("\x02"));
  // Names that are not sorted, or come twice, and a count without names.
  EXPECT_STATUS(kDataLoss, "", DecodeAccessList(std::string("\1\2\1b\1a\0", 7)));
  EXPECT_STATUS(kDataLoss, "", DecodeAccessList(std::string("\1\2\1a\1a\0", 7)));
  EXPECT_STATUS(kDataLoss, "", DecodeAccessList("\1\xff\xff\xff\xff\x0f"));
}

TEST(AccessListFormatTest, AListHasTheSizeOfAFileAtMost) {
  AccessList list;
  for (int i = 0; i < 6000; ++i) list.readers.insert(std::to_string(i) + std::string(90, 'x'));
  EXPECT_STATUS(kInvalidArgument, "access list \"big\" must have at most 524288 bytes, and has",
                CheckAccessList("big", list));
  list.readers.erase(list.readers.begin(), std::next(list.readers.begin(), 1000));
  EXPECT_OK(CheckAccessList("big", list));
}

}  // namespace
}  // namespace bigtable
