// Flushes beside a claimed tablet.
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/steady_time.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

using FlushClaimTest = StartedServerFixture;

TEST_F(FlushClaimTest, AFlushOfTheServerWaitsForAClaimedTablet) {
  ASSERT_OK(Write("row"));
  ASSERT_OK(background_.ClaimTablet(tablet_.get(), {}));
  std::atomic<bool> done{false};
  std::thread flush([&] {
    EXPECT_OK(background_.FlushNow(server_.get()));
    done = true;
  });
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_FALSE(done);
  background_.ReleaseTablet(tablet_.get());
  flush.join();
}

TEST_F(FlushClaimTest, ARequestWaitsUntilTheServerIsFlushed) {
  ASSERT_OK(Write("row"));
  ASSERT_OK(background_.ClaimTablet(tablet_.get(), {}));
  EXPECT_OK(background_.Start({server_.get()}, 0, nullptr));
  std::atomic<bool> done{false};
  std::thread request([&] {
    EXPECT_OK(background_.FlushServer(server_.get(), {}));
    done = true;
  });
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_FALSE(done);
  background_.ReleaseTablet(tablet_.get());
  request.join();
  EXPECT_FALSE(tablet_->HasImmutable(0));
  background_.Stop();
}

TEST_F(FlushClaimTest, AClaimedTabletIsNotCompacted) {
  const auto runs = [&] { return tablet_->Version()->groups()[0].runs.size(); };
  for (int i = 0; i < 12; ++i) {
    ASSERT_OK(Write("row"));
    server_->rotation().RotateAll(tablet_.get());
    ASSERT_OK(background_.FlushNow(server_.get()));
  }
  ASSERT_EQ(runs(), 12u);
  ASSERT_OK(background_.ClaimTablet(tablet_.get(), {}));
  EXPECT_OK(background_.Start({server_.get()}, 1, nullptr));
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_EQ(runs(), 12u);
  background_.ReleaseTablet(tablet_.get());
  for (int i = 0; i < 20000 && runs() == 12; ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_LT(runs(), 12u);
  background_.Stop();
}

// Together with that tablet, the flush needs no sync of the log.
TEST_F(FlushClaimTest, ABackgroundFlushWaitsALittleForAClaimedTablet) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(background_.ClaimTablet(other.get(), {}));
  EXPECT_OK(background_.Start({server_.get()}, 0, nullptr));
  server_->rotation().RotateEverything();
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_TRUE(tablet_->HasImmutable(0));
  background_.ReleaseTablet(other.get());
  AwaitFlushed(*tablet_);
  AwaitFlushed(*other);
  EXPECT_EQ(server_->log().statistics().syncs, 0u);
}

// Even if another server's memtables are flushed all the time.
TEST_F(FlushClaimTest, ABackgroundFlushDoesNotWaitLongForAClaimedTablet) {
  const std::shared_ptr<Tablet> claimed = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  const std::unique_ptr<TabletServer> busy = MakeServer();
  ASSERT_OK(busy->Start("server-2", "/log2"));
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<Tablet> busy_tablet,
                       Tablet::Open(busy->environment(), tablet_->Layout(), {}));
  busy->AddTablet(busy_tablet);
  ASSERT_OK(background_.ClaimTablet(claimed.get(), {}));
  EXPECT_OK(background_.Start({busy.get(), server_.get()}, 0, nullptr));
  server_->rotation().RotateEverything();
  const SteadyTime start = SteadyTime::Now();
  std::string operations;
  AppendOperation(&operations, {.family = "f", .qualifier = "q", .value = "v"});
  while (tablet_->HasImmutable(0) && SteadyTime::Now() < start + absl::Seconds(20)) {
    busy->writer().ApplyInMemory(busy_tablet.get(), {"row", operations});
    busy->rotation().RotateEverything();
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_FALSE(tablet_->HasImmutable(0));
  EXPECT_TRUE(claimed->HasImmutable(0));
  background_.ReleaseTablet(claimed.get());
  background_.Stop();
}

}  // namespace
}  // namespace bigtable
