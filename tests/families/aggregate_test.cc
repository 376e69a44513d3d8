// Aggregate families: cells that are merged from contributions, at reads and in compactions.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "retention/aggregates.h"
#include "support/database_fixture.h"
#include "support/exact_sum.h"
#include "support/expect_status.h"
#include "support/model_aggregates.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

constexpr int64_t kLargestSum = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallestSum = std::numeric_limits<int64_t>::min();

// "total@5=7": the cells of a row, whose values are numbers.
std::string Numbers(const absl::StatusOr<Row>& row) {
  if (!row.ok()) return std::string(row.status().ToString());
  std::string text;
  for (const Cell& cell : row->cells()) {
    absl::StrAppend(&text, text.empty() ? "" : " ", ToAbsl(cell.qualifier), "@",
                    cell.timestamp.micros(), "=", DecodeBigEndian(cell.value).value_or(-99999));
  }
  return text;
}

// The same of doubles, and of sums of doubles where the family is "dsum".
std::string ShowDoubles(const absl::StatusOr<Row>& row) {
  if (!row.ok()) return std::string(row.status().ToString());
  std::string text;
  for (const Cell& cell : row->cells()) {
    const absl::StatusOr<double> number =
        cell.family == "dsum" ? DoubleSumValue(cell.value) : DecodeDouble(cell.value);
    absl::StrAppend(&text, text.empty() ? "" : " ", ToAbsl(cell.qualifier), "@",
                    cell.timestamp.micros(), "=", number.value_or(-99999));
  }
  return text;
}

class AggregateFixture : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    schema_.families["bytes"] = {};
    schema_.families["sum"] = {.value_type = ValueType::kInt64Sum};
    schema_.families["min"] = {.value_type = ValueType::kInt64Min};
    schema_.families["max"] = {.value_type = ValueType::kInt64Max};
    schema_.families["users"] = {.value_type = ValueType::kHyperLogLog};
    schema_.families["dsum"] = {.value_type = ValueType::kDoubleSum};
    schema_.families["dmin"] = {.value_type = ValueType::kDoubleMin};
    schema_.families["dmax"] = {.value_type = ValueType::kDoubleMax};
    schema_.families["text"] = {.value_operator = kConcatenation};
    table_ = CreateTable("t", schema_);
  }
  void ReopenTable() {
    Reopen();
    table_ = OpenTable("t");
  }
  std::string Sums() { return Numbers(table_->ReadRow("r", Filter::Family("sum"))); }
  std::string Texts() { return Show(table_->ReadRow("r", Filter::Family("text"))); }
  std::string Doubles(std::string_view family) {
    return ShowDoubles(table_->ReadRow("r", Filter::Family(family)));
  }
  std::string DoubleSums() { return Doubles("dsum"); }
  // The family "sum" of a table of its own.
  Table* WithRule(const GcRule& rule) {
    return CreateTable("ruled",
                       {.families = {{"sum", {.gc = rule, .value_type = ValueType::kInt64Sum}}}});
  }

  TableSchema schema_;
  Table* table_ = nullptr;
};

// The result must not depend on when a flush or a compaction ran. Each write is followed by
// nothing, by a flush, or by a compaction, or by a reopening, which replays the log.
class AggregateTest : public AggregateFixture, public testing::WithParamInterface<std::string> {
 protected:
  void Do(Table** table, const RowMutation& mutation) {
    ASSERT_OK((*table)->Apply(mutation));
    const std::string name((*table)->name());
    if (GetParam() == "Flush") {
      ASSERT_OK(database_->Flush(name));
    }
    if (GetParam() == "Compact") {
      ASSERT_OK(database_->Compact(name));
    }
    if (GetParam() == "Kill") {
      Kill();
      Open();
      *table = OpenTable(name);
      table_ = OpenTable("t");
    }
  }
  void Do(const RowMutation& mutation) { Do(&table_, mutation); }
  void Add(std::string_view column, int64_t timestamp, int64_t input) {
    Do(RowMutation("r").AddToCell(column, Timestamp(timestamp), input));
  }
  void AddDouble(std::string_view column, int64_t timestamp, double input) {
    Do(RowMutation("r").AddToCell(column, Timestamp(timestamp), input));
  }
  void AddText(int64_t timestamp, std::string_view input) {
    Do(RowMutation("r").AddToCell("text:q", Timestamp(timestamp), input));
  }
};
INSTANTIATE_TEST_SUITE_P(After, AggregateTest,
                         testing::Values("Nothing", "Flush", "Compact", "Kill"),
                         [](const auto& parameter) { return parameter.param; });

// --- The operators ---

TEST_P(AggregateTest, ASumAddsUpTheInputsOfACell) {
  Add("sum:total", 5, 1);
  Add("sum:total", 5, 41);
  Add("sum:total", 6, -3);
  Add("sum:other", 5, 7);

  EXPECT_EQ(Sums(), "other@5=7 total@6=-3 total@5=42");
}

TEST_P(AggregateTest, ASumWrapsAround) {
  Add("sum:total", 5, kLargestSum);
  Add("sum:total", 5, 1);

  EXPECT_EQ(Sums(), absl::StrCat("total@5=", kSmallestSum));
}

TEST_P(AggregateTest, AMinimumAndAMaximumCompareTheNumbersWithTheirSigns) {
  for (const int64_t number : {3, -7, 5}) {
    Add("min:q", 1, number);
    Add("max:q", 1, number);
  }

  EXPECT_EQ(Numbers(table_->ReadRow("r")), "q@1=5 q@1=-7");  // of the families max and min
}

TEST_P(AggregateTest, AHyperLogLogCountsDistinctInputs) {
  for (const char* user : {"ann", "bob", "ann", "cid", "bob"}) {
    Do(RowMutation("r").AddToCell("users:today", Timestamp(1), user));
  }

  const absl::StatusOr<Row> row = table_->ReadRow("r");
  ASSERT_OK(row);
  ASSERT_EQ(row->cells().size(), 1u);
  EXPECT_EQ(HyperLogLogEstimate(row->cells()[0].value).value_or(0), 3u);
}

TEST_P(AggregateTest, AStateOfAnotherCellIsMerged) {
  for (const char* user : {"ann", "bob"}) {
    Do(RowMutation("r").AddToCell("users:monday", Timestamp(1), user));
  }
  for (const char* user : {"bob", "cid"}) {
    Do(RowMutation("r").AddToCell("users:tuesday", Timestamp(1), user));
  }
  const absl::StatusOr<Row> days = table_->ReadRow("r");
  ASSERT_OK(days);
  for (const Cell& day : days->cells()) {
    Do(RowMutation("r").MergeToCell("users:week", Timestamp(1), day.value));
  }

  const absl::StatusOr<Row> row = table_->ReadRow("r", Filter::Column("users", "week"));
  ASSERT_OK(row);
  ASSERT_EQ(row->cells().size(), 1u);
  EXPECT_EQ(HyperLogLogEstimate(row->cells()[0].value).value_or(0), 3u);
}

TEST_P(AggregateTest, AStateOfNumbersIsANumber) {
  Add("sum:total", 5, 1);
  Do(RowMutation("r").MergeToCell("sum:total", Timestamp(5), EncodeBigEndian(10)));

  EXPECT_EQ(Sums(), "total@5=11");
}

TEST_P(AggregateTest, AnOperatorOfTheProgramMergesInTheOrderOfWrites) {
  for (const char* input : {"a", "b", "c", "d"}) AddText(5, input);
  Do(RowMutation("r")
         .AddToCell("text:q", Timestamp(5), "e")
         .MergeToCell("text:q", Timestamp(5), "f")
         .AddToCell("text:q", Timestamp(5), "g"));

  EXPECT_EQ(Texts(), "text:q@5=abcdefg");
}

// --- Doubles ---

TEST_P(AggregateTest, ASumOfDoublesIsExact) {
  for (int i = 0; i < 10; ++i) AddDouble("dsum:tenths", 5, 0.1);
  for (const double number : {1e308, 1e308, 5e-324, -1e308}) AddDouble("dsum:large", 5, number);
  for (const double number : {1e16, 1.0, -1e16}) AddDouble("dsum:small", 6, number);
  AddDouble("dsum:nothing", 5, -0.0);

  EXPECT_EQ(DoubleSums(), "large@5=1e+308 nothing@5=0 small@6=1 tenths@5=1");
  // Bytes too: nothing of the sum is lost that later contributions would bring back.
  EXPECT_EQ(table_->Get("r", "dsum:large").value_or(""), ExactSum().Add(1e308).Add(5e-324).State());
}

TEST_P(AggregateTest, ASumOfDoublesBeyondTheLargestComesBack) {
  for (const double number : {1e308, 1e308}) AddDouble("dsum:q", 1, number);
  EXPECT_EQ(DoubleSums(), "q@1=inf");
  for (const double number : {-1e308, -1e308, 0.5}) AddDouble("dsum:q", 1, number);
  EXPECT_EQ(DoubleSums(), "q@1=0.5");
  AddDouble("dsum:q", 1, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(DoubleSums(), "q@1=-inf");
  AddDouble("dsum:q", 1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(DoubleSums(), "q@1=nan");
}

TEST_P(AggregateTest, AMinimumAndAMaximumOfDoublesIgnoreNans) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double number : {nan, 0.25, -1e300, nan, 7.5}) {
    AddDouble("dmin:q", 1, number);
    AddDouble("dmax:q", 1, number);
  }
  for (const double zero : {0.0, -0.0, 0.0}) {
    AddDouble("dmin:zero", 1, zero);
    AddDouble("dmax:zero", 1, zero);
  }
  AddDouble("dmax:nans", 1, nan);
  Do(RowMutation("r").AddToCell("dmax:nans", Timestamp(1), "\x7f\xff\xff\xff\xff\xff\xff\xff"));

  EXPECT_EQ(Doubles("dmin"), "q@1=-1e+300 zero@1=-0");
  EXPECT_EQ(Doubles("dmax"), "nans@1=nan q@1=7.5 zero@1=0");
  EXPECT_EQ(table_->Get("r", "dmax:nans").value_or(""), EncodeDouble(nan));
}

TEST_P(AggregateTest, AStateOfDoublesIsMerged) {
  for (const double number : {1e16, 1.0}) AddDouble("dsum:monday", 1, number);
  for (const double number : {-1e16, 0.25}) AddDouble("dsum:tuesday", 1, number);
  for (const char* day : {"monday", "tuesday"}) {
    const absl::StatusOr<std::string> state = table_->Get("r", Cat("dsum:", day));
    ASSERT_OK(state);
    Do(RowMutation("week").MergeToCell("dsum:q", Timestamp(1), *state));
    Do(RowMutation("week").MergeToCell("dmin:q", Timestamp(1), EncodeDouble(day[0])));
  }

  // Rounded on monday it would be 0.
  EXPECT_EQ(DoubleSumValue(table_->Get("week", "dsum:q").value_or("")).value_or(0), 1.25);
  EXPECT_EQ(table_->Get("week", "dmin:q").value_or(""), EncodeDouble('m'));
}

TEST_P(AggregateTest, ASnapshotSeesTheDoublesOfItsTime) {
  if (GetParam() == "Kill") GTEST_SKIP() << "snapshots end with the process";
  std::vector<std::shared_ptr<const Snapshot>> snapshots;
  for (const double number : {1e300, 1.0, -1e300, 0.5}) {
    AddDouble("dsum:q", 1, number);
    AddDouble("dmin:q", 1, number);
    ASSERT_OK_AND_ASSIGN(snapshots.emplace_back(), database_->TakeSnapshot());
  }
  Do(RowMutation("r").DeleteRow());
  AddDouble("dsum:q", 1, 0.1);

  for (const char* expected : {"1e+300", "1e+300", "1", "1.5"}) {
    const absl::StatusOr<Row> row =
        table_->ReadRow("r", Filter::Family("dsum"), {.snapshot = snapshots.front()});
    EXPECT_EQ(ShowDoubles(row), Cat("q@1=", expected));
    snapshots.erase(snapshots.begin());
    ASSERT_OK(database_->Compact("t"));
  }
  EXPECT_EQ(DoubleSums(), "q@1=0.1");
  EXPECT_EQ(Doubles("dmin"), "");
}

TEST_P(AggregateTest, ATransactionReadsAndAddsDoubles) {
  AddDouble("dsum:q", 1, 1e16);
  ASSERT_OK_AND_ASSIGN(Transaction transaction, database_->BeginTransaction());
  ASSERT_OK(transaction.Apply(table_, RowMutation("r").AddToCell("dsum:q", Timestamp(1), 1.0)));
  ASSERT_OK(transaction.Apply(table_, RowMutation("r").AddToCell("dsum:q", Timestamp(1), -1e16)));
  EXPECT_EQ(ShowDoubles(transaction.ReadRow(table_, "r")), "q@1=1");
  ASSERT_OK(transaction.Commit());
  AddDouble("dsum:q", 1, 0.5);

  EXPECT_EQ(DoubleSums(), "q@1=1.5");
}

// --- Deletions ---

TEST_P(AggregateTest, ACellBeginsAnewAfterADeletionOfAnyWidth) {
  const std::vector<std::pair<std::string, RowMutation>> deletions = {
      {"cell", RowMutation("r").DeleteCell("text:q", Timestamp(5))},
      {"column", RowMutation("r").Delete("text:q")},
      {"family", RowMutation("r").DeleteFamily("text")},
      {"row", RowMutation("r").DeleteRow()}};
  for (const auto& [name, deletion] : deletions) {
    AddText(5, "old");
    AddText(5, "er");
    Do(deletion);
    EXPECT_EQ(Texts(), "") << name;
    AddText(5, "ne");
    AddText(5, "w");
    EXPECT_EQ(Texts(), "text:q@5=new") << name;
  }
}

TEST_P(AggregateTest, ADeletionWithinAMutationHidesOnlyWhatIsBeforeIt) {
  AddText(5, "a");
  Do(RowMutation("r")
         .AddToCell("text:q", Timestamp(5), "b")
         .DeleteCell("text:q", Timestamp(5))
         .AddToCell("text:q", Timestamp(5), "c")
         .AddToCell("text:q", Timestamp(5), "d"));

  EXPECT_EQ(Texts(), "text:q@5=cd");
}

TEST_P(AggregateTest, ADeletionOfAnotherTimestampHidesNothing) {
  AddText(5, "a");
  AddText(6, "b");
  Do(RowMutation("r").DeleteCell("text:q", Timestamp(6)));
  AddText(5, "c");

  EXPECT_EQ(Texts(), "text:q@5=ac");
}

TEST_P(AggregateTest, AFamilyThatIsCreatedAgainBeginsAnewAlsoWithOtherValues) {
  AddText(5, "old");
  ASSERT_OK(database_->DropFamily("t", "text"));
  ASSERT_OK(database_->AddFamily("t", "text", {.value_type = ValueType::kInt64Sum}));
  Add("text:q", 5, 4);
  Add("text:q", 5, 3);

  EXPECT_EQ(Numbers(table_->ReadRow("r")), "q@5=7");
}

// --- Rules ---

TEST_P(AggregateTest, AContributionToAnExistingTimestampIsNoFurtherVersion) {
  Table* table = WithRule(GcRule::MaxVersions(2));
  for (const int64_t timestamp : {1, 2, 2, 2, 1, 2}) {
    Do(&table, RowMutation("r").AddToCell("sum:q", Timestamp(timestamp), 1));
  }
  EXPECT_EQ(Numbers(table->ReadRow("r")), "q@2=4 q@1=2");

  Do(&table, RowMutation("r").AddToCell("sum:q", Timestamp(3), 1));
  EXPECT_EQ(Numbers(table->ReadRow("r")), "q@3=1 q@2=4");
}

TEST_P(AggregateTest, ACellThatMaxVersionsHasDroppedBeginsAnew) {
  Table* table = WithRule(GcRule::MaxVersions(1));
  const auto add = [&](int64_t timestamp, int64_t input) {
    Do(&table, RowMutation("r").AddToCell("sum:q", Timestamp(timestamp), input));
  };
  add(1, 10);
  add(1, 20);
  add(2, 7);  // drops the cell at 1
  add(1, 40);
  Do(&table, RowMutation("r").DeleteCell("sum:q", Timestamp(2)));
  EXPECT_EQ(Numbers(table->ReadRow("r")), "");
  add(1, 100);
  add(1, 200);

  EXPECT_EQ(Numbers(table->ReadRow("r")), "q@1=300");
}

TEST_P(AggregateTest, MaxAgeDropsACellByItsTimestamp) {
  clock_.Set(10'000);
  Table* table = WithRule(GcRule::MaxAge(absl::Microseconds(1000)));
  for (const int64_t timestamp : {9'500, 9'600, 9'500}) {
    Do(&table, RowMutation("r").AddToCell("sum:q", Timestamp(timestamp), 1));
  }
  EXPECT_EQ(Numbers(table->ReadRow("r")), "q@9600=1 q@9500=2");

  clock_.Set(10'550);
  Do(&table, RowMutation("r").AddToCell("sum:q", Timestamp(9'500), 1));
  EXPECT_EQ(Numbers(table->ReadRow("r")), "q@9600=1");
}

TEST_P(AggregateTest, WhatAnOldRuleHasDroppedStaysDropped) {
  Table* table = WithRule(GcRule::MaxVersions(1));
  const auto add = [&](int64_t timestamp, int64_t input) {
    Do(&table, RowMutation("r").AddToCell("sum:q", Timestamp(timestamp), input));
  };
  add(1, 10);
  add(2, 20);
  ASSERT_OK(database_->UpdateFamily("ruled", "sum", {.gc = GcRule::MaxVersions(3)}));
  add(1, 1);
  add(2, 2);

  EXPECT_EQ(Numbers(table->ReadRow("r")), "q@2=22 q@1=1");
}

// --- Snapshots ---

TEST_P(AggregateTest, ASnapshotSeesTheContributionsOfItsTime) {
  if (GetParam() == "Kill") GTEST_SKIP() << "snapshots end with the process";
  std::vector<std::shared_ptr<const Snapshot>> snapshots;
  for (const char* input : {"a", "b", "c", "d"}) {
    AddText(5, input);
    ASSERT_OK_AND_ASSIGN(snapshots.emplace_back(), database_->TakeSnapshot());
  }
  Do(RowMutation("r").Delete("text:q"));
  AddText(5, "e");

  std::string expected = "text:q@5=";
  for (const char* input : {"a", "b", "c", "d"}) {
    expected += input;
    EXPECT_EQ(Show(table_->ReadRow("r", Filter(), {.snapshot = snapshots.front()})), expected);
    snapshots.erase(snapshots.begin());
    ASSERT_OK(database_->Compact("t"));
  }
  EXPECT_EQ(Texts(), "text:q@5=e");
}

// --- Reads ---

TEST_P(AggregateTest, FiltersSeeMergedValues) {
  Add("sum:a", 1, 2);
  Add("sum:a", 1, 3);
  Add("sum:a", 2, 5);
  Add("sum:b", 1, 1);
  Add("sum:c", 1, 5);

  const auto read = [&](const Filter& filter) { return Numbers(table_->ReadRow("r", filter)); };
  EXPECT_EQ(read(Filter::ValueRange(EncodeBigEndian(5), EncodeBigEndian(6))), "a@2=5 a@1=5 c@1=5");
  EXPECT_EQ(read(Filter::ValueRange(EncodeBigEndian(2), EncodeBigEndian(4))), "");
  EXPECT_EQ(read(Filter::Latest(1)), "a@2=5 b@1=1 c@1=5");
  EXPECT_EQ(read(Filter::CellsRowLimit(2)), "a@2=5 a@1=5");
  EXPECT_EQ(read(Filter::CellsRowOffset(1)), "a@1=5 b@1=1 c@1=5");
  EXPECT_EQ(read(Filter::TimestampRange(Timestamp(1), Timestamp(2))), "a@1=5 b@1=1 c@1=5");
  EXPECT_EQ(read(Filter::Column("sum", "a")), "a@2=5 a@1=5");
  EXPECT_EQ(read(Filter::Interleave(Filter::Column("sum", "b"), Filter::Column("sum", "a"))),
            "a@2=5 a@1=5 b@1=1");
  EXPECT_EQ(
      Show(table_->ReadRow("r", Filter::Chain(Filter::StripValueTransformer(), Filter::Latest(1)))),
      "sum:a@2= sum:b@1= sum:c@1=");
}

TEST_P(AggregateTest, RowsOfAStreamAreWholeInBothDirections) {
  for (const char* row : {"a", "b", "c"}) {
    for (const int64_t input : {1, 2}) {
      Do(RowMutation(row)
             .AddToCell("sum:q", Timestamp(1), input)
             .AddToCell("sum:q", Timestamp(2), input)
             .AddToCell("text:q", Timestamp(1), absl::StrCat(row, input)));
    }
  }
  for (const bool reverse : {false, true}) {
    std::vector<std::string> rows;
    std::vector<Row> kept;  // outlive the stream's position
    RowReader reader = table_->ReadRows(RowRange::All(), {.reverse = reverse});
    while (reader.Next()) {
      rows.push_back(Show(reader.row()));
      kept.push_back(reader.TakeRow());
    }
    ASSERT_OK(reader.status());
    if (reverse) std::reverse(rows.begin(), rows.end());
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0],
              "sum:q@2=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03 "
              "sum:q@1=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03 text:q@1=a1a2");
    for (size_t i = 0; i < kept.size(); ++i) {
      EXPECT_EQ(Show(kept[i]), rows[reverse ? kept.size() - 1 - i : i]);
    }
  }
}

TEST_P(AggregateTest, AScannerReturnsMergedCells) {
  for (const int64_t input : {1, 2}) Add("sum:a", 1, input);
  for (const char* input : {"x", "y"}) AddText(3, input);
  Do(RowMutation("s").AddToCell("text:q", Timestamp(1), "z"));

  Scanner scanner(table_);
  ScanStream* const stream = scanner.FetchColumnFamily("text");
  EXPECT_EQ(ShowStream(stream), "r/text:q@3=xy s/text:q@1=z");
}

TEST_P(AggregateTest, BytesBesideAggregatesAreAsBefore) {
  Do(RowMutation("r").Set("bytes:q", Timestamp(1), "a").AddToCell("sum:q", Timestamp(1), 1));
  Do(RowMutation("r").Set("bytes:q", Timestamp(1), "b").AddToCell("sum:q", Timestamp(1), 1));

  EXPECT_EQ(Show(table_->ReadRow("r", Filter::Family("bytes"))), "bytes:q@1=b");
  EXPECT_EQ(Sums(), "q@1=2");
}

// --- Storage ---

class AggregateStorageTest : public AggregateFixture {
 protected:
  // The sum over the table's files.
  uint64_t EntriesOnDisk() {
    uint64_t entries = 0;
    for (const std::string& path : file_system_->AllFiles()) {
      if (!path.ends_with(".sst")) continue;
      const absl::StatusOr<std::unique_ptr<SSTableReader>> file =
          SSTableReader::Open(path, {.file_system = file_system_.get()});
      if (file.ok() && (*file)->info().families.contains("sum")) {
        entries += (*file)->info().families.at("sum").entries;
      }
    }
    return entries;
  }
};

TEST_F(AggregateStorageTest, AFlushMergesTheContributionsOfItsMemtable) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK(table_->Apply(RowMutation("r").AddToCell("sum:q", Timestamp(i % 2), 1)));
  }
  ASSERT_OK(database_->Flush("t"));

  EXPECT_EQ(EntriesOnDisk(), 2u);
  EXPECT_EQ(Sums(), "q@1=500 q@0=500");
}

TEST_F(AggregateStorageTest, ACompactionMergesTheContributionsOfItsFiles) {
  for (int file = 0; file < 3; ++file) {
    ASSERT_OK(table_->Apply(RowMutation("r").AddToCell("sum:q", Timestamp(1), 1)));
    ASSERT_OK(database_->Flush("t"));
  }
  ASSERT_OK(database_->Compact("t"));

  EXPECT_EQ(EntriesOnDisk(), 1u);
  EXPECT_EQ(Sums(), "q@1=3");
}

TEST_F(AggregateStorageTest, AFlushMergesAlsoWhereVersionsAreCounted) {
  Table* const table = WithRule(GcRule::MaxVersions(3));
  for (int i = 0; i < 300; ++i) {
    ASSERT_OK(table->Apply(RowMutation("r").AddToCell("sum:q", Timestamp(i / 100), 1)));
  }
  ASSERT_OK(database_->Flush("ruled"));

  EXPECT_EQ(EntriesOnDisk(), 3u);
  EXPECT_EQ(Numbers(table->ReadRow("r")), "q@2=100 q@1=100 q@0=100");
}

TEST_F(AggregateStorageTest, AggregatesSurviveSplitsMovesAndReopening) {
  for (const char* row : {"a", "m", "z"}) {
    for (int i = 1; i <= 4; ++i) {
      ASSERT_OK(table_->Apply(RowMutation(row).AddToCell("sum:q", Timestamp(1), i)));
    }
  }
  ASSERT_OK(database_->SplitTablet("t", "m"));
  for (const char* row : {"a", "m", "z"}) {
    ASSERT_OK(table_->Apply(RowMutation(row).AddToCell("sum:q", Timestamp(1), 90)));
  }
  ReopenTable();
  ASSERT_OK(database_->MergeTablets("t", "m"));

  for (const char* row : {"a", "m", "z"}) EXPECT_EQ(Numbers(table_->ReadRow(row)), "q@1=100");
  const absl::StatusOr<TableSchema> schema = database_->GetSchema("t");
  ASSERT_OK(schema);
  EXPECT_EQ(schema->families.at("min").value_type, ValueType::kInt64Min);
  EXPECT_EQ(schema->families.at("text").value_operator, kConcatenation);
}

TEST_F(AggregateStorageTest, TheScanCacheReturnsTheNewestSum) {
  DatabaseOptions options = Options();
  options.scan_cache = true;
  Reopen(options);
  table_ = OpenTable("t");
  for (int i = 1; i <= 4; ++i) {
    ASSERT_OK(table_->Apply(RowMutation("r").AddToCell("sum:q", Timestamp(1), 1)));
    for (int read = 0; read < 3; ++read) {
      EXPECT_EQ(Numbers(table_->ReadRow("r")), absl::StrCat("q@1=", i));
    }
  }
}

// --- Threads ---

TEST_F(AggregateFixture, EightThreadsOnOneCounterLoseNothing) {
  constexpr int kThreads = 8;
  constexpr int kAdditions = 2000;
  std::vector<std::thread> threads;
  std::atomic<int> writing{kThreads};
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const absl::Cleanup done = [&] { --writing; };
      for (int i = 1; i <= kAdditions; ++i) {
        RowMutation mutation("r");
        mutation.AddToCell("sum:total", Timestamp(1), 1);
        mutation.AddToCell("max:last", Timestamp(1), thread * kAdditions + i);
        mutation.AddToCell("users:all", Timestamp(1), absl::StrCat(thread, ".", i % 10));
        ASSERT_OK(table_->Apply(mutation));
        if (i % 500 == 0) {
          ASSERT_OK(thread == 0 ? database_->Compact("t") : database_->Flush("t"));
        }
      }
    });
  }
  // Sums only grow.
  int64_t last = 0;
  while (writing > 0) {
    const absl::StatusOr<Row> row = table_->ReadRow("r", Filter::Family("sum"));
    EXPECT_OK(row);
    if (!row.ok() || row->empty()) continue;
    const int64_t sum = DecodeBigEndian(row->cells()[0].value).value_or(-1);
    EXPECT_GE(sum, last);
    EXPECT_LE(sum, kThreads * kAdditions);
    last = sum;
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(Sums(), absl::StrCat("total@1=", kThreads * kAdditions));
  EXPECT_EQ(Numbers(table_->ReadRow("r", Filter::Family("max"))),
            absl::StrCat("last@1=", kThreads * kAdditions));
  const absl::StatusOr<Row> users = table_->ReadRow("r", Filter::Family("users"));
  ASSERT_OK(users);
  EXPECT_EQ(HyperLogLogEstimate(users->cells()[0].value).value_or(0), 80u);
}

// A read without values does not merge them. So it is held to one with values, by mutations of so
// few columns and timestamps that contributions, deletions, flushes and compactions meet.
TEST_F(AggregateFixture, AReadWithoutValuesReturnsTheSameCellsRandom) {
  const auto read = [&](const Filter& filter, const ReadOptions& options) {
    std::vector<std::string> cells;
    RowReader reader = table_->ReadRows(RowRange::All(), filter, options);
    while (reader.Next()) {
      for (const Cell& cell : reader.row().cells()) {
        cells.push_back(absl::StrCat(ToAbsl(reader.row().key()), "/", ToAbsl(cell.family), ":",
                                     ToAbsl(cell.qualifier), "@", cell.timestamp.micros()));
      }
    }
    EXPECT_OK(reader.status());
    return cells;
  };
  const Filter strip = Filter::StripValueTransformer();
  const std::vector<Filter> filters = {Filter::PassAll(),
                                       Filter::Latest(1),
                                       Filter::CellsRowLimit(2),
                                       Filter::CellsRowOffset(1),
                                       Filter::Family("sum"),
                                       Filter::TimestampRange(Timestamp(1), Timestamp(2)),
                                       Filter::ColumnRange("text", "a", "b")};
  ForEachSeed(40, [&](uint64_t seed) {
    Random random(seed);
    const std::vector<std::string> columns = {"sum:a", "sum:b", "text:a", "users:a"};
    for (int step = 0; step < 60; ++step) {
      RowMutation mutation(random.Pick(std::vector<std::string>{"r", "s"}));
      const std::string column = random.Pick(columns);
      const Timestamp timestamp(random.Between(1, 2));
      switch (random.Between(0, 7)) {
        case 0:
          mutation.DeleteCell(column, timestamp);
          break;
        case 1:
          mutation.DeleteFamily("sum");
          break;
        case 2:
          mutation.DeleteRow();
          break;
        default:
          mutation.AddToCell(column, timestamp, EncodeBigEndian(1));
      }
      ASSERT_OK(table_->Apply(mutation));
      if (random.OneIn(15)) {
        ASSERT_OK(database_->Flush("t"));
      }
      if (random.OneIn(40)) {
        ASSERT_OK(database_->Compact("t"));
      }
      if (!random.OneIn(4)) continue;
      const Filter filter = random.Pick(filters);
      const ReadOptions options = {.reverse = random.OneIn(2)};
      ASSERT_EQ(read(Filter::Chain(filter, strip), options), read(filter, options));
    }
  });
}

// --- Errors ---

TEST_F(AggregateFixture, AnAggregateFamilyTakesOnlyContributions) {
  EXPECT_STATUS(kInvalidArgument,
                "family \"sum\" holds int64 sums (kInt64Sum), which only AddToCell and MergeToCell "
                "write, not Set",
                table_->Apply(RowMutation("r").Set("sum:q", "v")));
  EXPECT_STATUS(kInvalidArgument, "family \"users\" holds counts of distinct values",
                table_->Apply(RowMutation("r").Set("users:q", Timestamp(1), "v")));
  EXPECT_STATUS(kInvalidArgument, "operator \"test.concatenation\"",
                table_->Apply(RowMutation("r").Set("text:q", Timestamp(1), "v")));
}

TEST_F(AggregateFixture, AFamilyOfBytesTakesNoContribution) {
  EXPECT_STATUS(
      kInvalidArgument,
      "family \"bytes\" is no aggregate, so its cells are written by Set, not by AddToCell",
      table_->Apply(RowMutation("r").AddToCell("bytes:q", Timestamp(1), 1)));
  EXPECT_STATUS(kInvalidArgument, "not by MergeToCell",
                table_->Apply(RowMutation("r").MergeToCell("bytes:q", Timestamp(1), "v")));
}

TEST_F(AggregateFixture, AnInputThatTheOperatorDoesNotTakeIsInvalid) {
  EXPECT_STATUS(kInvalidArgument,
                "family \"sum\" holds int64 sums (kInt64Sum), and does not take what AddToCell "
                "adds: a number has 8 bytes, big-endian, and \"1\" has 1",
                table_->Apply(RowMutation("r").AddToCell("sum:q", Timestamp(1), "1")));
  EXPECT_STATUS(kInvalidArgument, "what MergeToCell merges: not the state of a HyperLogLog",
                table_->Apply(RowMutation("r").MergeToCell("users:q", Timestamp(1), "ann")));
  EXPECT_STATUS(kInvalidArgument,
                "family \"dsum\" holds sums of doubles (kDoubleSum), and does not take what "
                "AddToCell adds: a number has 8 bytes, big-endian, and \"1\" has 1",
                table_->Apply(RowMutation("r").AddToCell("dsum:q", Timestamp(1), "1")));
  EXPECT_STATUS(kInvalidArgument, "what MergeToCell merges: not the state of a sum of doubles",
                table_->Apply(RowMutation("r").MergeToCell("dsum:q", Timestamp(1), "12345678")));
  EXPECT_STATUS(kInvalidArgument, "family \"dmin\" holds minima of doubles (kDoubleMin)",
                table_->Apply(RowMutation("r").AddToCell("dmin:q", Timestamp(1), "1")));
  EXPECT_STATUS(kInvalidArgument, "family \"dmax\" holds maxima of doubles (kDoubleMax)",
                table_->Apply(RowMutation("r").Set("dmax:q", Timestamp(1), "1")));
  EXPECT_STATUS(kInvalidArgument, "the input is \"refused\"",
                table_->Apply(RowMutation("r").AddToCell("text:q", Timestamp(1), "refused")));
  EXPECT_STATUS(kInvalidArgument, "a timestamp must not be negative",
                table_->Apply(RowMutation("r").AddToCell("sum:q", Timestamp(-1), 1)));
  EXPECT_EQ(Show(table_->ReadRow("r")), "");
}

TEST_F(AggregateFixture, OneRefusedOperationRefusesTheMutation) {
  RowMutation mutation("r");
  mutation.AddToCell("sum:q", Timestamp(1), 1).Set("sum:q", Timestamp(1), "v");
  EXPECT_STATUS(kInvalidArgument, "\"sum\"", table_->Apply(mutation));
  EXPECT_EQ(Show(table_->ReadRow("r")), "");
}

TEST_F(AggregateFixture, ReadModifyWriteRefusesAggregateFamilies) {
  ASSERT_OK(table_->Apply(RowMutation("r").AddToCell("users:q", Timestamp(1), "ann")));
  for (const char* family : {"sum", "users", "dsum", "dmin"}) {
    const std::string column = absl::StrCat(family, ":q");
    EXPECT_STATUS(kInvalidArgument, absl::StrCat("family \"", family, "\" holds"),
                  table_->ReadModifyWriteRow(ReadModifyWrite("r").Increment(column, 1)));
    EXPECT_STATUS(kInvalidArgument, absl::StrCat("family \"", family, "\" holds"),
                  table_->ReadModifyWriteRow(ReadModifyWrite("r").Append(column, "x")));
  }
}

TEST_F(AggregateFixture, AConditionalMutationMayContribute) {
  const RowMutation add = RowMutation("r").AddToCell("sum:q", Timestamp(1), 5);
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(table_->CheckAndMutateRow("r", Filter::Family("bytes"), RowMutation("r"), add));
  }
  EXPECT_EQ(Sums(), "q@1=10");
}

TEST_F(AggregateFixture, ABatchMayContribute) {
  const RowMutation add = RowMutation("r").AddToCell("sum:q", Timestamp(1), 5);
  WriteBatch batch;
  batch.Apply(table_, add).Apply(table_, add);
  ASSERT_OK(database_->Apply(batch));
  EXPECT_EQ(Sums(), "q@1=10");

  batch.Apply(table_, RowMutation("r").Set("sum:q", Timestamp(1), "v"));
  EXPECT_STATUS(kInvalidArgument, "\"sum\"", database_->Apply(batch));
  EXPECT_EQ(Sums(), "q@1=10");
}

TEST_F(AggregateFixture, WhatAFamilyHoldsCannotChange) {
  EXPECT_STATUS(kInvalidArgument,
                "family \"sum\" holds int64 sums (kInt64Sum), and cannot change to hold int64 "
                "maxima (kInt64Max)",
                database_->UpdateFamily("t", "sum", {.value_type = ValueType::kInt64Max}));
  EXPECT_STATUS(kInvalidArgument, "cannot change to hold bytes (kBytes)",
                database_->UpdateFamily("t", "sum", {.value_type = ValueType::kBytes}));
  EXPECT_STATUS(kInvalidArgument, "family \"bytes\" holds bytes (kBytes), and cannot change",
                database_->UpdateFamily("t", "bytes", {.value_type = ValueType::kInt64Sum}));
  EXPECT_STATUS(kInvalidArgument, "cannot change to hold bytes",
                database_->UpdateFamily("t", "text", {.value_operator = ""}));
  EXPECT_OK(database_->UpdateFamily(
      "t", "sum", {.gc = GcRule::MaxVersions(3), .value_type = ValueType::kInt64Sum}));
  EXPECT_EQ(database_->GetSchema("t")->families.at("sum").value_type, ValueType::kInt64Sum);
}

TEST_F(AggregateFixture, BadValueTypesAreRefused) {
  const auto create = [&](const Family& family) {
    return database_->CreateTable("bad", {.families = {{"f", family}}});
  };
  EXPECT_STATUS(kInvalidArgument, "value_type of family \"f\" must be from 0 to 7, and is 9",
                create({.value_type = static_cast<ValueType>(9)}));
  EXPECT_STATUS(kInvalidArgument, "value_operator of family \"f\" must be 1 to 64 printable",
                create({.value_operator = "a b"}));
  EXPECT_STATUS(kInvalidArgument, "its value_type must be kBytes (0), and is 1",
                create({.value_type = ValueType::kInt64Sum, .value_operator = kConcatenation}));
  EXPECT_STATUS(kInvalidArgument, "there is no aggregate operator \"unknown\"; registered are: ",
                create({.value_operator = "unknown"}));
  EXPECT_STATUS(kInvalidArgument, "there is no aggregate operator \"unknown\"",
                database_->AddFamily("t", "f", {.value_operator = "unknown"}));
}

// --- A program without the operator ---

TEST_F(AggregateFixture, WithoutItsOperatorADatabaseOpensAndTheFamilyIsRefused) {
  constexpr const char* kName = "aggregate_test.forgotten";
  ASSERT_OK(RegisterAggregateOperator(kName, std::make_unique<Concatenation>()));
  ASSERT_OK(database_->AddFamily("t", "f", {.value_operator = kName}));
  const auto add = [&](const char* input) {
    return table_->Apply(
        RowMutation("r").AddToCell("f:q", Timestamp(1), input).AddToCell("sum:q", Timestamp(1), 1));
  };
  ASSERT_OK(add("a"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(add("b"));
  ASSERT_OK(add("c"));
  Kill();

  ForgetOperator(kName);
  Open();
  table_ = OpenTable("t");
  const std::string missing = absl::StrCat("family \"f\" holds aggregates of the operator \"",
                                           kName, "\", which this program has not registered");
  EXPECT_STATUS(kFailedPrecondition, missing, table_->ReadRow("r"));
  EXPECT_STATUS(kFailedPrecondition, missing, add("d"));
  EXPECT_STATUS(kFailedPrecondition, missing, database_->Compact("t"));
  EXPECT_EQ(Sums(), "q@1=3");  // the other families are as before
  EXPECT_OK(table_->Apply(RowMutation("r").AddToCell("sum:q", Timestamp(1), 1)));
  EXPECT_OK(database_->Flush("t"));
  RowReader reader = table_->ReadRows(RowRange::All());
  EXPECT_FALSE(reader.Next());
  EXPECT_STATUS(kFailedPrecondition, missing, reader.status());
  // The values take the operator, the cells do not.
  const Filter strip = Filter::StripValueTransformer();
  EXPECT_EQ(Show(table_->ReadRow("r", strip)), "f:q@1= sum:q@1=");
  RowReader keys =
      table_->ReadRows(RowRange::All(), Filter::Chain(Filter::CellsRowLimit(1), strip));
  EXPECT_TRUE(keys.Next());
  EXPECT_FALSE(keys.Next());
  EXPECT_OK(keys.status());
  EXPECT_STATUS(kFailedPrecondition, missing,
                table_->ReadRow("r", Filter::Chain(Filter::ValueRange("x", ""), strip)));
  EXPECT_STATUS(kFailedPrecondition, missing, table_->ReadRow("r", Filter::Interleave(strip, {})));

  DatabaseOptions cached = Options();
  cached.scan_cache = true;
  Reopen(cached);
  table_ = OpenTable("t");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Show(table_->ReadRow("r", strip)), "f:q@1= sum:q@1=") << "read " << i;
  }

  ASSERT_OK(RegisterAggregateOperator(kName, std::make_unique<Concatenation>()));
  const absl::Cleanup forget = [] { ForgetOperator(kName); };
  EXPECT_EQ(Show(table_->ReadRow("r", Filter::Family("f"))), "f:q@1=abc");
  EXPECT_OK(database_->Compact("t"));
  EXPECT_EQ(Show(table_->ReadRow("r", Filter::Family("f"))), "f:q@1=abc");
}

TEST_F(AggregateFixture, AnErrorOfTheOperatorIsThatOfTheRead) {
  ASSERT_OK(table_->Apply(RowMutation("r").AddToCell("text:q", Timestamp(1), "corrupt")));
  ASSERT_OK(table_->Apply(RowMutation("r").AddToCell("text:q", Timestamp(1), "b")));

  EXPECT_STATUS(kDataLoss, "family \"text\": the state is corrupt", table_->ReadRow("r"));
}

}  // namespace
}  // namespace bigtable
