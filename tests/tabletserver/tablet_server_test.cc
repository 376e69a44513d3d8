// The way of a write through a tablet server, when errors come and go.
#include "tabletserver/tablet_server.h"

#include <atomic>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

class TabletServerTest : public ServerFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(AddTablet());
    ASSERT_OK(server_->StartLog("server-1", "/log"));
  }
};

TEST_F(TabletServerTest, AWriteIsAcknowledgedOnlyIfItWasAppliedWhateverErrorsComeAndGo) {
  std::atomic<bool> done{false};
  std::thread errors([&] {
    while (!done) {
      server_->SetError(absl::UnavailableError("for a moment"));
      server_->BeginResume();
      EXPECT_OK(background_.FlushNow(server_.get()));
      EXPECT_OK(server_->FinishResume());
    }
  });
  uint64_t acknowledged = 0;
  for (const absl::Time end = absl::Now() + absl::Milliseconds(300); absl::Now() < end;) {
    for (int i = 0; i < 1000; ++i) acknowledged += Write("row").ok() ? 1 : 0;
  }
  done = true;
  errors.join();
  EXPECT_GT(acknowledged, 0u);
  EXPECT_EQ(server_->rows_written(), acknowledged);
}

TEST_F(TabletServerTest, TheLogIsSyncedOnlyForOlderMutationsThatAreStillNeeded) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  const auto flush = [&](Tablet* tablet) {
    server_->FreezeAll(tablet);
    EXPECT_OK(background_.FlushNow(server_.get()));
    return server_->LogStatistics().syncs;
  };
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  EXPECT_EQ(flush(tablet_.get()), 0u);  // the other tablet's is younger
  ASSERT_OK(Write("row"));
  EXPECT_EQ(flush(tablet_.get()), 1u);
  EXPECT_EQ(flush(other.get()), 1u);  // nothing else is left
}

TEST_F(TabletServerTest, ASyncThatFailsLeavesNothingOfWhatWasWrittenOut) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  server_->FreezeAll(tablet_.get());
  faulty_.FailCalls({{FileCall::kLogSync}, {}}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
}

TEST_F(TabletServerTest, AnSSTableThatCannotBeOpenedIsRemoved) {
  ASSERT_OK(Write("row"));
  server_->FreezeAll(tablet_.get());
  faulty_.FailCalls({{FileCall::kNewRandomAccessFile}, {}}, absl::UnavailableError("no open"));
  EXPECT_STATUS(kUnavailable, "no open", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
}

// Readers that keep old memtables keep their log segments too, and this must not make the server
// write out what is new.
TEST_F(TabletServerTest, SegmentsThatReadersKeepDoNotFreezeMemtables) {
  std::vector<Pin<TabletVersion>> kept;
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < 6; ++j) ASSERT_OK(Write(absl::StrCat("row", j), std::string(10000, 'v')));
    kept.push_back(tablet_->Version());
    server_->FreezeAll(tablet_.get());
    ASSERT_OK(background_.FlushNow(server_.get()));
  }
  ASSERT_GT(server_->LogBytes(), uint64_t{1} << 20);
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(Write("row", std::string(10000, 'v')));
    ASSERT_FALSE(server_->HasFrozen()) << i;
  }
}

TEST_F(TabletServerTest, ALogThatIsTooLongFreezesWhatNeedsItsBeginning) {
  ASSERT_OK(Write("row", "old"));
  // Memtables of other tablets would not be full either.
  for (int i = 0; i < 90 && !server_->HasFrozen(); ++i) {
    ASSERT_OK(Write("row", std::string(10000, 'v')));
  }
  ASSERT_FALSE(server_->HasFrozen());
  for (int i = 0; i < 30 && !server_->HasFrozen(); ++i) {
    ASSERT_OK(Write("row", std::string(10000, 'v')));
  }
  EXPECT_TRUE(server_->HasFrozen());
}

}  // namespace
}  // namespace bigtable
