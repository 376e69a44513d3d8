// Quotas as bytes.
#include "admission/quota_store.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"
#include "support/random.h"

namespace bigtable {
namespace {

TEST(QuotaFormatTest, TheWorkedExampleIsTrue) {
  QuotaSet quotas;
  quotas.SetTable(5, "t", {.storage_bytes = 300});
  quotas.SetCaller("a", {.requests_per_second = 1});
  EXPECT_EQ(absl::BytesToHexString(quotas.Encode()),
            "010105"
            "0174"
            "ac020000"
            "01"
            "0161"
            "000100");
  ASSERT_OK_AND_ASSIGN(const QuotaSet decoded, QuotaSet::Decode(quotas.Encode()));
  EXPECT_EQ(decoded, quotas);
}

TEST(QuotaFormatTest, AnEmptyQuotaIsRemoved) {
  QuotaSet quotas;
  quotas.SetTable(5, "t", {.storage_bytes = 300});
  quotas.SetCaller("a", {.requests_per_second = 1});
  quotas.SetTable(5, "t", {});
  quotas.SetCaller("a", {});
  quotas.SetCaller("b", {});
  EXPECT_EQ(quotas, QuotaSet());
}

TEST(QuotaFormatTest, DecodedQuotasEqualTheEncodedOnes) {
  Random random(1);
  const auto quota = [&] {
    return Quota{random.Below(1 << 20), random.Below(1 << 20) + 1, random.Below(1 << 20)};
  };
  for (int round = 0; round < 200; ++round) {
    QuotaSet quotas;
    for (uint64_t n = random.Below(9); n > 0; --n)
      quotas.SetTable(random.Below(1000), "t", quota());
    for (uint64_t n = random.Below(9); n > 0; --n) {
      quotas.SetCaller("c" + std::to_string(random.Below(1000)), quota());
    }
    ASSERT_OK_AND_ASSIGN(const QuotaSet decoded, QuotaSet::Decode(quotas.Encode()));
    ASSERT_EQ(decoded, quotas);
  }
}

TEST(QuotaFormatTest, MalformedBytesAreRefused) {
  QuotaSet quotas;
  quotas.SetTable(5, "t", {.storage_bytes = 300});
  quotas.SetTable(6, "u", {.storage_bytes = 300});
  quotas.SetCaller("a", {.requests_per_second = 1});
  quotas.SetCaller("b", {.bytes_per_second = 1});
  const std::string bytes = quotas.Encode();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_STATUS(kDataLoss, "", QuotaSet::Decode(std::string_view(bytes).substr(0, size)));
  }
  EXPECT_STATUS(kDataLoss, "", QuotaSet::Decode(bytes + "x"));
  EXPECT_STATUS(kFailedPrecondition, "version 2; this program knows 1", QuotaSet::Decode("\x02"));
  // Tables and callers that come twice, and names that are none.
  EXPECT_STATUS(kDataLoss, "", QuotaSet::Decode(std::string("\1\2\5\1t\1\0\0\5\1t\1\0\0\0", 15)));
  EXPECT_STATUS(kDataLoss, "", QuotaSet::Decode(std::string("\1\0\2\1a\1\0\0\1a\1\0\0", 13)));
  EXPECT_STATUS(kInvalidArgument, "", QuotaSet::Decode(std::string("\1\0\1\1 \1\0\0", 8)));
}

}  // namespace
}  // namespace bigtable
