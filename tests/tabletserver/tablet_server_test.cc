// How a server resumes writes after an error.
#include "tabletserver/tablet_server.h"

#include <cstdint>
#include <memory>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/steady_time.h"
#include "support/expect_status.h"
#include "support/limited_store.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

using TabletServerTest = StartedServerFixture;

TEST_F(TabletServerTest, AFlushThatMetadataMayHaveTakenStopsWritesUntilResume) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateEverything();
  LimitedStore store(&root_, 1);
  store.status = absl::UnavailableError("no METADATA");
  server_->mutable_environment()->store = &store;
  EXPECT_OK(background_.Start({server_.get()}, 1, nullptr));
  for (int i = 0; i < 20000 && server_->write_error().status().ok(); ++i)
    absl::SleepFor(absl::Milliseconds(1));
  EXPECT_STATUS(kUnavailable, "no METADATA", server_->write_error().status());
  EXPECT_STATUS(kUnavailable, "no METADATA", Write("row"));
  EXPECT_EQ(store.commits, 1);  // it is not retried
  store.status = absl::OkStatus();
  ASSERT_OK(server_->BeginResume({}));
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(server_->FinishResume({}));
  EXPECT_OK(Write("row"));
  background_.Stop();
}

TEST_F(TabletServerTest, AServerThatHasEndedDoesNotResume) {
  ASSERT_OK(Write("row"));
  server_->write_error().Set(absl::InternalError("a fault"));
  server_->state().MarkEnded();
  const SequenceNumber visible = server_->visible();
  server_->AdvanceVisible(visible + 10);
  EXPECT_EQ(server_->visible(), visible);
  ASSERT_OK(server_->BeginResume({}));
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_STATUS(kUnavailable, "has lost its lock", server_->FinishResume({}));
  EXPECT_STATUS(kInternal, "a fault", server_->write_error().status());
}

// Nothing names the log of a server that has not started.
TEST_F(TabletServerTest, AServerThatCannotStartLeavesNoLogAndDoesNotTakeThatOfAnother) {
  const std::unique_ptr<TabletServer> other = MakeServer();
  EXPECT_STATUS(kAlreadyExists, "there is a commit log in /log", other->Start("server-2", "/log"));
  EXPECT_TRUE(file_system_.FileExists("/log"));
  EXPECT_OK(Write("row"));
  EXPECT_OK(server_->log().Get()->Sync());
  for (const FileCall call : {FileCall::kNewLogFile, FileCall::kSyncDirectory}) {
    faulty_.CountCalls({{call}, "/other"});
    faulty_.FailCall(1, absl::UnavailableError("a fault"));
    EXPECT_STATUS(kUnavailable, "a fault", other->Start("server-2", "/other"));
    EXPECT_FALSE(other->log().started());
    EXPECT_FALSE(file_system_.FileExists("/other"));
  }
  faulty_.ClearFaults();
  ASSERT_OK(other->Start("server-2", "/other"));
  EXPECT_TRUE(other->log().started());
  EXPECT_EQ(other->name(), "server-2");
}

TEST_F(TabletServerTest, AFreshSegmentThatCannotBeStartedStopsWritesUntilResumeOnlyIfTheLogFailed) {
  ASSERT_OK(Write("row"));
  faulty_.FailCalls({{FileCall::kNewLogFile}, "/log"}, absl::UnavailableError("no file"));
  EXPECT_STATUS(kUnavailable, "no file", server_->StartFreshLogSegment({}));
  faulty_.ClearFaults();
  EXPECT_OK(server_->write_error().status());
  EXPECT_OK(Write("row"));
  server_->log().appending()->Fail(absl::UnavailableError("a fault"));
  EXPECT_STATUS(kUnavailable, "a fault", server_->StartFreshLogSegment({}));
  EXPECT_STATUS(kUnavailable, "a fault", server_->write_error().status());
  ASSERT_OK(server_->BeginResume({}));
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(server_->FinishResume({}));
  EXPECT_OK(server_->StartFreshLogSegment({}));
  EXPECT_OK(Write("row"));
}

// A turn among the writes of a server, which lasts until End().
class HeldTurn {
 public:
  explicit HeldTurn(TabletServer* server)
      : thread_([this, server] {
          server->writer().queue()->RunExclusive([&] {
            begun_.Notify();
            ends_.WaitForNotification();
          });
        }) {}
  HeldTurn(const HeldTurn&) = delete;
  HeldTurn& operator=(const HeldTurn&) = delete;
  ~HeldTurn() { End(); }
  void AwaitBegin() const { begun_.WaitForNotification(); }
  void End() {
    if (!thread_.joinable()) return;
    ends_.Notify();
    thread_.join();
  }

 private:
  absl::Notification begun_;
  absl::Notification ends_;
  std::thread thread_;
};

TEST_F(TabletServerTest, AFreshSegmentIsWaitedForBesideAStalledTurnForFourStallTimeouts) {
  ASSERT_OK(Write("row"));
  const std::shared_ptr<CommitLog> log = server_->log().Get();
  const uint64_t needed = log->NeededBytes();
  HeldTurn turn(server_.get());
  turn.AwaitBegin();
  const CallLimits soon{.deadline = Deadline::In(absl::Milliseconds(5))};
  EXPECT_STATUS(kDeadlineExceeded, "", server_->StartFreshLogSegment(soon));
  const absl::Duration most = 4 * log->StallTimeout(absl::ZeroDuration());
  const SteadyTime before = SteadyTime::Now();
  EXPECT_STATUS(kUnavailable, "the log of server server-1 stalls",
                server_->StartFreshLogSegment({}));
  EXPECT_GE(SteadyTime::Now() - before, most);
  turn.End();
  EXPECT_EQ(log->NeededBytes(), needed);
  EXPECT_OK(server_->StartFreshLogSegment({}));
  EXPECT_GT(log->NeededBytes(), needed);
  EXPECT_OK(Write("row"));
}

TEST_F(TabletServerTest, AFreshSegmentIsNotStartedIfItsTurnDoesNotComeWithinTheLimits) {
  ASSERT_OK(Write("row"));
  const std::shared_ptr<CommitLog> log = server_->log().Get();
  const uint64_t needed = log->NeededBytes();
  auto first = std::make_unique<HeldTurn>(server_.get());
  first->AwaitBegin();
  HeldTurn second(server_.get());
  std::thread ending([&] {
    absl::SleepFor(absl::Milliseconds(20));
    first->End();
  });
  // It waits in the queue behind the second turn, since the first has ended.
  const CallLimits limits{.deadline = Deadline::In(absl::Milliseconds(60))};
  const absl::Status started = server_->StartFreshLogSegment(limits);
  ending.join();
  second.End();
  if (started.ok()) {  // it came before the second
    EXPECT_GT(log->NeededBytes(), needed);
  } else {
    EXPECT_STATUS(kDeadlineExceeded, "", started);
    EXPECT_EQ(log->NeededBytes(), needed);
  }
}

}  // namespace
}  // namespace bigtable
