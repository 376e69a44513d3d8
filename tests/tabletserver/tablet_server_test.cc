// How a server resumes writes after an error.
#include "tabletserver/tablet_server.h"

#include <memory>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

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

}  // namespace
}  // namespace bigtable
