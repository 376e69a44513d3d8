// Quotas of tables and callers: how they are set and kept; quotas of rates: which calls they
// refuse, and that a refused call changes nothing.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/steady_time.h"
#include "quotas/quota_fixture.h"
#include "support/faulty_network.h"

namespace bigtable {
namespace {

class QuotaTest : public QuotaFixture {};

TEST_F(QuotaTest, RequestsOfATableAreLimitedForAllCallersTogether) {
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 3}));
  EXPECT_OK(Put(T(), "a", "f:q"));
  EXPECT_OK(As("ann")->ReadRow("a"));
  EXPECT_OK(As("bob")->ReadRow("z"));

  const absl::Status refused = Put(T(), "b", "f:q");

  EXPECT_EXHAUSTED("the quota of 3 requests a second of table t is used up; retry in 333.334ms",
                   refused);
  ASSERT_TRUE(RetryAfter(refused).has_value());
  EXPECT_EQ(absl::Ceil(*RetryAfter(refused), absl::Microseconds(1)), absl::Microseconds(333'334));
  EXPECT_OK(OpenTable("u")->ReadRow("a"));
  EXPECT_EQ(All(), "a");
}

TEST_F(QuotaTest, ACallIsAdmittedAfterTheTimeThatItsErrorNames) {
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 4}));
  for (int i = 0; i < 4; ++i) EXPECT_OK(T()->ReadRow("a"));
  const absl::Status refused = T()->ReadRow("a").status();
  ASSERT_TRUE(RetryAfter(refused).has_value());
  time_.Advance(*RetryAfter(refused) - absl::Microseconds(1));
  EXPECT_EXHAUSTED("", T()->ReadRow("a"));
  time_.Advance(absl::Microseconds(1));
  EXPECT_OK(T()->ReadRow("a"));
  EXPECT_EXHAUSTED("", T()->ReadRow("a"));
}

TEST_F(QuotaTest, RequestsOfACallerAreLimitedInAllTables) {
  ASSERT_OK(database_->SetCallerQuota("ann", {.requests_per_second = 2}));
  EXPECT_OK(As("ann", "t")->ReadRow("a"));
  EXPECT_OK(As("ann", "u")->ReadRow("a"));
  EXPECT_EXHAUSTED("the quota of 2 requests a second of caller \"ann\" is used up",
                   As("ann", "t")->ReadRow("a"));
  for (int i = 0; i < 5; ++i) {
    EXPECT_OK(As("bob")->ReadRow("a"));
    EXPECT_OK(T()->ReadRow("a"));
  }
}

TEST_F(QuotaTest, ACallerBeyondItsQuotaTakesNothingOfTheTables) {
  ASSERT_OK(database_->SetCallerQuota("ann", {.requests_per_second = 1}));
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 3}));
  EXPECT_OK(As("ann")->ReadRow("a"));
  for (int i = 0; i < 5; ++i) EXPECT_EXHAUSTED("caller \"ann\"", As("ann")->ReadRow("a"));
  EXPECT_OK(T()->ReadRow("a"));
  EXPECT_OK(T()->ReadRow("a"));
  EXPECT_EXHAUSTED("table t", T()->ReadRow("a"));
}

TEST_F(QuotaTest, ACallThatATableRefusesTakesNothingOfTheCallers) {
  ASSERT_OK(database_->SetCallerQuota("ann", {.requests_per_second = 2, .bytes_per_second = 100}));
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 1}));
  EXPECT_OK(As("ann")->ReadRow("a"));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EXHAUSTED("table t", As("ann")->ReadRow("a"));
    EXPECT_EXHAUSTED("table t", Put(As("ann"), "a", "f:q", 60));
  }
  EXPECT_OK(Put(As("ann", "u"), "a", "f:q", 60));
}

TEST_F(QuotaTest, ACallThatAQuotaOfBytesRefusesTakesNoRequests) {
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 2, .bytes_per_second = 100}));
  EXPECT_OK(Put(T(), "a", "f:q", 80));
  for (int i = 0; i < 5; ++i) EXPECT_EXHAUSTED("bytes", Put(T(), "a", "f:q", 80));
  EXPECT_OK(T()->ReadRow("z"));
  EXPECT_EXHAUSTED("requests", T()->ReadRow("z"));
}

TEST_F(QuotaTest, EachCallCountsAsARequest) {
  const auto expect_cost = [&](uint64_t requests, const std::function<absl::Status()>& call) {
    ASSERT_OK(database_->SetTableQuota("t", {}));
    ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = requests}));
    EXPECT_OK(call());
    EXPECT_EXHAUSTED("requests a second of table t", T()->ReadRow("a"));
    if (requests == 1) return;
    // A debt is allowed only to a full bucket.
    ASSERT_OK(database_->SetTableQuota("t", {}));
    ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = requests}));
    EXPECT_OK(T()->ReadRow("a"));
    EXPECT_EXHAUSTED("requests a second of table t", call());
  };
  const std::vector<RowMutation> three = {Cell("a", "f:q"), Cell("b", "f:q"), Cell("z", "f:q")};
  expect_cost(
      1, [&] { return T()->Get("a", "f:q").status().ok() ? absl::OkStatus() : absl::OkStatus(); });
  expect_cost(1, [&] { return T()->Apply(Cell("a", "f:q")); });
  expect_cost(3, [&] { return T()->ApplyBatch(three)[2]; });
  expect_cost(3, [&] {
    WriteBatch batch;
    for (const RowMutation& mutation : three) batch.Apply(T(), mutation);
    return database_->Apply(batch);
  });
  expect_cost(2, [&] {
    WriteBatch batch;  // of one tablet
    batch.Apply(T(), three[0]).Apply(T(), three[1]);
    return database_->Apply(batch);
  });
  expect_cost(1, [&] {
    return T()->CheckAndMutateRow("a", Filter(), Cell("a", "f:x"), Cell("a", "f:y")).status();
  });
  expect_cost(
      1, [&] { return T()->ReadModifyWriteRow(ReadModifyWrite("a").Append("f:w", "x")).status(); });
  expect_cost(1, [&] {
    return T()->MutateRowAtomically("a", Filter(), [](const Row&) { return Cell("a", "f:v"); });
  });
  expect_cost(1, [&] {
    RowReader rows = T()->ReadRows(RowRange::All());
    while (rows.Next()) {
    }
    return rows.status();
  });
  expect_cost(1, [&] {
    Scanner scanner(T());
    ScanStream* const stream = scanner.FetchColumnFamily("f");
    for (; !stream->Done(); stream->Next()) {
    }
    return scanner.status();
  });
  expect_cost(4, [&] {
    return database_->RunTransaction([&](Transaction* transaction) {
      // Two reads, one of them of an own write, and two writes.
      absl::Status status = transaction->ReadRow(T(), "a").status();
      if (status.ok()) status = transaction->Apply(T(), Cell("k", "f:q"));
      if (status.ok()) status = transaction->Apply(T(), Cell("z", "f:q"));
      if (status.ok()) status = transaction->ReadRow(T(), "k").status();
      return status;
    });
  });
}

TEST_F(QuotaTest, ARefusedCallChangesNothing) {
  ASSERT_OK(Put(T(), "a", "f:q"));
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 1}));
  ASSERT_OK(T()->ReadRow("a"));
  const std::vector<RowMutation> two = {Cell("b", "f:q"), Cell("z", "f:q")};
  for (const absl::Status& status : T()->ApplyBatch(two)) EXPECT_EXHAUSTED("", status);
  WriteBatch batch;
  batch.Apply(OpenTable("u"), two[0]).Apply(T(), two[1]);
  EXPECT_EXHAUSTED("", database_->Apply(batch));
  EXPECT_EXHAUSTED("", T()->CheckAndMutateRow("a", Filter(), RowMutation("a").DeleteRow(),
                                              RowMutation("a").DeleteRow()));
  EXPECT_EXHAUSTED("", T()->ReadModifyWriteRow(ReadModifyWrite("a").Append("f:q", "x")));
  bool was_called = false;
  EXPECT_EXHAUSTED("", T()->MutateRowAtomically("a", Filter(), [&](const Row&) {
    was_called = true;
    return RowMutation("a").DeleteRow();
  }));
  EXPECT_FALSE(was_called);
  ASSERT_OK_AND_ASSIGN(Transaction transaction, database_->BeginTransaction());
  ASSERT_OK(transaction.Apply(T(), two[1]));
  ASSERT_OK(transaction.Apply(OpenTable("u"), two[1]));
  EXPECT_EXHAUSTED("", transaction.Commit());

  EXPECT_EQ(All("t"), "a");
  EXPECT_EQ(All("u"), "");
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("a")), "f:q@1=v");
}

TEST_F(QuotaTest, InvalidMutationsOfABatchKeepTheirErrors) {
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 1}));
  ASSERT_OK(T()->ReadRow("a"));
  const std::vector<absl::Status> statuses =
      T()->ApplyBatch(std::vector<RowMutation>{Cell("a", "f:q"), RowMutation("")});
  EXPECT_EXHAUSTED("", statuses[0]);
  EXPECT_STATUS(kInvalidArgument, "", statuses[1]);
}

TEST_F(QuotaTest, BytesThatAreWrittenCount) {
  const RowMutation mutation = Cell("a", "f:q", 100);
  ASSERT_OK(database_->SetTableQuota("t", {.bytes_per_second = 2 * mutation.byte_size()}));
  EXPECT_OK(T()->Apply(mutation));
  EXPECT_OK(T()->Apply(mutation));
  EXPECT_EXHAUSTED("bytes a second of table t is used up; retry in 500ms", T()->Apply(mutation));
  time_.Advance(absl::Milliseconds(500));
  EXPECT_OK(T()->Apply(mutation));
}

TEST_F(QuotaTest, AWriteOfMoreThanASecondsBytesNeedsAFullBucket) {
  const RowMutation large = Cell("a", "f:q", 10'000);
  ASSERT_OK(database_->SetTableQuota("t", {.bytes_per_second = 1000}));
  EXPECT_OK(T()->Apply(large));
  const absl::Status refused = T()->Apply(large);
  EXPECT_GT(*RetryAfter(refused), absl::Seconds(10));
  time_.Advance(absl::Seconds(5));
  EXPECT_EXHAUSTED("", Put(T(), "a", "f:q"));
  time_.Advance(*RetryAfter(refused) - absl::Seconds(5));
  EXPECT_OK(T()->Apply(large));
}

TEST_F(QuotaTest, BytesThatAreReadCountAfterwards) {
  ASSERT_OK(Put(T(), "a", "f:q", 3000));
  ASSERT_OK(database_->SetTableQuota("t", {.bytes_per_second = 1000}));
  EXPECT_OK(T()->ReadRow("a"));
  const absl::Status refused = T()->ReadRow("z").status();
  EXPECT_EXHAUSTED("the quota of 1000 bytes a second of table t", refused);
  EXPECT_NEAR(absl::ToDoubleSeconds(*RetryAfter(refused)), 2.002, 0.0001);  // "a", "q", the value
  time_.Advance(absl::Seconds(3));
  EXPECT_OK(T()->ReadRow("z"));
}

TEST_F(QuotaTest, BytesOfAtomicOperationsAndTransactionsCount) {
  ASSERT_OK(Put(T(), "a", "f:q", 3000));
  const auto expect_debt = [&](const std::function<absl::Status()>& call) {
    ASSERT_OK(database_->SetTableQuota("t", {}));
    ASSERT_OK(database_->SetTableQuota("t", {.bytes_per_second = 1000}));
    EXPECT_OK(call());
    EXPECT_EXHAUSTED("bytes a second", T()->ReadRow("z"));
    EXPECT_EXHAUSTED("bytes a second", call());
  };
  expect_debt([&] {
    return T()->CheckAndMutateRow("a", Filter(), Cell("a", "f:x"), Cell("a", "f:y")).status();
  });
  expect_debt(
      [&] { return T()->ReadModifyWriteRow(ReadModifyWrite("a").Append("f:q", "x")).status(); });
  expect_debt([&] {
    return T()->CheckAndMutateRow("y", Filter(), RowMutation("y"), Cell("y", "f:x", 3000)).status();
  });
  expect_debt([&] {
    WriteBatch batch;
    batch.Apply(T(), Cell("c", "f:q", 3000)).Apply(T(), Cell("z", "f:q"));
    return database_->Apply(batch);
  });
  expect_debt([&] {
    return database_->RunTransaction(
        [&](Transaction* transaction) { return transaction->ReadRow(T(), "a").status(); });
  });
  expect_debt([&] {
    absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
    EXPECT_OK(transaction);
    EXPECT_OK(transaction->Apply(T(), Cell("a", "f:z")));
    return transaction->ReadRow(T(), "a").status();  // with an own write
  });
}

TEST_F(QuotaTest, AStreamEndsBetweenRowsAndContinuesLater) {
  for (const char* row : {"a", "b", "c", "z"}) ASSERT_OK(Put(T(), row, "f:q", 600));
  ASSERT_OK(database_->SetTableQuota("t", {.bytes_per_second = 1000}));
  RowReader rows = T()->ReadRows(RowRange::All());
  EXPECT_TRUE(rows.Next());
  EXPECT_TRUE(rows.Next());
  EXPECT_EQ(rows.row().key(), "b");
  EXPECT_FALSE(rows.Next());
  EXPECT_EXHAUSTED("the quota of 1000 bytes a second of table t", rows.status());
  EXPECT_FALSE(rows.Next());
  EXPECT_EXHAUSTED("", T()->ReadRows(RowRange::All()).status());

  time_.Advance(absl::Ceil(*RetryAfter(rows.status()), absl::Microseconds(1)));
  RowReader rest = T()->ResumeRows(rows.ResumeToken());
  EXPECT_TRUE(rest.Next());
  EXPECT_EQ(rest.row().key(), "c");
  EXPECT_FALSE(rest.Next());
  EXPECT_EXHAUSTED("", rest.status());
  time_.Advance(absl::Seconds(2));
  EXPECT_EQ(ShowKeys(T()->ResumeRows(rest.ResumeToken())), "z");
}

TEST_F(QuotaTest, AStreamThatIsRefusedAtItsBeginningCanBeContinued) {
  ASSERT_OK(Put(T(), "a", "f:q"));
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 1}));
  ASSERT_OK(T()->ReadRow("a"));
  RowReader rows = T()->ReadRows(RowRange::All());
  EXPECT_FALSE(rows.Next());
  EXPECT_EXHAUSTED("requests", rows.status());
  time_.Advance(absl::Seconds(1));
  EXPECT_EQ(ShowKeys(T()->ResumeRows(rows.ResumeToken())), "a");
}

TEST_F(QuotaTest, AScanStreamEndsBetweenRows) {
  for (const char* row : {"a", "b", "z"}) {
    ASSERT_OK(T()->Apply(RowMutation(row)
                             .Set("f:1", Timestamp(1), std::string(600, 'x'))
                             .Set("f:2", Timestamp(1), std::string(600, 'x'))));
  }
  ASSERT_OK(database_->SetCallerQuota("ann", {.bytes_per_second = 1000}));
  Scanner scanner(As("ann"));
  ScanStream* const stream = scanner.FetchColumnFamily("f");
  int cells = 0;
  for (; !stream->Done(); stream->Next()) ++cells;
  EXPECT_EQ(cells, 2);
  EXPECT_EXHAUSTED("bytes a second of caller \"ann\"", scanner.status());
}

TEST_F(QuotaTest, AChangeAppliesToCallsThatBeginAfterIt) {
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 1}));
  EXPECT_OK(T()->ReadRow("a"));
  EXPECT_EXHAUSTED("", T()->ReadRow("a"));
  // Another quota leaves this one as it is.
  ASSERT_OK(database_->SetCallerQuota("bob", {.requests_per_second = 1}));
  EXPECT_EXHAUSTED("", T()->ReadRow("a"));
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 2}));
  EXPECT_OK(T()->ReadRow("a"));
  ASSERT_OK(database_->SetTableQuota("t", {}));
  for (int i = 0; i < 9; ++i) EXPECT_OK(T()->ReadRow("a"));
}

TEST_F(QuotaTest, TheDatabasesOwnWorkIsNotLimited) {
  ASSERT_OK(Put(T(), "a", "f:q"));
  ASSERT_OK(database_->SetTableQuota(
      "t", {.storage_bytes = 1, .requests_per_second = 1, .bytes_per_second = 1}));
  ASSERT_OK(T()->ReadRow("a"));
  EXPECT_OK(database_->Flush("t"));
  EXPECT_OK(database_->SplitTablet("t", "c"));
  EXPECT_OK(database_->MoveTablet("t", "c", 1));
  EXPECT_OK(database_->Compact("t"));
  EXPECT_OK(T()->SampleRowKeys());
  EXPECT_OK(T()->DropRowRange(RowRange::Prefix("a")));
  EXPECT_OK(database_->AddFamily("t", "x", {}));
  EXPECT_EQ(All(), "");
}

TEST_F(QuotaTest, ThreadsTogetherGetTheRate) {
  database_.reset();
  Open();  // with the machine's clock
  constexpr double kRate = 2000;
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = static_cast<uint64_t>(kRate)}));
  std::atomic<int> admitted = 0;
  std::vector<std::thread> threads;
  const SteadyTime begin = SteadyTime::Now();
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, table = T()] {
      while (SteadyTime::Now() - begin < absl::Milliseconds(500)) {
        const absl::Status status = table->ReadRow("a").status();
        if (status.ok()) {
          ++admitted;
        } else {
          absl::SleepFor(std::min(RetryAfter(status).value(), absl::Milliseconds(1)));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = absl::ToDoubleSeconds(SteadyTime::Now() - begin);
  EXPECT_LE(admitted, kRate * (1 + seconds) + 1);
  EXPECT_GE(admitted, kRate * 1.1);
}

// --- By messages ---

TEST_F(QuotaTest, AServerChecksTheMessagesThatReachIt) {
  FaultyNetwork network(1, FaultyNetwork::Faults{});
  DatabasePeer(database_.get()).UseServices([&](ServerHost* host) { return network.To(host); });
  ASSERT_OK(Put(T(), "a", "f:q", 3000));
  ASSERT_OK(database_->SetCallerQuota("ann", {.requests_per_second = 2}));
  EXPECT_OK(Put(As("ann"), "a", "f:x"));
  EXPECT_OK(As("ann")->ReadRow("a"));
  EXPECT_EXHAUSTED("2 requests a second of caller \"ann\"", Put(As("ann"), "a", "f:x"));
  EXPECT_EXHAUSTED("2 requests a second of caller \"ann\"", As("ann")->ReadRow("a"));
  ASSERT_OK(database_->SetTableQuota("t", {.bytes_per_second = 1000}));
  EXPECT_OK(T()->ReadRow("a"));
  EXPECT_EXHAUSTED("1000 bytes a second of table t", T()->ReadRow("a"));
  EXPECT_EXHAUSTED("1000 bytes a second of table t", Put(T(), "a", "f:q"));
  ASSERT_OK(database_->SetTableQuota("t", {.storage_bytes = 1000}));
  EXPECT_EXHAUSTED("the storage quota of 1000 bytes of table t", Put(T(), "a", "f:q"));
  database_.reset();
}

TEST(RetryAfterTest, OnlyErrorsOfRatesHaveIt) {
  EXPECT_FALSE(RetryAfter(absl::OkStatus()).has_value());
  EXPECT_FALSE(RetryAfter(absl::ResourceExhaustedError("disk")).has_value());
}

}  // namespace
}  // namespace bigtable
