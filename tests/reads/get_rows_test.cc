// Table::GetRows returns what ReadRow returns of each row, whatever was requested of the disk
// before.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "reads/get_rows_fixture.h"
#include "support/database_peer.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

class GetRowsTest : public GetRowsFixture {
 protected:
  // Expects this error for each of three rows, one of them twice.
  void ExpectErrors(absl::StatusCode code, const std::string& part, const Filter& filter = {},
                    const ReadOptions& options = {}) {
    const std::vector<absl::StatusOr<Row>> found =
        GetRows({RowOf(1), RowOf(0), RowOf(1)}, filter, options);
    ASSERT_EQ(found.size(), 3u);
    for (const absl::StatusOr<Row>& row : found) {
      EXPECT_TRUE(IsStatus(code, row.status(), part));
    }
  }
  std::vector<std::string> Files() {
    std::vector<std::string> files;
    const std::string directory = path_ + "/sst";
    const absl::StatusOr<std::vector<std::string>> names = faulty_->ListDirectory(directory);
    EXPECT_OK(names);
    for (const std::string& name : *names) {
      if (name.ends_with(".sst")) files.push_back(directory + "/" + name);
    }
    return files;
  }
  // Changes the first byte of `text` in the files. Returns in how many of them it is.
  int Damage(const std::string& text) {
    int damaged = 0;
    for (const std::string& path : Files()) {
      std::string bytes = faulty_->ReadFile(path).value();
      const size_t at = bytes.find(text);
      if (at == std::string::npos) continue;
      ++damaged;
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
      const auto file = faulty_->NewWritableFile(path);
      EXPECT_OK(file);
      EXPECT_OK((*file)->Append(bytes));
      EXPECT_OK((*file)->Close());
    }
    return damaged;
  }
};

using Way = std::tuple<Disk, bool>;

INSTANTIATE_TEST_SUITE_P(Ways, GetRowsTest,
                         testing::Values(Way(Disk::kMapped, true), Way(Disk::kMapped, false),
                                         Way(Disk::kCold, true), Way(Disk::kPositional, true),
                                         Way(Disk::kPositional, false)),
                         [](const auto& way) {
                           return Name(std::get<0>(way.param)) +
                                  (std::get<1>(way.param) ? "WithRequests" : "Alone");
                         });

TEST_P(GetRowsTest, RowsAreThoseOfReadRowWhereverTheyAre) {
  CreateTable();
  const std::vector<std::string> rows = RandomRows();
  const auto has_row = [](const std::string& row) { return row.back() != 'x'; };
  const auto expect = [&](const std::string& what, const std::string& value) {
    SCOPED_TRACE(what);
    ASSERT_NO_FATAL_FAILURE(ExpectValues(rows, value, has_row));
    ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow(rows));
    ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow(rows, Filter::Latest(1)));
  };
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "a"));
  ASSERT_NO_FATAL_FAILURE(expect("memtable", "a"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(expect("one run", "a"));
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ASSERT_NO_FATAL_FAILURE(expect("one run, files not open", "a"));
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "b"));
  ASSERT_NO_FATAL_FAILURE(expect("both", "b"));
  for (const char* const value : {"c", "d", "e"}) {
    ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, value));
    ASSERT_OK(database_->Flush("t"));
  }
  ASSERT_NO_FATAL_FAILURE(expect("several runs", "e"));
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ASSERT_NO_FATAL_FAILURE(expect("several runs, files not open", "e"));
  ASSERT_OK(database_->Compact("t"));
  ASSERT_NO_FATAL_FAILURE(expect("compacted", "e"));
}

TEST_P(GetRowsTest, RowsMayBeFewOrNamedSeveralTimes) {
  CreateTable();
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "a"));
  ASSERT_OK(database_->Flush("t"));
  EXPECT_TRUE(GetRows({}).empty());
  ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow({RowOf(7)}));
  ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow({Absent(7)}));
  ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow({RowOf(7), RowOf(7)}));
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ASSERT_NO_FATAL_FAILURE(
      ExpectAsReadRow({RowOf(90), RowOf(8), Absent(1), RowOf(90), RowOf(9), RowOf(90)}));
  ASSERT_NO_FATAL_FAILURE(ExpectValues({RowOf(90), Absent(1), RowOf(3), RowOf(90), RowOf(90)}, "a",
                                       [](const std::string& row) { return row != Absent(1); }));
  // Each number of rows around the one that is requested ahead.
  for (const int count : {2, 63, 64, 65, 66, 127, 128, 129}) {
    SCOPED_TRACE(count);
    std::vector<std::string> rows;
    for (int i = 0; i < count; ++i) rows.push_back(RowOf((i * 61) % kRows));
    ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow(rows, Filter(), {.fill_cache = false}));
  }
}

TEST_P(GetRowsTest, ABadRowKeyIsTheErrorOfThatRowOnly) {
  CreateTable();
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "a"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(Reopen());
  const std::string longest(RowMutation::kMaxRowSize, 'r');
  const std::vector<std::string> rows = {
      "", RowOf(0), longest + "r",        RowOf(50),    longest,
      "", RowOf(9), std::string(1, '\0'), RowOf(kRows), RowOf(150)};

  const std::vector<absl::StatusOr<Row>> found = GetRows(rows);

  ASSERT_EQ(found.size(), rows.size());
  for (const size_t bad : {0, 2, 5}) {
    EXPECT_STATUS(kInvalidArgument, "row key", found[bad]) << bad;
  }
  for (const size_t good : {1, 3, 6, 9}) {
    ASSERT_OK(found[good]);
    EXPECT_EQ(found[good]->key(), rows[good]);
    EXPECT_EQ(found[good]->cells()[0].value, ValueOf("a", std::stoi(rows[good].substr(3))));
  }
  for (const size_t absent : {4, 7, 8}) {
    ASSERT_OK(found[absent]);
    EXPECT_EQ(found[absent]->key(), rows[absent]);
    EXPECT_TRUE(found[absent]->empty());
  }
  ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow(rows));
  ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow({""}));
}

TEST_P(GetRowsTest, FiltersAndOptionsAreThoseOfReadRow) {
  CreateTable();
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "a"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(Fill(0, 150, 2, "b"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(Fill(100, kRows, 3, "c"));
  std::vector<std::string> rows = RandomRows();
  rows.resize(90);
  const std::vector<Filter> filters = {
      Filter(),
      Filter::Column("f", "q"),
      Filter::Column("g", "q"),
      Filter::Column("h", "none"),
      Filter::Latest(1),
      Filter::BlockAll(),
      Filter::Interleave(Filter::Column("f", "q"), Filter::Column("g", "q"), Filter::Latest(1)),
      Filter::ValueRegex("b1.*"),
      Filter::RowKeysRegex("row000.3"),
      Filter::TimestampRange(Timestamp(2), Timestamp(3)),
      Filter::Chain(Filter::Family("g"), Filter::StripValueTransformer()),
      Filter::Condition(Filter::ValueRegex("c.*"), Filter::Family("f"), Filter::Family("g"))};
  ASSERT_NO_FATAL_FAILURE(Reopen());
  for (size_t i = 0; i < filters.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow(rows, filters[i], {.fill_cache = false}));
  }
  const std::vector<ReadOptions> options = {
      {.cell_limit = 1},
      {.cell_limit = 3},
      {.verify_checksums = true},
      {.fill_cache = false},
      {.reverse = true, .row_limit = 2},
      {.verify_checksums = true, .fill_cache = false, .cell_limit = 2}};
  for (size_t i = 0; i < options.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow(rows, Filter(), options[i]));
    ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow(rows, Filter::Family("f"), options[i]));
  }
  EXPECT_EQ(GetRows({RowOf(110), RowOf(110)}, Filter(), {.cell_limit = 2})[1]->cells().size(), 2u);
}

TEST_P(GetRowsTest, ASnapshotDoesNotHaveLaterWrites) {
  CreateTable();
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "a"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "b"));
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const Snapshot> before, database_->TakeSnapshot());
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "c"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows + 100, 1, "d"));
  const std::vector<std::string> rows = RandomRows();
  ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow(rows, Filter(), {.snapshot = before}));
  const std::vector<absl::StatusOr<Row>> found =
      GetRows({RowOf(190), RowOf(kRows + 5), RowOf(0)}, Filter(), {.snapshot = before});
  EXPECT_EQ(found[0]->cells()[0].value, ValueOf("b", 190));
  EXPECT_TRUE(found[1]->empty());
  EXPECT_EQ(found[2]->cells()[0].value, ValueOf("b", 0));
}

TEST_P(GetRowsTest, RowsOfSeveralTabletsAreReadWhileTabletsChangeBetweenCalls) {
  CreateTable({RowOf(50), RowOf(100)});
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "a"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(Fill(60, 120, 1, "a"));
  const std::vector<std::string> rows = RandomRows();
  const auto has_row = [](const std::string& row) { return row.back() != 'x'; };
  const auto expect = [&] {
    ASSERT_NO_FATAL_FAILURE(ExpectValues(rows, "a", has_row));
    ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow(rows));
  };
  ASSERT_NO_FATAL_FAILURE(expect());
  ASSERT_OK(database_->SplitTablet("t", RowOf(150)));
  ASSERT_NO_FATAL_FAILURE(expect());
  ASSERT_OK(database_->MergeTablets("t", RowOf(50)));
  ASSERT_NO_FATAL_FAILURE(expect());
  for (const int server : {0, 1, 0}) {
    ASSERT_OK(database_->MoveTablet("t", RowOf(100), server));
    ASSERT_NO_FATAL_FAILURE(expect());
  }
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ASSERT_NO_FATAL_FAILURE(expect());
}

TEST_P(GetRowsTest, TabletsThatChangeDuringCallsConcurrency) {
  CreateTable({RowOf(100)});
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "a"));
  ASSERT_OK(database_->Flush("t"));
  std::atomic<bool> is_done = false;
  std::thread reader([&] {
    const std::vector<std::string> rows = RandomRows();
    while (!is_done && !HasFatalFailure()) {
      ExpectValues(rows, "a", [](const std::string& row) { return row.back() != 'x'; });
    }
  });
  for (int i = 0; i < (kSlow ? 1 : 3); ++i) {
    EXPECT_OK(database_->SplitTablet("t", RowOf(50)));
    EXPECT_OK(database_->MoveTablet("t", RowOf(50), i % 2));
    EXPECT_OK(database_->MergeTablets("t", RowOf(50)));
    EXPECT_OK(database_->Compact("t"));
  }
  is_done = true;
  reader.join();
}

TEST_P(GetRowsTest, AnErrorOfTheCallIsThatOfEachRow) {
  CreateTable({RowOf(1)});
  ASSERT_NO_FATAL_FAILURE(Fill(0, 10, 1, "a"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ExpectErrors(absl::StatusCode::kDeadlineExceeded, "", Filter(),
               {.deadline = absl::Now() - absl::Seconds(1)});
  Cancellation cancellation;
  cancellation.Cancel();
  ExpectErrors(absl::StatusCode::kCancelled, "", Filter(), {.cancellation = &cancellation});
  ExpectErrors(absl::StatusCode::kInvalidArgument, "", Filter(), {.cell_limit = -1});
  ExpectErrors(absl::StatusCode::kNotFound, "none", Filter::Family("none"));
  for (const Filter& bad :
       {Filter::Latest(0), Filter::ValueRegex("("), Filter::ColumnRegex("["),
        Filter::RowKeysRegex("("), Filter::Chain(std::vector<Filter>()),
        Filter::Interleave(Filter::Latest(-1), Filter::Sink()), Filter::RowSample(2),
        Filter::ValueRange("b", "a"), Filter::TimestampRange(Timestamp(2), Timestamp(1))}) {
    ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow({RowOf(1), RowOf(0), RowOf(1)}, bad));
  }
  ExpectErrors(absl::StatusCode::kInvalidArgument, "", Filter::Latest(0));
  ExpectErrors(absl::StatusCode::kInvalidArgument, "", Filter::ValueRegex("("));

  ASSERT_OK(database_->DeleteTable("t"));
  ExpectErrors(absl::StatusCode::kNotFound, "");
  CreateTable();
  ASSERT_NO_FATAL_FAILURE(Fill(0, 10, 1, "a"));
  ASSERT_OK(database_->Close());
  ExpectErrors(absl::StatusCode::kFailedPrecondition, "closed");
}

TEST_P(GetRowsTest, AQuotaOfRequestsCountsEachRow) {
  CreateTable();
  ASSERT_NO_FATAL_FAILURE(Fill(0, 10, 1, "a"));
  ASSERT_OK(database_->Flush("t"));
  ManualClock time;
  DatabasePeer(database_.get()).SetQuotaClock(&time);
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 3}));

  const std::vector<absl::StatusOr<Row>> found =
      GetRows({RowOf(5), RowOf(4), RowOf(3), RowOf(2), RowOf(1)});

  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(found[i]);
    EXPECT_EQ(found[i]->cells()[0].value, ValueOf("a", 5 - i));
  }
  for (int i = 3; i < 5; ++i) {
    EXPECT_STATUS(kResourceExhausted, "requests a second of table t", found[i]);
  }
  database_.reset();  // before the clock
}

TEST_P(GetRowsTest, ADamagedBlockIsTheErrorOfItsRowsOnly) {
  CreateTable();
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "a"));
  ASSERT_OK(database_->Close());
  database_.reset();
  ASSERT_EQ(Damage(ValueOf("a", 90)), 1);
  ASSERT_NO_FATAL_FAILURE(Open());
  table_ = OpenTable();
  const std::vector<std::string> rows = RandomRows();

  const std::vector<absl::StatusOr<Row>> found = GetRows(rows);

  int lost = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int number = std::stoi(rows[i].substr(3));
    if (found[i].ok()) {
      EXPECT_NE(number, 90);
      ASSERT_EQ(Text(found[i]), Text(table_->ReadRow(rows[i])));
      continue;
    }
    ++lost;
    EXPECT_STATUS(kDataLoss, ".sst", found[i]);
    EXPECT_NEAR(number, 90, 6);  // a block of 1 KiB has about five rows
    EXPECT_STATUS(kDataLoss, ".sst", table_->ReadRow(rows[i]));
  }
  EXPECT_GE(lost, 1);
  EXPECT_LE(lost, 6);
}

TEST_P(GetRowsTest, AFileThatCannotBeReadIsTheErrorOfItsRowsOnly) {
  CreateTable({RowOf(100)});
  ASSERT_NO_FATAL_FAILURE(Fill(0, kRows, 1, "a"));
  ASSERT_OK(database_->Close());
  database_.reset();
  ASSERT_NO_FATAL_FAILURE(Open());
  table_ = OpenTable();
  const std::vector<std::string> rows = RandomRows();
  // The files of the second tablet, which a read of a row opens, are read; later ones are not.
  for (int i = 100; i < 103; ++i) ASSERT_OK(table_->ReadRow(RowOf(i)));
  faulty_->FailCalls(
      {.kinds = {FileCall::kNewRandomAccessFile, FileCall::kRead, FileCall::kPopulate},
       .path_contains = ".sst"},
      absl::UnavailableError("I/O error"));

  const std::vector<absl::StatusOr<Row>> failed = GetRows(rows);

  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < RowOf(100) && rows[i].back() != 'x') {
      EXPECT_STATUS(kUnavailable, "I/O error", failed[i]) << rows[i];
    } else if (failed[i].ok()) {
      ASSERT_EQ(failed[i]->key(), rows[i]);
    }
  }
  faulty_->ClearFaults();
  ASSERT_NO_FATAL_FAILURE(
      ExpectValues(rows, "a", [](const std::string& row) { return row.back() != 'x'; }));
  ASSERT_NO_FATAL_FAILURE(ExpectAsReadRow(rows));
}

}  // namespace
}  // namespace bigtable
