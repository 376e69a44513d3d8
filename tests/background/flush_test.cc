// A flush of several tablets: committed together or in parts, and after failures.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/testing/manual_clock.h"

#include "background/minor_compaction.h"
#include "support/expect_status.h"
#include "support/limited_store.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

using FlushTest = StartedServerFixture;

TEST_F(FlushTest, ATabletThatIsRemovedMeanwhileIsSkipped) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  MinorCompaction compaction(server_->environment(), server_->rotation().MemtablesToFlush());
  server_->RemoveTablet(other->id());
  ASSERT_OK(compaction.Run());
  EXPECT_OK(compaction.parts()[0].status);
  EXPECT_STATUS(kCancelled, "", compaction.parts()[1].status);
  EXPECT_EQ(tablet_->FlushedThrough(0), 1u);
  EXPECT_TRUE(other->HasImmutable(0));
}

// So the statistics have the flush when a call that waited for it returns.
TEST_F(FlushTest, IsCountedBeforeItsSSTablesArePublished) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateEverything();
  int counted = 0;
  const auto count = [&](const MinorCompaction::GroupFlush& part) {
    ++counted;
    EXPECT_OK(part.status);
    EXPECT_GT(part.outcome.bytes_written, 0u);
    EXPECT_GT(part.nanos, 0);
    EXPECT_EQ(tablet_->FlushedThrough(0), 0u);
  };
  MinorCompaction compaction(server_->environment(), server_->rotation().MemtablesToFlush(), count);
  ASSERT_OK(compaction.Run());
  EXPECT_EQ(counted, 1);
  EXPECT_EQ(tablet_->FlushedThrough(0), 1u);
}

// The memtables that a split rotates wait for others to be due, which may never be.
TEST_F(FlushTest, AFlushOfTheServerDoesNotWaitForASplitMeanwhile) {
  ASSERT_OK(background_.Start({server_.get()}, 1, [] {}));
  ASSERT_OK(Write("a"));
  ASSERT_OK(Write("z"));
  std::vector<std::shared_ptr<Tablet>> halves;
  on_wake_ = [&] {
    ASSERT_OK(Write("a", "later"));
    server_->SplitTablet(tablet_, "m", [&](const Tablet::Halves& split) {
      halves = {split.left, split.right};
    });
  };
  ASSERT_OK(background_.FlushServer(server_.get(), {.deadline = Deadline::In(absl::Seconds(20))}));
  ASSERT_EQ(halves.size(), 2U);
  for (const std::shared_ptr<Tablet>& half : halves) {
    EXPECT_EQ(half->FlushedThrough(0), 2U) << "of the two writes before";
  }
  EXPECT_TRUE(halves[0]->HasImmutable(0)) << "with the third";
}

// A server that loads the tablet gives its mutations larger ones, even if its clock is behind.
TEST_F(FlushTest, TheLastTimestampIsKeptWithTheFile) {
  ASSERT_OK(Write("row"));
  EXPECT_EQ(root_.state().last_timestamp, 0);
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(root_.state().last_timestamp, 0);  // nothing was rotated
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_GT(root_.state().last_timestamp, 0);
  EXPECT_EQ(root_.state().last_timestamp, tablet_->writer()->last_timestamp());
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<Tablet> loaded,
                       Tablet::Open(server_->environment(), tablet_->Layout(), root_.state()));
  EXPECT_EQ(loaded->writer()->last_timestamp(), tablet_->writer()->last_timestamp());
}

TEST_F(FlushTest, AFileThatCannotBeWrittenLeavesNoOtherFiles) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  faulty_.FailCalls({{FileCall::kNewWritableFile}, "/2.sst"}, absl::UnavailableError("no file"));
  EXPECT_STATUS(kUnavailable, "no file", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
  EXPECT_TRUE(tablet_->HasImmutable(0));
  faulty_.ClearFaults();
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_FALSE(server_->rotation().HasImmutable());
}

TEST_F(FlushTest, ADirectoryThatCannotBeSyncedLeavesNoFiles) {
  AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  faulty_.FailCalls({{FileCall::kSyncDirectory}, {}}, absl::UnavailableError("no directory"));
  EXPECT_STATUS(kUnavailable, "no directory", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
  EXPECT_FALSE(file_system_.FileExists("/2.sst"));
  EXPECT_TRUE(tablet_->HasImmutable(0));
  faulty_.ClearFaults();
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_FALSE(server_->rotation().HasImmutable());
}

TEST_F(FlushTest, AnSSTableThatCannotBeOpenedIsRemoved) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  faulty_.FailCalls({{FileCall::kNewRandomAccessFile}, {}}, absl::UnavailableError("no open"));
  EXPECT_STATUS(kUnavailable, "no open", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
}

TEST_F(FlushTest, OfAFlushThatFailsOnlyTheMemtablesItBeganAreCounted) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  faulty_.FailCalls({{FileCall::kNewWritableFile}, {}}, absl::UnavailableError("no file"));
  EXPECT_STATUS(kUnavailable, "no file", background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->Statistics().minor.failed, 1u);
  faulty_.ClearFaults();
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->Statistics().minor.failed, 1u);
  EXPECT_EQ(server_->Statistics().minor.finished, 2u);
}

TEST_F(FlushTest, ChangesThatMetadataDoesNotTakeTogetherAreCommittedOneByOneAfterASync) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  LimitedStore store(&root_, 1);
  server_->mutable_environment()->store = &store;
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(store.commits, 2);
  EXPECT_EQ(server_->log().statistics().syncs, 1u);  // the second commit finds no other memtable
}

TEST_F(FlushTest, ChangesThatMetadataTakesInPartsNeedOneSync) {
  for (uint64_t id = kOtherTableId; id < kOtherTableId + 4; ++id) AddOtherTablet(id);
  for (int round = 0; round < 2; ++round) {
    for (uint64_t id = kTableId; id < kOtherTableId + 4; ++id) ASSERT_OK(Write("row", "v", id));
  }
  server_->rotation().RotateEverything();
  LimitedStore store(&root_, 2);
  store.meanwhile = [&] { ASSERT_OK(Write("row")); };  // no flush needs it in the log
  server_->mutable_environment()->store = &store;
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_FALSE(server_->rotation().HasImmutable());
  EXPECT_EQ(store.commits, 3);
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
}

TEST_F(FlushTest, ChangesThatMetadataDoesNotTakeTogetherAnyMoreAreCommittedInParts) {
  for (uint64_t id = kOtherTableId; id < kOtherTableId + 4; ++id) AddOtherTablet(id);
  for (int round = 0; round < 2; ++round) {
    for (uint64_t id = kTableId; id < kOtherTableId + 4; ++id) ASSERT_OK(Write("row", "v", id));
  }
  server_->rotation().RotateEverything();
  LimitedStore store(&root_, 100);
  store.most_by_now = 2;
  server_->mutable_environment()->store = &store;
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_FALSE(server_->rotation().HasImmutable());
  // 5, 3 and 2 of the five; 3 and 2 of the other three; the last one.
  EXPECT_EQ(store.commits, 6);
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
}

TEST_F(FlushTest, ChangesThatMetadataDoesNotTakeTogetherAnyMoreAreAtLastCommittedOneByOne) {
  AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  server_->rotation().RotateEverything();
  LimitedStore store(&root_, 100);
  store.most_by_now = 1;
  server_->mutable_environment()->store = &store;
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_FALSE(server_->rotation().HasImmutable());
  EXPECT_EQ(store.commits, 3);  // both, the first, and the second
}

// The first change may have been committed, so its file stays. The files of the others are removed.
TEST_F(FlushTest, ACommitThatFailsLeavesTheFilesThatMetadataMayName) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  LimitedStore store(&root_, 1);
  store.status = absl::UnavailableError("no METADATA");
  server_->mutable_environment()->store = &store;
  EXPECT_STATUS(kUnavailable, "no METADATA", background_.FlushNow(server_.get()));
  EXPECT_TRUE(file_system_.FileExists("/1.sst"));
  EXPECT_FALSE(file_system_.FileExists("/2.sst"));
  EXPECT_TRUE(tablet_->HasImmutable(0));
}

TEST_F(FlushTest, AChangeThatMetadataHasCertainlyNotTakenIsFlushedAgain) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateEverything();
  LimitedStore store(&root_, 1);
  store.status = absl::ResourceExhaustedError("no room in METADATA's log");
  store.is_in_doubt = false;
  server_->mutable_environment()->store = &store;
  EXPECT_STATUS(kResourceExhausted, "no room", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
  EXPECT_TRUE(tablet_->HasImmutable(0));
  EXPECT_TRUE(background_.IsFlushFailing(server_.get()));
  store.status = absl::OkStatus();
  EXPECT_OK(background_.Start({server_.get()}, 1, nullptr));
  AwaitFlushed(*tablet_);
  EXPECT_OK(server_->write_error().status());
  background_.Stop();
  EXPECT_FALSE(background_.IsFlushFailing(server_.get()));
}

// --- Cells of the future ---

class FutureCellsOfAFlushTest : public FlushTest {
 protected:
  // Of a flush of a table with this rule that has a cell so far ahead of the clock.
  bool HasFutureCells(const GcRule& rule, absl::Duration ahead) {
    TableSchema schema;
    schema.families["f"] = {.gc = rule};
    absl::StatusOr<TableLayout> layout = MakeTableLayout("u", next_id_, schema);
    EXPECT_OK(layout);
    server_->mutable_environment()->clock = &manual_;
    absl::StatusOr<std::shared_ptr<Tablet>> tablet =
        Tablet::Open(server_->environment(), std::make_shared<const TableLayout>(*layout), {});
    EXPECT_OK(tablet);
    server_->AddTablet(*tablet);
    std::string operations;
    const int64_t timestamp = absl::ToUnixMicros(TimeBeforeLayout(*server_->environment()) + ahead);
    AppendOperation(&operations, {.has_timestamp = true,
                                  .timestamp = timestamp,
                                  .family = "f",
                                  .qualifier = "q",
                                  .value = "v"});
    EXPECT_OK(Apply(next_id_++, {{"row", operations}}));
    server_->rotation().RotateAll(tablet->get());
    MinorCompaction compaction(server_->environment(), server_->rotation().MemtablesToFlush());
    EXPECT_OK(compaction.Run());
    return compaction.parts()[0].HasFutureCells();
  }

  ManualClock manual_{absl::FromUnixSeconds(1'000'000)};
  uint64_t next_id_ = 100;
};

TEST_F(FutureCellsOfAFlushTest, AreThoseOfMoreThanADayAheadWhoseVersionsAreCounted) {
  const GcRule versions = GcRule::MaxVersions(1);
  EXPECT_FALSE(HasFutureCells(versions, absl::Hours(24)));
  EXPECT_TRUE(HasFutureCells(versions, absl::Hours(24) + absl::Microseconds(1)));
  EXPECT_FALSE(HasFutureCells(GcRule::MaxAge(absl::Hours(1)), absl::Hours(48)));
}

}  // namespace
}  // namespace bigtable
