// MaxAge beside reads that are open: each read, and each snapshot, is one state of the database,
// also if cells expire meanwhile and flushes and compactions drop what has expired.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/remote_fixture.h"

namespace bigtable {
namespace {

// The rows a, b, m and n of "t" are in two tablets, in memory. Their cells expire at 6001.
class ExpiryReadsTest : public RemoteFixture {
 protected:
  void MakeTable(CompactionStyle style = CompactionStyle::kSizeTiered) {
    TableSchema schema;
    schema.locality_groups["default"] = {.compaction = style};
    schema.families["f"] = {.gc = GcRule::MaxAge(absl::Milliseconds(5))};
    ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"m"}}));
    t_ = OpenTable("t");
    for (const char* const row : {"a", "b", "m", "n"}) Set(t_, row, "f:q", 1000, "v");
    clock_.Set(6000);
  }
  // The cells are past their age, in files that were written after that.
  void Expire() {
    clock_.Set(6001);
    ASSERT_OK(database_->Flush("t"));
    ASSERT_OK(database_->Compact("t"));
  }
  std::shared_ptr<const Snapshot> Take() {
    absl::StatusOr<std::shared_ptr<const Snapshot>> snapshot = database_->TakeSnapshot();
    EXPECT_OK(snapshot);
    return *std::move(snapshot);
  }
  std::string Now() { return ShowKeys(t_->ReadRows(RowRange::All())); }
  int64_t Files() { return database_->Statistics().tables.at("t").at("default").files; }
  // Streams, single reads and scans, begun and not.
  void CheckReads() {
    RowReader fresh = t_->ReadRows(RowRange::All());
    RowReader begun = t_->ReadRows(RowRange::All(), {.reverse = true});
    ASSERT_TRUE(begun.Next());
    Scanner scanner(t_);
    ScanStream* const stream = scanner.FetchColumnFamily("f");
    ASSERT_FALSE(stream->Done());
    Scanner lookups(t_);
    ScanStream* const looked_up = lookups.FetchColumnFamily("f");
    lookups.Lookup("a");
    ASSERT_FALSE(looked_up->Done());
    std::shared_ptr<const Snapshot> snapshot = Take();
    EXPECT_EQ(Now(), "a b m n");

    Expire();
    EXPECT_EQ(Now(), "");
    EXPECT_EQ(Show(t_->ReadRow("n")), "");
    EXPECT_EQ(ShowKeys(std::move(fresh)), "a b m n");
    EXPECT_EQ(ShowKeys(std::move(begun)), "m b a");
    EXPECT_EQ(ShowStream(stream), "a/f:q@1000=v b/f:q@1000=v m/f:q@1000=v n/f:q@1000=v");
    lookups.Lookup("n");
    EXPECT_EQ(ShowStream(looked_up), "n/f:q@1000=v");
    const ReadOptions at{.snapshot = snapshot};
    EXPECT_EQ(ShowKeys(t_->ReadRows(RowRange::All(), at)), "a b m n");
    EXPECT_EQ(Show(t_->ReadRow("n", {}, at)), "f:q@1000=v");
    EXPECT_EQ(ShowKeys(t_->ReadRows(RowRange::Single("n"), at)), "n");
    Scanner scan(t_, at);
    EXPECT_EQ(ShowStream(scan.FetchColumnFamily("f")),
              "a/f:q@1000=v b/f:q@1000=v m/f:q@1000=v n/f:q@1000=v");
    EXPECT_EQ(Now(), "");
  }

  Table* t_ = nullptr;
};

TEST_F(ExpiryReadsTest, AReadIsOneStateAlsoIfItsCellsExpire) {
  Open();
  MakeTable();
  CheckReads();
  // Nothing reads as of an earlier time any more.
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Files(), 0);
}

TEST_F(ExpiryReadsTest, ByMessagesTheSame) {
  OpenRemotely(2, {});
  MakeTable();
  CheckReads();
}

TEST_F(ExpiryReadsTest, ATransactionReadsAsOfItsBeginning) {
  Open();
  MakeTable();
  absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
  ASSERT_OK(transaction);
  RowReader reader = transaction->ReadRows(t_, RowRange::All());
  Expire();
  ASSERT_OK(transaction->Apply(t_, RowMutation("b").Set("f:own", Timestamp(6000), "own")));
  EXPECT_EQ(Show(transaction->ReadRow(t_, "a")), "f:q@1000=v");
  EXPECT_EQ(Show(transaction->ReadRow(t_, "b")), "f:own@6000=own f:q@1000=v");
  EXPECT_EQ(ShowKeys(std::move(reader)), "a b m n");
  EXPECT_EQ(ShowKeys(transaction->ReadRows(t_, RowRange::All())), "a b m n");
  EXPECT_EQ(Now(), "");
}

TEST_F(ExpiryReadsTest, FilesThatASnapshotSeesAreNotDropped) {
  Open();
  MakeTable(CompactionStyle::kFifo);
  ASSERT_OK(database_->Flush("t"));
  std::shared_ptr<const Snapshot> snapshot = Take();
  clock_.Set(7000);
  Set(t_, "z", "f:q", 7000, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(ShowKeys(t_->ReadRows(RowRange::All(), {.snapshot = snapshot})), "a b m n");
  EXPECT_EQ(Files(), 3);
  snapshot = nullptr;
  Set(t_, "zz", "f:q", 7000, "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Now(), "z zz");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Files(), 1);
}

}  // namespace
}  // namespace bigtable
