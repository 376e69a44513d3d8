// What quotas admit, by a clock and sums of storage that the test sets.
#include "admission/quota_control.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "admission/quota_error.h"
#include "schema/mutation_format.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class QuotaControlTest : public testing::Test {
 protected:
  using Demand = QuotaControl::Demand;
  static constexpr int64_t kSecond = 1'000'000'000;
  static constexpr uint64_t kTable = 5;

  QuotaControlTest() {
    quotas_.SetStorage([this] {
      ++sums_;
      now_ += sum_takes_;
      return stored_;
    });
  }
  void Use(const Quota& of_table, const Quota& of_alice = {}) {
    QuotaSet set;
    set.SetTable(kTable, "t", of_table);
    set.SetCaller("alice", of_alice);
    quotas_.Use(set);
  }
  absl::Status Take(const Demand& demand) { return quotas_.Take({&demand, 1}); }

  int64_t now_ = 100 * kSecond;
  StoredBytes stored_;
  int sums_ = 0;
  int64_t sum_takes_ = 0;
  QuotaControl quotas_{[this] { return now_; }};
};

// --- Rates ---

TEST_F(QuotaControlTest, AQuotaIsOfItsTableOrItsCaller) {
  EXPECT_FALSE(quotas_.limits_rates() || quotas_.limits_storage());
  Use({.requests_per_second = 2});
  EXPECT_TRUE(quotas_.limits_rates());
  EXPECT_FALSE(quotas_.limits_storage());
  const Demand of_table{.table_id = kTable, .requests = 1};
  EXPECT_OK(Take(of_table));
  EXPECT_OK(Take(of_table));
  const absl::Status refused = Take(of_table);
  EXPECT_STATUS(kResourceExhausted, "the quota of 2 requests a second of table t", refused);
  EXPECT_EQ(RetryAfter(refused), absl::Milliseconds(500));
  EXPECT_OK(Take({.table_id = kTable + 1, .requests = 1}));
  now_ += kSecond / 2;
  EXPECT_OK(Take(of_table));

  Use({}, {.bytes_per_second = 100});
  EXPECT_TRUE(quotas_.limits_rates());
  const Demand of_alice{.table_id = kTable, .caller = "alice", .bytes = 100};
  EXPECT_OK(Take(of_alice));
  EXPECT_STATUS(kResourceExhausted, "100 bytes a second of caller \"alice\"", Take(of_alice));
  EXPECT_OK(Take({.table_id = kTable, .caller = "bob", .bytes = 100}));
  EXPECT_OK(Take({.table_id = kTable, .bytes = 100}));
  Use({});
  EXPECT_FALSE(quotas_.limits_rates());
  EXPECT_OK(Take(of_alice));
}

TEST_F(QuotaControlTest, TheCallersOwnQuotaIsAskedFirst) {
  Use({.requests_per_second = 1}, {.requests_per_second = 1});
  const Demand demand{.table_id = kTable, .caller = "alice", .requests = 1};
  EXPECT_OK(Take(demand));
  EXPECT_STATUS(kResourceExhausted, "of caller \"alice\"", Take(demand));
}

TEST_F(QuotaControlTest, ARefusedCallTakesNothingOfOtherQuotas) {
  Use({.requests_per_second = 1}, {.requests_per_second = 5, .bytes_per_second = 50});
  const Demand both{.table_id = kTable, .caller = "alice", .requests = 1, .bytes = 10};
  EXPECT_OK(Take(both));
  EXPECT_STATUS(kResourceExhausted, "of table t", Take(both));
  const Demand rest{.table_id = kTable + 1, .caller = "alice", .requests = 4, .bytes = 40};
  EXPECT_OK(Take(rest));
  EXPECT_STATUS(kResourceExhausted, "requests a second of caller",
                Take({.table_id = kTable + 1, .caller = "alice", .requests = 1}));
  EXPECT_STATUS(kResourceExhausted, "bytes a second of caller",
                Take({.table_id = kTable + 1, .caller = "alice", .bytes = 1}));
}

TEST_F(QuotaControlTest, ACallThatIsRefusedForItsBytesTakesNoRequests) {
  Use({}, {.requests_per_second = 2, .bytes_per_second = 10});
  const Demand large{.table_id = kTable, .caller = "alice", .requests = 1, .bytes = 10};
  const Demand small{.table_id = kTable, .caller = "alice", .requests = 1};
  EXPECT_OK(Take(large));
  EXPECT_STATUS(kResourceExhausted, "bytes", Take(large));
  EXPECT_OK(Take(small));
  EXPECT_STATUS(kResourceExhausted, "requests", Take(small));
}

// A bucket that is full admits more than it holds, and is asked once.
TEST_F(QuotaControlTest, TheDemandsOfACallAreAddedUp) {
  Use({.requests_per_second = 1, .bytes_per_second = 10});
  const std::vector<Demand> demands(3, {.table_id = kTable, .requests = 1, .bytes = 10});
  EXPECT_OK(quotas_.Take(demands));
  const absl::Status refused = Take(demands[0]);
  EXPECT_STATUS(kResourceExhausted, "requests", refused);
  EXPECT_EQ(RetryAfter(refused), absl::Seconds(3));
  now_ += 2 * kSecond;
  EXPECT_STATUS(kResourceExhausted, "bytes", Take({.table_id = kTable, .bytes = 1}));
  now_ += kSecond;
  EXPECT_OK(Take(demands[0]));
}

TEST_F(QuotaControlTest, AReadIsAdmittedWhileThereIsNoDebtOfBytes) {
  Use({}, {.requests_per_second = 1, .bytes_per_second = 100});
  const Demand read{.table_id = kTable, .caller = "alice", .requests = 1};
  quotas_.Charge({.table_id = kTable, .caller = "alice", .requests = 1, .bytes = 100});
  EXPECT_STATUS(kResourceExhausted, "100 bytes a second of caller", quotas_.Begin(read));
  EXPECT_EQ(RetryAfter(quotas_.Begin(read)), absl::Nanoseconds(1));
  now_ += 1;
  EXPECT_OK(quotas_.Begin({.table_id = kTable, .caller = "alice"}));  // takes no request
  EXPECT_OK(quotas_.Begin(read));
  EXPECT_STATUS(kResourceExhausted, "1 requests a second", quotas_.Begin(read));
  EXPECT_OK(quotas_.Begin({.table_id = kTable, .requests = 1}));
}

TEST_F(QuotaControlTest, WhatAReadHasTakenMayLeaveADebt) {
  Use({.bytes_per_second = 100});
  const Demand read{.table_id = kTable, .requests = 1};
  quotas_.Charge({.table_id = kTable, .bytes = 300});
  EXPECT_EQ(RetryAfter(quotas_.Begin(read)), absl::Seconds(2) + absl::Nanoseconds(1));
  now_ += 2 * kSecond;
  EXPECT_STATUS(kResourceExhausted, "of table t", quotas_.Begin(read));
  now_ += 1;
  EXPECT_OK(quotas_.Begin(read));
}

TEST_F(QuotaControlTest, AQuotaThatStaysTheSameKeepsItsState) {
  const Demand of_table{.table_id = kTable, .requests = 1};
  Use({.requests_per_second = 1});
  EXPECT_OK(Take(of_table));
  Use({.requests_per_second = 1}, {.requests_per_second = 7});
  EXPECT_STATUS(kResourceExhausted, "of table t", Take(of_table));
  Use({.requests_per_second = 1, .bytes_per_second = 9});
  EXPECT_OK(Take(of_table));
}

TEST(QuotaErrorTest, OnlyAQuotaOfARateSaysWhenToRetry) {
  const absl::Status status = RateQuotaError("the quota of x", 1'500'000'300);
  EXPECT_STATUS(kResourceExhausted, "the quota of x is used up; retry in 1.500001s", status);
  EXPECT_EQ(RetryAfter(status), absl::Nanoseconds(1'500'000'300));
  EXPECT_EQ(RetryAfter(StorageQuotaError(10, "table t", 30)), std::nullopt);
  EXPECT_EQ(RetryAfter(absl::OkStatus()), std::nullopt);
  absl::Status other = absl::ResourceExhaustedError("other");
  EXPECT_EQ(RetryAfter(other), std::nullopt);
  SetRetryAfter(absl::Seconds(1), &other);
  EXPECT_EQ(RetryAfter(other), absl::Seconds(1));
  other.SetPayload("bigtable/retry-after", absl::Cord("soon"));
  EXPECT_EQ(RetryAfter(other), std::nullopt);
}

// --- Storage ---

class StorageControlTest : public QuotaControlTest {
 protected:
  void SetUp() override {
    TableSchema schema;
    schema.families["f"] = {.owner = "alice"};
    schema.families["g"] = {};
    ASSERT_OK_AND_ASSIGN(layout_, MakeTableLayout("t", kTable, schema));
  }
  // Sets "q" of each family to a value, so that qualifier and value have `bytes` bytes.
  absl::Status Set(const std::vector<std::string_view>& families, size_t bytes) {
    std::string operations;
    const std::string value(bytes - 1, 'v');
    for (const std::string_view family : families) {
      AppendOperation(&operations, {.family = family, .qualifier = "q", .value = value});
    }
    return quotas_.TakeStorage(layout_, operations);
  }
  // Storage as it was added up just now.
  void SetStored(uint64_t of_table, uint64_t of_alice) {
    stored_.tables[kTable] = of_table;
    stored_.owners["alice"] = of_alice;
    quotas_.MarkChanged();
    quotas_.RefreshStorage();
  }

  TableLayout layout_;
};

TEST_F(StorageControlTest, AMutationIsRefusedOnceTheQuotaIsExceeded) {
  Use({.storage_bytes = 100});
  EXPECT_TRUE(quotas_.limits_storage());
  EXPECT_FALSE(quotas_.limits_rates());
  SetStored(100, 0);
  EXPECT_OK(Set({"g"}, 3));
  EXPECT_STATUS(kResourceExhausted,
                "the storage quota of 100 bytes of table t is exceeded by 3 bytes", Set({"g"}, 3));
  std::string deletion;
  AppendOperation(&deletion, MutationOperation::DeleteRow());
  AppendOperation(&deletion, MutationOperation::DeleteColumn("g", "q"));
  EXPECT_OK(quotas_.TakeStorage(layout_, deletion));
  AppendOperation(&deletion, {.family = "g", .qualifier = "q", .value = "v"});
  EXPECT_STATUS(kResourceExhausted, "table t", quotas_.TakeStorage(layout_, deletion));
  SetStored(99, 0);
  EXPECT_OK(Set({"g"}, 3));
  stored_ = {};  // nothing is known of the table
  quotas_.MarkChanged();
  quotas_.RefreshStorage();
  EXPECT_OK(Set({"g"}, 100));
  EXPECT_OK(Set({"g"}, 1));
  EXPECT_STATUS(kResourceExhausted, "by 1 bytes", Set({"g"}, 1));
}

TEST_F(StorageControlTest, AnOwnersQuotaIsOfItsFamilies) {
  Use({}, {.storage_bytes = 50});
  SetStored(1000, 40);
  EXPECT_OK(Set({"f", "f"}, 6));
  EXPECT_STATUS(kResourceExhausted, "50 bytes of caller \"alice\" is exceeded by 2 bytes",
                Set({"f"}, 1));
  EXPECT_OK(Set({"g"}, 100));
  EXPECT_STATUS(kResourceExhausted, "alice", Set({"g", "f"}, 1));
  EXPECT_STATUS(kResourceExhausted, "alice", Set({"f", "g"}, 1));
  EXPECT_OK(Set({"x"}, 1));  // the schema refuses it
}

TEST_F(StorageControlTest, ARefusedMutationIsNotCounted) {
  Use({.storage_bytes = 100}, {.storage_bytes = 50});
  SetStored(99, 51);
  EXPECT_STATUS(kResourceExhausted, "alice", Set({"g", "f"}, 5));
  EXPECT_OK(Set({"g"}, 1));
  EXPECT_OK(Set({"g"}, 1));
  EXPECT_STATUS(kResourceExhausted, "table t", Set({"g"}, 1));
}

TEST_F(StorageControlTest, AQuotaOfRatesAloneLimitsNoStorage) {
  Use({.requests_per_second = 1}, {.bytes_per_second = 1});
  EXPECT_FALSE(quotas_.limits_storage());
  SetStored(1000, 1000);
  EXPECT_OK(Set({"f", "g"}, 100));
}

TEST_F(StorageControlTest, StorageIsAddedUpAfterAChangeAndFromTimeToTime) {
  constexpr int64_t kMilli = 1'000'000;
  Use({.storage_bytes = 100});
  quotas_.RefreshStorage();
  EXPECT_EQ(sums_, 1);
  quotas_.RefreshStorage();
  EXPECT_EQ(sums_, 1);
  now_ += 100 * kMilli - 1;
  quotas_.RefreshStorage();
  EXPECT_EQ(sums_, 1);
  now_ += 1;
  quotas_.RefreshStorage();
  EXPECT_EQ(sums_, 2);
  quotas_.MarkChanged();
  quotas_.RefreshStorage();
  EXPECT_EQ(sums_, 3);
  quotas_.RefreshStorage();
  EXPECT_EQ(sums_, 3);
  // It takes at most a twentieth of the time.
  sum_takes_ = 10 * kMilli;
  quotas_.MarkChanged();
  quotas_.RefreshStorage();
  EXPECT_EQ(sums_, 4);
  now_ += 200 * kMilli - 1;
  quotas_.RefreshStorage();
  EXPECT_EQ(sums_, 4);
  now_ += 1;
  quotas_.RefreshStorage();
  EXPECT_EQ(sums_, 5);
}

}  // namespace
}  // namespace bigtable
