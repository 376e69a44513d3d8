// Table::Get, ReadRow and ReadRows.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "api/read_fixture.h"
#include "support/expect_status.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

using namespace std::string_literals;

using ReadTest = ReadFixture;

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

TEST_F(ReadTest, GetOfAMissingRowOrColumnIsNotFound) {
  WritePage();
  EXPECT_STATUS(kNotFound, "row \"com.cnn.www\" has no cell in column \"anchor:nobody\"",
                table_->Get("com.cnn.www", "anchor:nobody").status());
  EXPECT_STATUS(kNotFound, "row \"nothing\"", table_->Get("nothing", "contents:").status());
  EXPECT_STATUS(kInvalidArgument, "family:qualifier", table_->Get("r", "contents").status());
  EXPECT_STATUS(kInvalidArgument, "empty", table_->Get("", "contents:").status());
}

// --- One row ---

TEST_F(ReadTest, AnEmptyRowHasTheRequestedKey) {
  ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("nothing"));

  EXPECT_TRUE(row.empty());
  EXPECT_EQ(row.key(), "nothing");
  EXPECT_EQ(row.cells().size(), 0u);
}

TEST_F(ReadTest, CellsAreOrderedByFamilyThenQualifierThenNewestTimestamp) {
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

TEST_F(ReadTest, ARowKeepsItsCellsDuringLaterWritesAndCompactions) {
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

// --- Several rows ---

TEST_F(ReadTest, EachKindOfRangeHasItsRows) {
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

TEST_F(ReadTest, ARowSetReturnsEachRowOnceAndInOrder) {
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

TEST_F(ReadTest, RowsWithoutCellsAreNeitherReturnedNorCounted) {
  WriteRows({"a", "b", "c", "d"});
  ASSERT_OK(table_->Apply(RowMutation("b").DeleteRow()));
  Set(table_, "c", "anchor:q", 1, "v");
  ASSERT_OK(table_->Apply(RowMutation("c").DeleteFamily("meta")));

  EXPECT_EQ(Keys(RowRange::All(), {.row_limit = 2}), "a c");
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All(), Filter::Family("meta"), {.row_limit = 2})),
            "a d");
}

TEST_F(ReadTest, ReverseReadsKeepTheOrderOfCells) {
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

TEST_F(ReadTest, TakeRowGivesTheRowToTheCaller) {
  WriteRows({"a", "b", "c"});
  RowReader reader = table_->ReadRows(RowRange::All());
  std::vector<Row> rows;
  while (reader.Next()) rows.push_back(reader.TakeRow());

  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].key(), "a");
  EXPECT_EQ(rows[2].key(), "c");
  EXPECT_EQ(Show(rows[0]), "meta:q@1=v");
  EXPECT_FALSE(reader.Next());  // it stays at its end
}

TEST_F(ReadTest, AReaderSeesOneSnapshot) {
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

TEST_F(ReadTest, AReadersSnapshotIsTakenInTheCallNotAtTheFirstRow) {
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

// --- Ways to read blocks ---

TEST(ReadSettingsTest, AllWaysToReadBlocksReturnTheSameRows) {
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
