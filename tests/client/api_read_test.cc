// Table::ReadRow and ReadRows, filters, row ranges and snapshots.
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

using namespace std::string_literals;

class ReadTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    TableSchema schema;
    schema.locality_groups["other"] = {.compression = Compression::kZstd};
    schema.families["anchor"] = {};
    schema.families["contents"] = {.locality_group = "other"};
    schema.families["meta"] = {};
    table_ = CreateTable("t", schema);
  }
  void WritePage() {
    Set(table_, "com.cnn.www", "meta:lang", 2, "EN");
    Set(table_, "com.cnn.www", "contents:", 3, "c3");
    Set(table_, "com.cnn.www", "contents:", 6, "c6");
    Set(table_, "com.cnn.www", "contents:", 5, "c5");
    Set(table_, "com.cnn.www", "anchor:my.look.ca", 8, "CNN.com");
    Set(table_, "com.cnn.www", "anchor:cnnsi.com", 9, "CNN");
  }
  void WriteRows(const std::vector<std::string>& rows) {
    for (const std::string& row : rows) Set(table_, row, "meta:q", 1, "v");
  }
  std::string Read(const Filter& filter) { return Show(table_->ReadRow("com.cnn.www", filter)); }
  std::string Keys(const RowSet& rows, const ReadOptions& options = {}) {
    return ShowKeys(table_->ReadRows(rows, options));
  }

  Table* table_ = nullptr;
};

// --- One value ---

TEST_F(ReadTest, GetReturnsTheNewestValueOfAColumn) {
  WritePage();
  EXPECT_EQ(*table_->Get("com.cnn.www", "contents:"), "c6");
  EXPECT_EQ(*table_->Get("com.cnn.www", "anchor:cnnsi.com"), "CNN");
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const Snapshot> snapshot, database_->TakeSnapshot());
  Set(table_, "com.cnn.www", "contents:", 7, "c7");
  EXPECT_EQ(*table_->Get("com.cnn.www", "contents:"), "c7");
  EXPECT_EQ(*table_->Get("com.cnn.www", "contents:", {.snapshot = snapshot}), "c6");
}

TEST_F(ReadTest, GetOfWhatIsNotThereIsNotFound) {
  WritePage();
  EXPECT_STATUS(kNotFound, "row \"com.cnn.www\" has no cell in column \"anchor:nobody\"",
                table_->Get("com.cnn.www", "anchor:nobody").status());
  EXPECT_STATUS(kNotFound, "row \"nothing\"", table_->Get("nothing", "contents:").status());
  EXPECT_STATUS(kInvalidArgument, "family:qualifier", table_->Get("r", "contents").status());
  EXPECT_STATUS(kInvalidArgument, "empty", table_->Get("", "contents:").status());
}

// --- One row ---

TEST_F(ReadTest, ARowWithoutCellsIsEmptyAndHasTheKeyThatWasAskedFor) {
  ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("nothing"));

  EXPECT_TRUE(row.empty());
  EXPECT_EQ(row.key(), "nothing");
  EXPECT_EQ(row.cells().size(), 0u);
}

TEST_F(ReadTest, CellsComeByFamilyThenQualifierThenFromNewToOld) {
  WritePage();

  for (const char* where : {"memtable", "SSTable"}) {
    SCOPED_TRACE(where);
    EXPECT_EQ(Show(table_->ReadRow("com.cnn.www")),
              "anchor:cnnsi.com@9=CNN anchor:my.look.ca@8=CNN.com contents:@6=c6 contents:@5=c5 "
              "contents:@3=c3 meta:lang@2=EN");
    ASSERT_OK(database_->Flush("t"));
  }
}

TEST_F(ReadTest, CellsAreMergedFromMemtableAndSSTables) {
  Set(table_, "r", "meta:a", 1, "oldest file");
  Set(table_, "r", "meta:b", 1, "hidden");
  ASSERT_OK(database_->Flush("t"));
  Set(table_, "r", "meta:a", 3, "newer file");
  ASSERT_OK(table_->Apply(RowMutation("r").Delete("meta:b")));
  ASSERT_OK(database_->Flush("t"));
  Set(table_, "r", "meta:a", 2, "memtable");

  EXPECT_EQ(Show(table_->ReadRow("r")),
            "meta:a@3=newer file meta:a@2=memtable meta:a@1=oldest file");
}

TEST_F(ReadTest, ARowStaysWhatItWasWhileTheDatabaseGoesOn) {
  const std::string value(100'000, 'v');
  Set(table_, "r", "meta:q", 1, value);
  Set(table_, "r", "contents:q", 1, value);
  ASSERT_OK_AND_ASSIGN(const Row from_memtable, table_->ReadRow("r"));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK_AND_ASSIGN(const Row from_file, table_->ReadRow("r"));

  ASSERT_OK(table_->Apply(RowMutation("r").DeleteRow()));
  for (int i = 0; i < 50; ++i) Set(table_, absl::StrCat("x", i), "meta:q", 1, value);
  ASSERT_OK(database_->Compact("t"));

  for (const Row* row : {&from_memtable, &from_file}) {
    ASSERT_EQ(row->cells().size(), 2u);
    EXPECT_TRUE(row->cells()[0].value == value);
    EXPECT_TRUE(row->cells()[1].value == value);
  }
  EXPECT_EQ(Show(table_->ReadRow("r")), "");
}

TEST_F(ReadTest, AMovedRowKeepsItsCells) {
  WritePage();
  ASSERT_OK_AND_ASSIGN(Row row, table_->ReadRow("com.cnn.www"));
  const std::string before = Show(row);

  Row moved = std::move(row);
  Row assigned;
  assigned = std::move(moved);

  EXPECT_EQ(Show(assigned), before);
  EXPECT_EQ(assigned.key(), "com.cnn.www");
}

// --- Filters ---

TEST_F(ReadTest, EachFilterLetsThroughWhatItSays) {
  WritePage();
  const std::string anchors = "anchor:cnnsi.com@9=CNN anchor:my.look.ca@8=CNN.com";
  const std::string pages = "contents:@6=c6 contents:@5=c5 contents:@3=c3";
  const std::string all = anchors + " " + pages + " meta:lang@2=EN";

  for (const char* where : {"memtable", "SSTable"}) {
    SCOPED_TRACE(where);
    EXPECT_EQ(Read(Filter()), all);
    EXPECT_EQ(Read(Filter::PassAll()), all);
    EXPECT_EQ(Read(Filter::BlockAll()), "");
    EXPECT_EQ(Read(Filter::Latest(1)), anchors + " contents:@6=c6 meta:lang@2=EN");
    EXPECT_EQ(Read(Filter::Latest(2)), anchors + " contents:@6=c6 contents:@5=c5 meta:lang@2=EN");
    EXPECT_EQ(Read(Filter::Family("anchor")), anchors);
    EXPECT_EQ(Read(Filter::FamilyRegex("con.*|meta")), pages + " meta:lang@2=EN");
    EXPECT_EQ(Read(Filter::Column("anchor", "cnnsi.com")), "anchor:cnnsi.com@9=CNN");
    EXPECT_EQ(Read(Filter::Column("contents", "")), pages);
    EXPECT_EQ(Read(Filter::ColumnPrefix("anchor", "my.")), "anchor:my.look.ca@8=CNN.com");
    EXPECT_EQ(Read(Filter::ColumnPrefix("anchor", "")), anchors);
    EXPECT_EQ(Read(Filter::ColumnRange("anchor", "a", "my.look.ca")), "anchor:cnnsi.com@9=CNN");
    EXPECT_EQ(Read(Filter::ColumnRange("anchor", "d", "")), "anchor:my.look.ca@8=CNN.com");
    EXPECT_EQ(Read(Filter::ColumnRegex(".*\\.com|lang")), "anchor:cnnsi.com@9=CNN meta:lang@2=EN");
    EXPECT_EQ(Read(Filter::TimestampRange(Timestamp(3), Timestamp(6))),
              "contents:@5=c5 contents:@3=c3");
    EXPECT_EQ(Read(Filter::RowKeysRegex("com\\..*")), all);
    EXPECT_EQ(Read(Filter::RowKeysRegex("com")), "");
    EXPECT_EQ(Read(Filter::ValueRegex("c[36]")), "contents:@6=c6 contents:@3=c3");
    EXPECT_EQ(Read(Filter::CellsRowLimit(2)), anchors);
    EXPECT_EQ(Read(Filter::CellsRowOffset(5)), "meta:lang@2=EN");
    EXPECT_EQ(Read(Filter::CellsRowOffset(6)), "");
    EXPECT_EQ(Read(Filter::StripValueTransformer()),
              "anchor:cnnsi.com@9= anchor:my.look.ca@8= contents:@6= contents:@5= contents:@3= "
              "meta:lang@2=");
    ASSERT_OK(database_->Flush("t"));
  }
}

TEST_F(ReadTest, InAChainEachFilterSeesWhatTheOneBeforeItLetsThrough) {
  WritePage();
  const Filter until_six = Filter::TimestampRange(Timestamp(0), Timestamp(6));

  EXPECT_EQ(Read(Filter::Chain(Filter::Family("contents"), until_six, Filter::Latest(1))),
            "contents:@5=c5");
  EXPECT_EQ(Read(Filter::Chain(Filter::Latest(1), until_six)), "meta:lang@2=EN");
  EXPECT_EQ(Read(Filter::Chain(Filter::CellsRowOffset(1), Filter::CellsRowLimit(1))),
            "anchor:my.look.ca@8=CNN.com");
  EXPECT_EQ(Read(Filter::Chain(Filter::StripValueTransformer(), Filter::ValueRegex("EN"))), "");
  EXPECT_EQ(Read(Filter::Chain(Filter::Family("meta"), Filter::Family("anchor"))), "");
}

TEST_F(ReadTest, RegularExpressionsMatchAnyByte) {
  Set(table_, "r\n\xff", "meta:\xff\n", 1, "\n\x80");

  EXPECT_EQ(Show(table_->ReadRow("r\n\xff", Filter::RowKeysRegex("r.."))),
            "meta:\\xff\\n@1=\\n\\x80");
  EXPECT_EQ(Show(table_->ReadRow("r\n\xff", Filter::ColumnRegex(".."))),
            "meta:\\xff\\n@1=\\n\\x80");
  EXPECT_EQ(Show(table_->ReadRow("r\n\xff", Filter::ValueRegex(".."))), "meta:\\xff\\n@1=\\n\\x80");
}

TEST_F(ReadTest, AFilterThatNamesNoFamilyOfTheTableIsNotFound) {
  const std::vector<std::pair<Filter, std::string>> filters = {
      {Filter::Family("nothing"), "\"nothing\""},
      {Filter::Family("meta:lang"), "\"meta:lang\""},
      {Filter::Column("nothing", "q"), "\"nothing\""},
      {Filter::ColumnPrefix("nothing", "q"), "\"nothing\""},
      {Filter::ColumnRange("nothing", "q", ""), "\"nothing\""},
      {Filter::Chain(Filter::Family("meta"), Filter::Family("nothing")), "\"nothing\""},
  };
  for (const auto& [filter, named] : filters) {
    EXPECT_STATUS(kNotFound, named, table_->ReadRow("r", filter));
    EXPECT_STATUS(kNotFound, "anchor", table_->ReadRow("r", filter));  // one that there is
    RowReader reader = table_->ReadRows(RowRange::All(), filter);
    EXPECT_FALSE(reader.Next());
    EXPECT_STATUS(kNotFound, named, reader.status());
    RowReader none = table_->ReadRows(RowSet(), filter);
    EXPECT_STATUS(kNotFound, named, none.status());
    Scanner scanner(table_);
    ScanStream* const stream = scanner.FetchColumnFamily("meta");
    stream->SetFilter(filter);
    EXPECT_TRUE(stream->Done());
    EXPECT_STATUS(kNotFound, named, scanner.status());
  }
  EXPECT_EQ(Read(Filter::FamilyRegex("nothing")), "");  // an expression names none
}

TEST_F(ReadTest, AFilterThatCannotBeIsInvalidArgument) {
  const std::vector<std::pair<Filter, std::string>> filters = {
      {Filter::ValueRegex("(oops"), "(oops"},
      {Filter::FamilyRegex("*"), "*"},
      {Filter::ColumnRegex("[z-a]"), "[z-a]"},
      {Filter::RowKeysRegex("\\"), ""},
      {Filter::Latest(0), "0"},
      {Filter::CellsRowLimit(0), "0"},
      {Filter::CellsRowOffset(-1), "-1"},
      {Filter::TimestampRange(Timestamp(5), Timestamp(5)), "5"},
      {Filter::ColumnRange("anchor", "b", "a"), "\"b\""},
      {Filter::Chain(Filter::Latest(1), Filter::ValueRegex("(oops")), "(oops"},
  };
  for (const auto& [filter, named] : filters) {
    SCOPED_TRACE(named);
    EXPECT_STATUS(kInvalidArgument, named, filter.status());
    EXPECT_STATUS(kInvalidArgument, named, table_->ReadRow("r", filter));
    RowReader reader = table_->ReadRows(RowRange::All(), filter);
    EXPECT_FALSE(reader.Next());
    EXPECT_STATUS(kInvalidArgument, named, reader.status());
  }
  EXPECT_OK(Filter().status());
}

// --- Several rows ---

TEST_F(ReadTest, RangesHoldTheRowsTheySay) {
  WriteRows({"a", "a\0"s, "ab", "b", "c", "\xff", "\xff\xff"});

  EXPECT_EQ(Keys(RowRange::All()), "a a\\x00 ab b c \\xff \\xff\\xff");
  EXPECT_EQ(Keys(RowRange::Single("a")), "a");
  EXPECT_EQ(Keys(RowRange::Single("nothing")), "");
  EXPECT_EQ(Keys(RowRange::Prefix("a")), "a a\\x00 ab");
  EXPECT_EQ(Keys(RowRange::Prefix("\xff")), "\\xff \\xff\\xff");
  EXPECT_EQ(Keys(RowRange::Prefix("")), "a a\\x00 ab b c \\xff \\xff\\xff");
  EXPECT_EQ(Keys(RowRange::StartingAt("b")), "b c \\xff \\xff\\xff");
  EXPECT_EQ(Keys(RowRange::EndingAt("ab")), "a a\\x00 ab");
  EXPECT_EQ(Keys(RowRange::RightOpen("a", "b")), "a a\\x00 ab");
  EXPECT_EQ(Keys(RowRange::Closed("a", "b")), "a a\\x00 ab b");
  EXPECT_EQ(Keys(RowRange::Open("a", "b")), "a\\x00 ab");
  EXPECT_EQ(Keys(RowRange::LeftOpen("a", "b")), "a\\x00 ab b");
  EXPECT_EQ(Keys(RowRange::RightOpen("c", "b")), "");
}

TEST_F(ReadTest, ASetBringsEachRowOnceAndInOrder) {
  WriteRows({"a", "b", "c", "d", "e"});
  RowSet rows;
  rows.Append("e");
  rows.Append(RowRange::Closed("a", "c"));
  rows.Append("b");
  rows.Append(RowRange::Closed("b", "c"));
  rows.Append(RowRange::RightOpen("d", "d"));

  EXPECT_EQ(Keys(rows), "a b c e");
  EXPECT_EQ(Keys(rows, {.reverse = true}), "e c b a");
  EXPECT_EQ(Keys(rows, {.row_limit = 2}), "a b");
  EXPECT_EQ(Keys(rows, {.reverse = true, .row_limit = 2}), "e c");
  EXPECT_EQ(Keys(RowSet()), "");
}

TEST_F(ReadTest, RowsWithoutCellsAreNotBroughtAndNotCounted) {
  WriteRows({"a", "b", "c", "d"});
  ASSERT_OK(table_->Apply(RowMutation("b").DeleteRow()));
  Set(table_, "c", "anchor:q", 1, "v");
  ASSERT_OK(table_->Apply(RowMutation("c").DeleteFamily("meta")));

  EXPECT_EQ(Keys(RowRange::All(), {.row_limit = 2}), "a c");
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All(), Filter::Family("meta"), {.row_limit = 2})),
            "a d");
}

TEST_F(ReadTest, ReadingBackwardsKeepsTheOrderOfCells) {
  WritePage();
  Set(table_, "aaa", "meta:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  Set(table_, "com.cnn.www", "contents:", 4, "c4");

  RowReader reader =
      table_->ReadRows(RowRange::All(), Filter::Family("contents"), {.reverse = true});

  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(Show(reader.row()), "contents:@6=c6 contents:@5=c5 contents:@4=c4 contents:@3=c3");
  EXPECT_FALSE(reader.Next());
  EXPECT_OK(reader.status());
}

TEST_F(ReadTest, AReaderBringsRowsAsTheCallersOwn) {
  WriteRows({"a", "b", "c"});
  RowReader reader = table_->ReadRows(RowRange::All());
  std::vector<Row> rows;
  while (reader.Next()) rows.push_back(reader.TakeRow());

  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].key(), "a");
  EXPECT_EQ(rows[2].key(), "c");
  EXPECT_EQ(Show(rows[0]), "meta:q@1=v");
  EXPECT_FALSE(reader.Next());  // and stays at its end
}

TEST_F(ReadTest, AReaderSeesOneMoment) {
  for (int i = 0; i < 500; ++i) Set(table_, absl::StrCat("row", 1000 + i), "meta:q", 1, "old");
  RowReader reader = table_->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());

  for (int i = 0; i < 500; ++i) Set(table_, absl::StrCat("row", 1000 + i), "meta:q", 1, "new");
  ASSERT_OK(table_->Apply(RowMutation("row1100").DeleteRow()));
  Set(table_, "row1100a", "meta:q", 1, "new");
  ASSERT_OK(database_->Compact("t"));

  int rows = 1;
  while (reader.Next()) {
    ++rows;
    EXPECT_EQ(Show(reader.row()), "meta:q@1=old") << reader.row().key();
  }
  EXPECT_OK(reader.status());
  EXPECT_EQ(rows, 500);
}

TEST_F(ReadTest, AReadersMomentIsThatOfTheCallNotOfTheFirstRow) {
  WriteRows({"a", "b"});
  RowReader reader = table_->ReadRows(RowRange::All());

  WriteRows({"aa"});
  ASSERT_OK(table_->Apply(RowMutation("b").DeleteRow()));

  EXPECT_EQ(ShowKeys(std::move(reader)), "a b");
}

TEST_F(ReadTest, ADeadlineInThePastIsDeadlineExceeded) {
  WriteRows({"a"});
  const ReadOptions options = {.deadline = absl::InfinitePast()};
  RowReader reader = table_->ReadRows(RowRange::All(), options);

  EXPECT_STATUS(kDeadlineExceeded, "", table_->ReadRow("a", {}, options));
  EXPECT_FALSE(reader.Next());
  EXPECT_STATUS(kDeadlineExceeded, "", reader.status());
}

TEST_F(ReadTest, ACancelledReaderEndsSoon) {
  for (int i = 0; i < 100; ++i) Set(table_, absl::StrCat("row", 100 + i), "meta:q", 1, "v");
  Cancellation cancellation;
  RowReader reader = table_->ReadRows(RowRange::All(), {.cancellation = &cancellation});
  ASSERT_TRUE(reader.Next());

  cancellation.Cancel();
  int rows = 0;
  while (reader.Next()) ++rows;

  EXPECT_LT(rows, 99);
  EXPECT_STATUS(kCancelled, "", reader.status());
  EXPECT_STATUS(kCancelled, "", table_->ReadRow("row100", {}, {.cancellation = &cancellation}));
}

// --- Row ranges and sets, by themselves ---

TEST(RowRangeTest, PrefixOfAllOnesHasNoEnd) {
  EXPECT_EQ(RowRange::Prefix("\xff\xff").begin(), "\xff\xff");
  EXPECT_FALSE(RowRange::Prefix("\xff\xff").end().has_value());
  EXPECT_EQ(RowRange::Prefix("a\xff").end(), "b");
  EXPECT_EQ(RowRange::Prefix(""), RowRange::All());
}

TEST(RowRangeTest, EmptyAndContainsAgree) {
  EXPECT_FALSE(RowRange::All().empty());
  EXPECT_TRUE(RowRange::RightOpen("b", "b").empty());
  EXPECT_TRUE(RowRange::Closed("b", "a").empty());
  EXPECT_FALSE(RowRange::Single("a").empty());
  EXPECT_TRUE(RowRange::Single("a").Contains("a"));
  EXPECT_FALSE(RowRange::Single("a").Contains("a\0"s));
  EXPECT_TRUE(RowRange::Open("a", "b").Contains("a\0"s));
  EXPECT_FALSE(RowRange::Open("a", "b").Contains("a"));
}

TEST(RowSetTest, NormalizedRangesAreSortedDoNotTouchAndAreNotEmpty) {
  RowSet rows;
  rows.Append(RowRange::RightOpen("m", "p"));
  rows.Append("a");
  rows.Append(RowRange::RightOpen("k", "m"));  // touches the first
  rows.Append(RowRange::RightOpen("x", "b"));  // empty
  rows.Append(RowRange::RightOpen("n", "o"));  // inside
  rows.Append("a\0"s);                         // the next possible row after "a"
  rows.Append(RowRange::RightOpen("c", "e"));

  const std::vector<RowRange> normalized = rows.Normalized();

  EXPECT_EQ(normalized,
            (std::vector<RowRange>{RowRange::RightOpen("a", "a\0\0"s),
                                   RowRange::RightOpen("c", "e"), RowRange::RightOpen("k", "p")}));
}

TEST(RowSetTest, ARangeWithoutEndTakesInAllBehindIt) {
  RowSet rows;
  rows.Append(RowRange::StartingAt("m"));
  rows.Append(RowRange::Closed("x", "y"));
  rows.Append("b");

  EXPECT_EQ(rows.Normalized(),
            (std::vector<RowRange>{RowRange::Single("b"), RowRange::StartingAt("m")}));
  EXPECT_TRUE(RowSet().Normalized().empty());
}

// --- Snapshots ---

TEST_F(ReadTest, ASnapshotSeesWhatWasAcknowledgedBeforeAndNothingAfter) {
  Set(table_, "r", "meta:q", 1, "before");
  Set(table_, "gone", "meta:q", 1, "v");
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const Snapshot> snapshot, database_->TakeSnapshot());
  Set(table_, "r", "meta:q", 1, "after");
  Set(table_, "s", "meta:q", 1, "new");
  ASSERT_OK(table_->Apply(RowMutation("gone").DeleteRow()));
  const ReadOptions at = {.snapshot = snapshot};

  for (const char* where : {"memtable", "SSTable", "compacted SSTable"}) {
    SCOPED_TRACE(where);
    EXPECT_EQ(Show(table_->ReadRow("r", {}, at)), "meta:q@1=before");
    EXPECT_EQ(Show(table_->ReadRow("r")), "meta:q@1=after");
    EXPECT_EQ(Keys(RowRange::All(), at), "gone r");
    EXPECT_EQ(Keys(RowRange::All()), "r s");
    ASSERT_OK(std::string_view(where) == "memtable" ? database_->Flush("t")
                                                    : database_->Compact("t"));
  }
}

TEST_F(ReadTest, ASnapshotKeepsVersionsThatCollectionWouldTake) {
  ASSERT_OK(database_->UpdateFamily("t", "meta", {.gc = GcRule::MaxVersions(1)}));
  Set(table_, "r", "meta:q", 1, "one");
  ASSERT_OK_AND_ASSIGN(std::shared_ptr<const Snapshot> snapshot, database_->TakeSnapshot());
  Set(table_, "r", "meta:q", 2, "two");
  ASSERT_OK(database_->Compact("t"));

  EXPECT_EQ(Show(table_->ReadRow("r", {}, {.snapshot = snapshot})), "meta:q@1=one");
  EXPECT_EQ(Show(table_->ReadRow("r")), "meta:q@2=two");
  EXPECT_EQ(database_->Statistics().tables["t"]["default"].entries, 2u);

  snapshot.reset();
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(database_->Statistics().tables["t"]["default"].entries, 1u);
}

TEST_F(ReadTest, SequenceNumbersOfSnapshotsIncreaseWithWrites) {
  ASSERT_OK_AND_ASSIGN(const auto first, database_->TakeSnapshot());
  Set(table_, "r", "meta:q", 1, "v");
  ASSERT_OK_AND_ASSIGN(const auto second, database_->TakeSnapshot());

  EXPECT_LT(first->sequence(), second->sequence());
}

TEST_F(ReadTest, ASnapshotOfAnotherDatabaseIsInvalidArgument) {
  DatabaseOptions options = Options();
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> other, Database::Open("/other", options));
  ASSERT_OK_AND_ASSIGN(const auto theirs, other->TakeSnapshot());
  ASSERT_OK_AND_ASSIGN(const auto earlier, database_->TakeSnapshot());
  Reopen();
  table_ = OpenTable("t");

  for (const auto& snapshot : {theirs, earlier}) {
    const ReadOptions at = {.snapshot = snapshot};
    EXPECT_STATUS(kInvalidArgument, "snapshot", table_->ReadRow("r", {}, at));
    RowReader reader = table_->ReadRows(RowRange::All(), at);
    EXPECT_FALSE(reader.Next());
    EXPECT_STATUS(kInvalidArgument, "snapshot", reader.status());
  }
}

TEST_F(ReadTest, ASnapshotSeesAllTablesAtOneMoment) {
  Table* const other = CreateTable("u", {"f"});
  Set(table_, "r", "meta:q", 1, "v1");
  Set(other, "r", "f:q", 1, "w1");
  ASSERT_OK_AND_ASSIGN(const auto snapshot, database_->TakeSnapshot());
  Set(table_, "r", "meta:q", 1, "v2");
  Set(other, "r", "f:q", 1, "w2");

  EXPECT_EQ(Show(table_->ReadRow("r", {}, {.snapshot = snapshot})), "meta:q@1=v1");
  EXPECT_EQ(Show(other->ReadRow("r", {}, {.snapshot = snapshot})), "f:q@1=w1");
}

// --- How blocks are read changes no answer ---

TEST(ReadSettingsTest, EveryWayToReadBlocksHasTheSameAnswers) {
  for (const auto mode : {FileSystem::ReadMode::kMapped, FileSystem::ReadMode::kPositional}) {
    for (const auto compression :
         {Compression::kNone, Compression::kZstd, Compression::kZstdLongWindow}) {
      for (const bool in_memory : {false, true}) {
        SCOPED_TRACE(absl::StrCat(static_cast<int>(mode), " ", static_cast<int>(compression), " ",
                                  in_memory));
        const TempDirectory directory;
        DatabaseOptions options;
        options.read_mode = mode;
        options.memory_budget = 16 << 20;
        options.log_segment_size = 64 << 10;
        ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(directory.database(), options));
        TableSchema schema;
        schema.locality_groups["default"] = {
            .compression = compression, .block_size = 1 << 10, .in_memory = in_memory};
        schema.families["f"] = {};
        ASSERT_OK(database->CreateTable("t", schema));
        ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
        for (int i = 0; i < 300; ++i) {
          const std::string row = absl::StrCat("row", 1000 + i);
          ASSERT_OK(table->Apply(RowMutation(row).Set("f:q", Timestamp(i), row)));
        }
        ASSERT_OK(database->Flush("t"));

        for (const bool verify : {false, true}) {
          for (const bool fill : {false, true}) {
            const ReadOptions read = {.verify_checksums = verify, .fill_cache = fill};
            int rows = 0;
            RowReader reader = table->ReadRows(RowRange::All(), read);
            for (const Row& row : reader) {
              ASSERT_EQ(row.cells().size(), 1u);
              EXPECT_EQ(row.cells()[0].value, row.key());
              ++rows;
            }
            EXPECT_OK(reader.status());
            EXPECT_EQ(rows, 300);
            EXPECT_EQ(Show(table->ReadRow("row1007", {}, read)), "f:q@7=row1007");
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace bigtable
