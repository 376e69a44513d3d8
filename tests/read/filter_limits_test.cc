// A read hears its deadline and its cancellation within a row, however large the cells are and
// however much its filter has to do.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/steady_time.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/scoped_shortcuts.h"
#include "support/slow_expressions.h"

namespace bigtable {
namespace {

class FilterLimitsTest : public DatabaseFixture {
 protected:
  void OpenWithSlowRow(DatabaseOptions options) {
    Open(options);
    table_ = CreateTable("t", std::vector<std::string>{"f"});
    for (int i = 0; i < 2; ++i) Set(table_, "row", absl::StrCat("f:", i), 1, SlowValue(100'000));
  }
  // Each of these filters takes seconds for the row.
  static std::vector<Filter> SlowFilters() {
    const std::vector<Filter> slow = SlowExpressions(900);
    return {Filter::Interleave(slow), Filter::Chain(slow),
            Filter::Condition(Filter::Chain(slow), Filter()),
            Filter::Chain({Filter::Interleave(Filter(), Filter()), Filter::Chain(slow)})};
  }
  // The call ends long before the filter is through.
  template <typename Read>
  void ExpectToEnd(absl::StatusCode code, const Read& read) {
    const SteadyTime begin = SteadyTime::Now();
    const absl::Status status = read();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_LT(SteadyTime::Now() - begin, absl::Seconds(1));
  }
  absl::Status ReadRows(const Filter& filter, const ReadOptions& options) {
    RowReader reader = table_->ReadRows(RowRange::All(), filter, options);
    EXPECT_FALSE(reader.Next());
    return reader.status();
  }
  static ReadOptions Soon() { return {.deadline = absl::Now() + absl::Milliseconds(50)}; }

  Table* table_ = nullptr;
};

TEST_F(FilterLimitsTest, AReadEndsAtItsDeadlineWithinARow) {
  OpenWithSlowRow(Options());
  for (const Filter& filter : SlowFilters()) {
    ExpectToEnd(absl::StatusCode::kDeadlineExceeded,
                [&] { return table_->ReadRow("row", filter, Soon()).status(); });
    ExpectToEnd(absl::StatusCode::kDeadlineExceeded, [&] { return ReadRows(filter, Soon()); });
  }
}

TEST_F(FilterLimitsTest, AReadOfACachedRowEndsAtItsDeadline) {
  const ScopedShortcutsOn cached;
  DatabaseOptions options = Options();
  options.scan_cache = true;
  OpenWithSlowRow(options);
  EXPECT_OK(table_->ReadRow("row"));
  for (const Filter& filter : SlowFilters()) {
    ExpectToEnd(absl::StatusCode::kDeadlineExceeded,
                [&] { return table_->ReadRow("row", filter, Soon()).status(); });
  }
  EXPECT_GE(database_->Statistics().scan_cache_hits, 4u);
}

TEST_F(FilterLimitsTest, AReadOfATransactionEndsAtItsDeadline) {
  OpenWithSlowRow(Options());
  ASSERT_OK_AND_ASSIGN(Transaction transaction, database_->BeginTransaction());
  ASSERT_OK(transaction.Apply(table_, RowMutation("row").Set("f:2", Timestamp(1), "v")));
  for (const Filter& filter : SlowFilters()) {
    ExpectToEnd(absl::StatusCode::kDeadlineExceeded,
                [&] { return transaction.ReadRow(table_, "row", filter, Soon()).status(); });
  }
}

TEST_F(FilterLimitsTest, ACancelledReadEndsWithinARow) {
  OpenWithSlowRow(Options());
  for (const Filter& filter : SlowFilters()) {
    Cancellation cancellation;
    std::thread canceller([&] {
      absl::SleepFor(absl::Milliseconds(50));
      cancellation.Cancel();
    });
    ExpectToEnd(absl::StatusCode::kCancelled,
                [&] { return ReadRows(filter, {.cancellation = &cancellation}); });
    canceller.join();
  }
}

// Copies of cells are made until the deadline.
TEST_F(FilterLimitsTest, AReadEndsAtItsDeadlineBetweenCopies) {
  Open();
  table_ = CreateTable("t", std::vector<std::string>{"f"});
  RowMutation mutation("row");
  for (int i = 0; i < 20'000; ++i) mutation.Set(absl::StrCat("f:", i), Timestamp(1), "v");
  ASSERT_OK(table_->Apply(mutation));
  const std::vector<Filter> copies(900, Filter::Latest(1));
  const Filter none = Filter::Chain(Filter::Interleave(copies), Filter::ValueRegex("w"));
  ExpectToEnd(absl::StatusCode::kDeadlineExceeded,
              [&] { return table_->ReadRow("row", none, Soon()).status(); });
}

// The cells are few, and large; none passes. Each read of a block takes a while.
TEST_F(FilterLimitsTest, AReadCountsTheBytesThatItSkips) {
  constexpr int kCells = 60;
  FaultyFileSystem slow(file_system_.get());
  DatabaseOptions options = Options();
  options.file_system = &slow;
  options.read_mode = FileSystem::ReadMode::kPositional;
  ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  table_ = CreateTable("t", std::vector<std::string>{"f"});
  for (int i = 0; i < kCells; ++i) {
    Set(table_, "row", absl::StrCat("f:", 100 + i), 1, std::string(100'000, 'v'));
  }
  ASSERT_OK(database_->Flush("t"));
  slow.CountCalls({.kinds = {FileCall::kRead}});
  slow.DelayCalls({.kinds = {FileCall::kRead}}, absl::Milliseconds(20));
  ReadOptions soon = Soon();
  soon.fill_cache = false;
  EXPECT_STATUS(kDeadlineExceeded, "the read",
                table_->ReadRow("row", Filter::ValueRange("w", ""), soon));
  EXPECT_LT(slow.calls(), uint64_t{kCells} / 2);
  slow.DelayCalls({}, absl::ZeroDuration());
  database_.reset();
}

}  // namespace
}  // namespace bigtable
