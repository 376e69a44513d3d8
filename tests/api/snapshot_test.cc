// Snapshots.
#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "api/read_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class SnapshotTest : public ReadFixture {};

TEST_F(SnapshotTest, ASnapshotSeesEarlierWritesAndNoLaterOnes) {
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

TEST_F(SnapshotTest, ASnapshotKeepsVersionsFromGarbageCollection) {
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

TEST_F(SnapshotTest, SequenceNumbersOfSnapshotsIncreaseWithWrites) {
  ASSERT_OK_AND_ASSIGN(const auto first, database_->TakeSnapshot());
  Set(table_, "r", "meta:q", 1, "v");
  ASSERT_OK_AND_ASSIGN(const auto second, database_->TakeSnapshot());

  EXPECT_LT(first->sequence(), second->sequence());
}

TEST_F(SnapshotTest, ASnapshotOfAnotherDatabaseIsInvalidArgument) {
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

TEST_F(SnapshotTest, ASnapshotCoversAllTables) {
  Table* const other = CreateTable("u", {"f"});
  Set(table_, "r", "meta:q", 1, "v1");
  Set(other, "r", "f:q", 1, "w1");
  ASSERT_OK_AND_ASSIGN(const auto snapshot, database_->TakeSnapshot());
  Set(table_, "r", "meta:q", 1, "v2");
  Set(other, "r", "f:q", 1, "w2");

  EXPECT_EQ(Show(table_->ReadRow("r", {}, {.snapshot = snapshot})), "meta:q@1=v1");
  EXPECT_EQ(Show(other->ReadRow("r", {}, {.snapshot = snapshot})), "f:q@1=w1");
}

}  // namespace
}  // namespace bigtable
