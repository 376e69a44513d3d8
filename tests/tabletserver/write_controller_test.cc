// When writers are let through, slowed and held back. Memory is charged by hand, so that the
// pressure is exactly what the test says.
#include "tabletserver/write_controller.h"

#include <cstdint>
#include <thread>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

constexpr uint64_t kLimit = ServerFixture::kLimit;
constexpr int64_t kSoft = kLimit / 2;
constexpr int64_t kHard = kLimit / 8 * 5;

class WriteControllerTest : public ServerFixture {
 protected:
  void SetUp() override { budget_->AddHolder(&controller_); }
  void TearDown() override { budget_->RemoveHolder(&controller_); }

  void SetMemory(int64_t bytes) {
    budget_->Charge(MemoryBudget::Use::kMemtables,
                    bytes - static_cast<int64_t>(budget_->used(MemoryBudget::Use::kMemtables)));
  }
  // A tablet with something to write out, which nobody does as long as background_ is not started.
  void AddFrozenTablet() {
    ASSERT_NO_FATAL_FAILURE(AddTablet());
    ASSERT_OK(server_->StartLog("server-1", "/log"));
    ASSERT_OK(Write("row"));
    server_->FreezeAll(tablet_.get());
    ASSERT_TRUE(server_->HasFrozen());
  }

  WriteController controller_{budget_.get(), server_.get(), &background_};
};

TEST_F(WriteControllerTest, FarFromItsLimitsItLetsEverythingThroughAtOnce) {
  SetMemory(kSoft - 1);
  // Not even the limits of the call are looked at.
  Cancellation cancelled;
  cancelled.Cancel();
  EXPECT_OK(controller_.Admit(UINT64_MAX, {absl::InfinitePast(), &cancelled}));
  EXPECT_EQ(controller_.reason(), StallReason::kNone);
  EXPECT_EQ(controller_.delay(), absl::ZeroDuration());
  EXPECT_EQ(controller_.total_delay(), absl::ZeroDuration());
}

TEST_F(WriteControllerTest, TheNearerTheLimitTheLongerAByteTakes) {
  absl::Duration last = absl::ZeroDuration();
  for (int step = 1; step <= 8; ++step) {
    SetMemory(kSoft + (kHard - kSoft) * step / 8);
    EXPECT_EQ(controller_.reason(), StallReason::kMemory);
    EXPECT_GT(controller_.delay(), last) << step;
    last = controller_.delay();
  }
  EXPECT_EQ(last, absl::Milliseconds(1));  // for a thousand bytes: a megabyte a second
  SetMemory(kHard * 2);
  EXPECT_EQ(controller_.delay(), last);
}

TEST_F(WriteControllerTest, AWriteUnderPressureTakesAsLongAsIsSaid) {
  SetMemory(kHard - 1);
  const absl::Duration delay = controller_.delay() * 50;  // of fifty thousand bytes
  const absl::Time start = absl::Now();
  EXPECT_OK(controller_.Admit(50000, {}));
  EXPECT_GE(absl::Now() - start, delay * 0.9);
  EXPECT_GE(controller_.total_delay(), delay * 0.9);
  SetMemory(0);
  EXPECT_EQ(controller_.reason(), StallReason::kNone);
}

TEST_F(WriteControllerTest, SmallDelaysAddUpAcrossWriters) {
  SetMemory(kHard - 1);
  const absl::Time start = absl::Now();
  for (int i = 0; i < 500; ++i) ASSERT_OK(controller_.Admit(100, {}));  // a tenth of a ms each
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(40));
}

TEST_F(WriteControllerTest, TheDeadlineEndsTheWait) {
  SetMemory(kHard - 1);
  const absl::Time start = absl::Now();
  EXPECT_STATUS(kDeadlineExceeded, "held back",
                controller_.Admit(60 << 20, {start + absl::Milliseconds(30), nullptr}));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(30));
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));  // of the minute that it would have taken
}

TEST_F(WriteControllerTest, ACancellationEndsTheWait) {
  SetMemory(kHard - 1);
  Cancellation cancellation;
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(30));
    cancellation.Cancel();
  });
  const absl::Time start = absl::Now();
  EXPECT_STATUS(kCancelled, "held back",
                controller_.Admit(60 << 20, {absl::InfiniteFuture(), &cancellation}));
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  canceller.join();
}

TEST_F(WriteControllerTest, MemoryThatIsNotInMemtablesToWriteOutHoldsNobodyBack) {
  SetMemory(kHard * 2);  // readers have it
  background_.Start({server_.get()}, 1, nullptr);
  EXPECT_OK(controller_.Admit(1000, {absl::Now() + absl::Seconds(30), nullptr}));
  background_.Stop();
}

TEST_F(WriteControllerTest, AtTheLimitWritersWaitForWhatIsToBeWrittenOut) {
  ASSERT_NO_FATAL_FAILURE(AddFrozenTablet());
  ASSERT_OK(root_.Create());
  SetMemory(kHard * 2);
  // Flushes are due, but cannot end.
  Mutex stuck;
  stuck.Lock();
  server_->mutable_environment()->path_of = [&](uint64_t number) {
    const MutexLock lock(&stuck);
    return Cat("/", number, ".sst");
  };
  background_.Start({server_.get()}, 1, nullptr);
  EXPECT_STATUS(kDeadlineExceeded, "held back",
                controller_.Admit(1, {absl::Now() + absl::Milliseconds(50), nullptr}));
  stuck.Unlock();
  // Now they do: the memory stays charged, but nothing is left that would give it back.
  EXPECT_OK(controller_.Admit(1, {absl::Now() + absl::Seconds(30), nullptr}));
  EXPECT_FALSE(background_.HasFlushes());
  background_.Stop();
}

TEST_F(WriteControllerTest, AServerWithAnErrorLetsNobodyWait) {
  ASSERT_NO_FATAL_FAILURE(AddFrozenTablet());
  SetMemory(kHard * 2);
  server_->SetError(absl::UnavailableError("the disk is gone"));
  background_.Start({server_.get()}, 1, nullptr);
  EXPECT_STATUS(kUnavailable, "the disk is gone",
                controller_.Admit(1, {absl::Now() + absl::Seconds(30), nullptr}));
  background_.Stop();
}

}  // namespace
}  // namespace bigtable
