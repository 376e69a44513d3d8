// A stream of rows builds each Row in the storage of the one before it. Whatever the read skips
// between two rows (deleted, expired, overwritten, dropped or filtered cells, cells later than the
// snapshot, other ranges or tablets), each cell has its own family and qualifier, as ReadRow
// returns it.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "support/database_fixture.h"

namespace bigtable {
namespace {

// The parameter: whether the rows are in a memtable or in an SSTable.
class RowStreamTest : public DatabaseFixture, public testing::WithParamInterface<bool> {
 protected:
  void Create(const TableSchema& schema) {
    Open();
    table_ = CreateTable("t", schema);
  }
  void Create() {
    TableSchema schema;
    for (const char* family : {"f", "g"}) schema.families[family] = {};
    Create(schema);
  }
  void SetCell(std::string_view row, std::string_view column, std::string_view value,
               int64_t timestamp = 1) {
    Set(table_, row, column, timestamp, value);
  }
  void Apply(const RowMutation& mutation) { ASSERT_OK(table_->Apply(mutation)); }
  void Written() {
    if (GetParam()) {
      ASSERT_OK(database_->Flush("t"));
    }
  }

  // "row f:q@1=v | row g:q@1=v": the whole stream.
  std::string Stream(const RowSet& rows = RowRange::All(), const ReadOptions& options = {},
                     const Filter& filter = Filter()) {
    std::string text;
    RowReader reader = table_->ReadRows(rows, filter, options);
    while (reader.Next()) {
      absl::StrAppend(&text, text.empty() ? "" : " | ", ToAbsl(reader.row().key()), " ",
                      Show(reader.row()));
    }
    EXPECT_OK(reader.status());
    return text;
  }

  Table* table_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(MemtableAndFile, RowStreamTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "File" : "Memtable"; });

TEST_P(RowStreamTest, AfterADeletedColumn) {
  Create();
  SetCell("user1", "f:email", "E1");
  SetCell("user1", "f:token", "T1");
  Apply(RowMutation("user1").Delete("f:token"));
  SetCell("user2", "f:token", "T2");
  SetCell("user3", "f:token", "T3");
  Written();
  EXPECT_EQ(Stream(), "user1 f:email@1=E1 | user2 f:token@1=T2 | user3 f:token@1=T3");
}

TEST_P(RowStreamTest, AfterADeletedCell) {
  Create();
  SetCell("user1", "f:email", "E1");
  SetCell("user1", "f:token", "T1");
  Apply(RowMutation("user1").DeleteCell("f:token", Timestamp(1)));
  SetCell("user2", "f:token", "T2");
  Written();
  EXPECT_EQ(Stream(), "user1 f:email@1=E1 | user2 f:token@1=T2");
}

TEST_P(RowStreamTest, AfterADeletedColumnOfAnotherFamily) {
  Create();
  SetCell("user1", "f:token", "T1");
  SetCell("user1", "g:token", "U1");
  Apply(RowMutation("user1").Delete("g:token"));
  SetCell("user2", "g:token", "U2");
  Written();
  EXPECT_EQ(Stream(), "user1 f:token@1=T1 | user2 g:token@1=U2");
}

TEST_P(RowStreamTest, AfterAnExpiredColumn) {
  clock_.Set(10'000);
  TableSchema schema;
  schema.families["f"] = {};
  schema.families["g"] = {.gc = GcRule::MaxAge(absl::Milliseconds(5))};
  Create(schema);
  SetCell("user1", "f:token", "T1");
  SetCell("user1", "g:token", "expired", 4999);
  SetCell("user2", "g:token", "U2", 5000);
  SetCell("user3", "g:token", "expired", 4999);
  SetCell("user4", "f:token", "T4");
  Written();
  EXPECT_EQ(Stream(), "user1 f:token@1=T1 | user2 g:token@5000=U2 | user4 f:token@1=T4");
}

TEST_P(RowStreamTest, AfterARowWithoutCells) {
  Create();
  SetCell("user1", "f:email", "E1");
  SetCell("user2", "f:token", "T2");
  Apply(RowMutation("user2").Delete("f:token"));
  SetCell("user3", "f:token", "T3");
  SetCell("user4", "g:token", "U4");
  Apply(RowMutation("user4").DeleteFamily("g"));
  SetCell("user5", "g:token", "U5");
  SetCell("user6", "f:name", "N6");
  Apply(RowMutation("user6").DeleteRow());
  SetCell("user7", "f:name", "N7");
  Written();
  EXPECT_EQ(Stream(),
            "user1 f:email@1=E1 | user3 f:token@1=T3 | user5 g:token@1=U5 | user7 f:name@1=N7");
}

TEST_P(RowStreamTest, AfterADroppedFamily) {
  Create();
  SetCell("user1", "f:token", "T1");
  SetCell("user1", "g:token", "dropped");
  Written();
  ASSERT_OK(database_->DropFamily("t", "g"));
  ASSERT_OK(database_->AddFamily("t", "g", {}));
  SetCell("user2", "g:token", "U2");
  Written();
  EXPECT_EQ(Stream(), "user1 f:token@1=T1 | user2 g:token@1=U2");
}

TEST_P(RowStreamTest, AfterACellLaterThanTheSnapshot) {
  Create();
  SetCell("user1", "f:email", "E1");
  SetCell("user2", "f:token", "T2");
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<const Snapshot> snapshot, database_->TakeSnapshot());
  SetCell("user1", "f:token", "later");
  Written();
  EXPECT_EQ(Stream(RowRange::All(), {.snapshot = snapshot}),
            "user1 f:email@1=E1 | user2 f:token@1=T2");
}

TEST_P(RowStreamTest, AfterAFilteredColumn) {
  Create();
  SetCell("user1", "f:email", "E1");
  SetCell("user1", "f:token", "out");
  SetCell("user2", "f:token", "T2");
  SetCell("user3", "f:email", "out");
  SetCell("user4", "f:email", "E4");
  Written();
  EXPECT_EQ(Stream(RowRange::All(), {}, Filter::ValueRegex("[ET][0-9]")),
            "user1 f:email@1=E1 | user2 f:token@1=T2 | user4 f:email@1=E4");
}

TEST_P(RowStreamTest, AcrossRangesAndSingleRows) {
  Create();
  SetCell("user1", "f:email", "E1");
  SetCell("user1", "f:token", "T1");
  Apply(RowMutation("user1").Delete("f:token"));
  SetCell("user2", "f:email", "not requested");
  SetCell("user3", "f:token", "T3");
  SetCell("user5", "f:name", "N5");
  SetCell("user5", "f:token", "T5");
  Apply(RowMutation("user5").Delete("f:token"));
  SetCell("user6", "f:token", "T6");
  Written();
  const std::string expected =
      "user1 f:email@1=E1 | user3 f:token@1=T3 | user5 f:name@1=N5 | user6 f:token@1=T6";
  RowSet singles_first;
  singles_first.Append("user1");
  singles_first.Append("user3");
  singles_first.Append(RowRange::RightOpen("user5", "user7"));
  EXPECT_EQ(Stream(singles_first), expected);
  RowSet ranges_first;
  ranges_first.Append(RowRange::RightOpen("user0", "user2"));
  ranges_first.Append(RowRange::RightOpen("user3", "user3z"));
  ranges_first.Append("user5");
  ranges_first.Append("user6");
  EXPECT_EQ(Stream(ranges_first), expected);
}

TEST_P(RowStreamTest, AcrossTablets) {
  Create();
  SetCell("user1", "f:email", "E1");
  SetCell("user1", "f:token", "T1");
  Apply(RowMutation("user1").Delete("f:token"));
  SetCell("user2", "f:token", "T2");
  SetCell("user2", "g:token", "U2");
  Apply(RowMutation("user2").Delete("g:token"));
  SetCell("user3", "g:token", "U3");
  Written();
  const std::string expected = "user1 f:email@1=E1 | user2 f:token@1=T2 | user3 g:token@1=U3";
  EXPECT_EQ(Stream(), expected);
  ASSERT_OK(database_->SplitTablet("t", "user2"));
  ASSERT_OK(database_->SplitTablet("t", "user3"));
  EXPECT_EQ(Stream(), expected);
}

}  // namespace
}  // namespace bigtable
