// When a flush syncs the log.
#include "tabletserver/flush_log_sync.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "commit/batch_log_sync.h"
#include "commit/batch_writer.h"
#include "commitlog/commit_log.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

class FlushLogSyncTest : public StartedServerFixture {
 protected:
  // The family "f" is in one group, and "g" in another.
  std::shared_ptr<Tablet> AddTabletOfTwoGroups() {
    TableSchema schema;
    schema.locality_groups["second"] = {};
    schema.families["f"] = {};
    schema.families["g"] = {.locality_group = "second"};
    const auto layout = MakeTableLayout("u", kOtherTableId, schema);
    absl::StatusOr<std::shared_ptr<Tablet>> tablet =
        Tablet::Open(server_->environment(), std::make_shared<const TableLayout>(*layout), {});
    EXPECT_OK(tablet);
    server_->AddTablet(*tablet);
    return *std::move(tablet);
  }
};

TEST_F(FlushLogSyncTest, TheLogIsSyncedOnlyForOlderMutationsThatAreStillNeeded) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  const auto flush = [&](Tablet* tablet) {
    server_->rotation().RotateAll(tablet);
    EXPECT_OK(background_.FlushNow(server_.get()));
    return server_->log().statistics().syncs;
  };
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  EXPECT_EQ(flush(tablet_.get()), 0u);  // the other tablet's mutation is newer
  ASSERT_OK(Write("row"));
  EXPECT_EQ(flush(tablet_.get()), 1u);
  EXPECT_EQ(flush(other.get()), 1u);  // nothing else is left
}

// If memtables became full one by one, each flush would find older mutations of the others.
TEST_F(FlushLogSyncTest, MemtablesRotatedTogetherAreFlushedWithoutASync) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  for (int i = 0; i < 4000; ++i) {
    ASSERT_OK(Write(absl::StrCat("row", i), std::string(1000, 'v')));
    if (i % 50 == 0) {
      ASSERT_OK(Write(absl::StrCat("row", i), "v", kOtherTableId));
    }
    ASSERT_EQ(tablet_->HasImmutable(0), other->HasImmutable(0));
    ASSERT_OK(background_.FlushNow(server_.get()));
  }
  EXPECT_GT(tablet_->Version()->groups()[0].runs.front().files.size(), 1u);
  EXPECT_GT(other->FlushedThrough(0), 0u);
  EXPECT_EQ(server_->log().statistics().syncs, 0u);
}

TEST_F(FlushLogSyncTest, WritesAfterTheRotationNeedNoSync) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->log().statistics().syncs, 0u);
  EXPECT_EQ(tablet_->FlushedThrough(0), 1u);
  EXPECT_EQ(other->FlushedThrough(0), 2u);
}

// The group that was rotated first has an active memtable with mutations that are older than the
// last ones of the group that was rotated later.
TEST_F(FlushLogSyncTest, MemtablesRotatedAtDifferentTimesNeedASync) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateAll(other.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
}

// The log has a batch as a whole or not at all, so what is flushed of it needs the rest.
TEST_F(FlushLogSyncTest, ALaterMutationOfAFlushedBatchNeedsASync) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  VoidBatches void_batches(nullptr);
  BatchLogSync links;
  BatchWriter writer(&sequences_, &void_batches, &links);
  std::string operations;
  AppendOperation(&operations, {.family = "f", .qualifier = "q", .value = "v"});
  const auto apply = [&](Durability durability) {
    const BatchMutation mutations[] = {
        {&server_->writer(), tablet_.get(), tablet_->writer()->layout(), {"row", operations}},
        {&server_->writer(), other.get(), other->writer()->layout(), {"row", operations}}};
    std::optional<size_t> superseded;
    return writer.Apply({.mutations = mutations, .durability = durability}, &superseded);
  };
  const auto flush = [&](Tablet* tablet) {
    server_->rotation().RotateAll(tablet);
    EXPECT_OK(background_.FlushNow(server_.get()));
    return server_->log().statistics().syncs;
  };
  // The mutation of the other tablet has the larger number.
  ASSERT_OK(apply(Durability::kBuffered));
  EXPECT_EQ(flush(tablet_.get()), 1u);
  EXPECT_EQ(flush(other.get()), 1u);  // nothing else is left
  // Together they need no sync, nor does a batch that is in no log.
  ASSERT_OK(apply(Durability::kBuffered));
  server_->rotation().RotateEverything();
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
  ASSERT_OK(apply(Durability::kNone));
  EXPECT_EQ(flush(tablet_.get()), 1u);
}

// The groups of a tablet may be too many for one commit to METADATA.
TEST_F(FlushLogSyncTest, ABatchOfOneTabletNeedsASyncForItsOtherGroups) {
  const std::shared_ptr<Tablet> tablet = AddTabletOfTwoGroups();
  std::string first, second;
  AppendOperation(&first, {.family = "f", .qualifier = "q", .value = "v"});
  AppendOperation(&second, {.family = "g", .qualifier = "q", .value = "v"});
  ASSERT_OK(Apply(kOtherTableId, {{"a", first}, {"b", second}}));
  server_->rotation().RotateAll(tablet.get());
  const std::vector<ImmutableMemtables> groups = ImmutableMemtablesOf(tablet);
  ASSERT_EQ(groups.size(), 2u);
  FlushLogSync sync(server_->environment(), &server_->tablets(), &server_->log(),
                    &server_->write_error(), nullptr);
  ASSERT_OK(sync.SyncFor(groups).status());
  EXPECT_EQ(server_->log().statistics().syncs, 0u);
  ASSERT_OK(sync.SyncFor({&groups[0], 1}).status());
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
}

TEST_F(FlushLogSyncTest, AMutationOfTwoGroupsNeedsASyncForTheOtherGroup) {
  const std::shared_ptr<Tablet> tablet = AddTabletOfTwoGroups();
  std::string operations;
  for (const char* const family : {"f", "g"}) {
    AppendOperation(&operations, {.family = family, .qualifier = "q", .value = "v"});
  }
  ASSERT_OK(Apply(kOtherTableId, {{"a", operations}}));
  server_->rotation().RotateAll(tablet.get());
  const std::vector<ImmutableMemtables> groups = ImmutableMemtablesOf(tablet);
  FlushLogSync sync(server_->environment(), &server_->tablets(), &server_->log(),
                    &server_->write_error(), nullptr);
  ASSERT_OK(sync.SyncFor({&groups[1], 1}).status());
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
}

TEST_F(FlushLogSyncTest, ASyncThatFailsLeavesNoFlushedFiles) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  faulty_.FailCalls({{FileCall::kLogSync}, {}}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
  EXPECT_STATUS(kUnavailable, "no sync", server_->write_error().status());
}

// A flush of another thread, such as that of a tablet that is loaded, has not all memtables.
TEST_F(FlushLogSyncTest, OnlyTheThreadThatResumesFlushesWithoutItsLog) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  faulty_.FailCalls({{FileCall::kLogSync}, {}}, absl::UnavailableError("no sync"));
  server_->write_error().BeginResume();
  absl::Status status;
  std::thread([&] { status = background_.FlushNow(server_.get()); }).join();
  EXPECT_STATUS(kUnavailable, "no sync", status);
  EXPECT_OK(background_.FlushNow(server_.get()));
}

TEST_F(FlushLogSyncTest, AfterAResumeThatHasFailedAFlushNeedsItsLogAgain) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  faulty_.FailCalls({{FileCall::kLogSync}, {}}, absl::UnavailableError("no sync"));
  server_->write_error().BeginResume();
  server_->write_error().EndResume();
  EXPECT_STATUS(kUnavailable, "no sync", background_.FlushNow(server_.get()));
}

// What is logged and not visible may be a part of a batch whose other parts are not logged yet: the
// sync of this log does not make it durable.
TEST_F(FlushLogSyncTest, ASyncMakesDurableOnlyWhatIsVisible) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(Write("row"));
  TabletEnvironment environment = *server_->environment();
  environment.visible = [] { return 2; };
  WriteError error(&environment, &info_log_);
  FlushLogSync sync(&environment, &server_->tablets(), &server_->log(), &error, nullptr);
  ASSERT_OK_AND_ASSIGN(const SequenceNumber through, sync.SyncFor(ImmutableMemtablesOf(tablet_)));
  EXPECT_EQ(through, 2u);
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
  ASSERT_OK(sync.SyncFor(ImmutableMemtablesOf(tablet_)).status());
  EXPECT_EQ(server_->log().statistics().syncs, 1u);  // it is durable
}

TEST_F(FlushLogSyncTest, AResumeWithoutItsLogAttestsNothing) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  faulty_.FailCalls({{FileCall::kLogSync}, {}}, absl::UnavailableError("no sync"));
  WriteError& error = server_->write_error();
  FlushLogSync sync(server_->environment(), &server_->tablets(), &server_->log(), &error, nullptr);
  error.BeginResume();
  ASSERT_OK_AND_ASSIGN(const SequenceNumber through, sync.SyncFor(ImmutableMemtablesOf(tablet_)));
  EXPECT_EQ(through, 0u);
  error.EndResume();
}

// The log of another server has a part of a batch and cannot be synced; this server's log follows
// the other part. An opening that was told that this log is durable would report DataLoss.
TEST_F(FlushLogSyncTest, AResumeThatIgnoresAnotherLogAttestsNothing) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  CommitLogOptions options;
  options.segment_size = 64 << 10;
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<CommitLog> other_log,
                       CommitLog::Create(&faulty_, "/other", options));
  const std::string_view part = "part";
  ASSERT_OK(other_log->Append(RecordType::kBatchPart, 1, {&part, 1}, nullptr));
  ASSERT_OK(other_log->Flush());
  ServingState other_state([] {});
  ServingState state([] {});
  BatchLogSync batches;
  WriteError other_error(server_->environment(), &info_log_);
  WriteError& error = server_->write_error();
  batches.Add({{other_log, &other_state, &other_error}, {server_->log().Get(), &state, &error}});
  faulty_.FailCalls({{FileCall::kLogSync}, "other"}, absl::UnavailableError("no sync"));
  FlushLogSync sync(server_->environment(), &server_->tablets(), &server_->log(), &error, &batches);
  EXPECT_STATUS(kUnavailable, "no sync", sync.SyncFor(ImmutableMemtablesOf(tablet_)).status());
  error.BeginResume();
  EXPECT_STATUS(kUnavailable, "no sync", sync.SyncFor(ImmutableMemtablesOf(tablet_)).status());
  other_error.BeginResume();
  ASSERT_OK_AND_ASSIGN(const SequenceNumber ignoring, sync.SyncFor(ImmutableMemtablesOf(tablet_)));
  EXPECT_EQ(ignoring, 0u);
  other_error.EndResume();
  error.EndResume();
  batches.Forget(&other_state);
  ASSERT_OK_AND_ASSIGN(const SequenceNumber through, sync.SyncFor(ImmutableMemtablesOf(tablet_)));
  EXPECT_EQ(through, 2u);
}

}  // namespace
}  // namespace bigtable
