// When writers are admitted, slowed and stopped. The tests charge the memory themselves and pretend
// that flushes are under way, so that they control the pressure.
#include "admission/write_controller.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "base/steady_time.h"
#include "cache/budget_access.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

using Admission = WriteController::Admission;

// A holder whose flushes are under way as the test sets it.
class SaidFlushes final : public MemtableHolder {
 public:
  bool IsWritingOut() const override { return are_under_way; }
  uint64_t LargestMemtable() const override { return 0; }
  bool WriteOutLargest() override { return true; }
  void OnProgress() override {}

  std::atomic<bool> are_under_way{true};
};

// The budget is large compared to the bytes that are admitted during a test.
class WriteControllerTest : public ServerFixture {
 protected:
  static constexpr int64_t kBudget = int64_t{1} << 30;
  static constexpr int64_t kSoft = kBudget / 2;
  static constexpr int64_t kHard = kBudget / 8 * 5;
  // The assumed speed of flushes, as there was none.
  static constexpr double kSpeed = WorkSpeed::kAssumed;

  void SetUp() override {
    BudgetAccess::AddHolder(large_, &controller_);
    BudgetAccess::AddHolder(large_, &flushes_);
  }
  void TearDown() override {
    BudgetAccess::RemoveHolder(large_, &controller_);
    BudgetAccess::RemoveHolder(large_, &flushes_);
  }

  // In addition to the charges of writes on their way.
  void SetMemory(int64_t bytes) {
    BudgetAccess::Charge(large_, MemoryBudget::Use::kMemtables, bytes - memory_);
    memory_ = bytes;
  }
  uint64_t Used() const { return large_.used(MemoryBudget::Use::kMemtables); }
  absl::Status Admit(uint64_t bytes, const CallLimits& limits = {}) {
    Admission admission;
    return controller_.Admit(bytes, limits, &admission);
  }
  static CallLimits For(absl::Duration time) { return {.deadline = Deadline::In(time)}; }
  // Other threads wait too.
  void AwaitWaiting(size_t count) const {
    while (controller_.waiting() != count) absl::SleepFor(absl::Milliseconds(1));
  }

  MemoryBudget large_{kBudget};
  int64_t memory_ = 0;
  SaidFlushes flushes_;
  WriteController controller_{&large_, server_.get(), &background_};
};

TEST_F(WriteControllerTest, FarFromItsLimitsItAdmitsEverythingAtOnce) {
  SetMemory(kSoft - 1);
  // Not even the limits of the call are checked.
  Cancellation cancelled;
  cancelled.Cancel();
  EXPECT_OK(Admit(WriteController::kLarge - 1, {absl::InfinitePast(), &cancelled}));
  EXPECT_OK(Admit(100 << 20, {absl::InfinitePast(), &cancelled}));
  EXPECT_EQ(controller_.reason(), StallReason::kNone);
  EXPECT_EQ(controller_.delay(), absl::ZeroDuration());
  EXPECT_EQ(controller_.total_delay(), absl::ZeroDuration());
}

TEST_F(WriteControllerTest, TheNearerTheLimitTheLongerAByteTakes) {
  absl::Duration last = absl::ZeroDuration();
  for (int step = 1; step <= 6; ++step) {
    SetMemory(kSoft + (kHard - kSoft) * step / 8);
    EXPECT_EQ(controller_.reason(), StallReason::kMemory);
    EXPECT_GT(controller_.delay(), last) << step;
    last = controller_.delay();
  }
  // At least an eighth of the speed of flushes is admitted, even at the limit.
  for (const int64_t memory : {kHard - 1, kHard * 2}) {
    SetMemory(memory);
    EXPECT_EQ(controller_.delay(), absl::Seconds(1000 / (kSpeed / 8)));
  }
}

TEST_F(WriteControllerTest, AWriteUnderPressureTakesAsLongAsTheDelayThatIsReported) {
  SetMemory(kHard - (1 << 20));
  constexpr int kWrites = 50;
  constexpr uint64_t kBytes = 60'000;
  const absl::Duration time = controller_.delay() * (kWrites * kBytes / 1000);
  const SteadyTime start = SteadyTime::Now();
  for (int i = 0; i < kWrites; ++i) ASSERT_OK(Admit(kBytes));
  EXPECT_GE(SteadyTime::Now() - start, time * 0.9);
  EXPECT_GE(controller_.total_delay(), time * 0.5);
}

TEST_F(WriteControllerTest, SmallDelaysAddUpAcrossWriters) {
  SetMemory(kHard - (1 << 20));
  const absl::Duration time = controller_.delay() * 1000;
  const SteadyTime start = SteadyTime::Now();
  for (int i = 0; i < 10'000; ++i) ASSERT_OK(Admit(100));  // four microseconds each
  EXPECT_GE(SteadyTime::Now() - start, time * 0.9);
}

// --- Waits are computed again ---

TEST_F(WriteControllerTest, FreedMemoryEndsTheWaitForEarlierWrites) {
  SetMemory(kHard - (120 << 20));
  Admission before;
  ASSERT_OK(controller_.Admit(100 << 20, {}, &before));
  // The next write would wait for four seconds, at an eighth of the speed.
  std::atomic<bool> is_through{false};
  std::thread writer([&] {
    EXPECT_OK(Admit(100));
    is_through = true;
  });
  AwaitWaiting(1);
  absl::SleepFor(absl::Milliseconds(30));
  EXPECT_FALSE(is_through);
  const SteadyTime start = SteadyTime::Now();
  SetMemory(0);
  BudgetAccess::NotifyProgress(large_);
  writer.join();
  EXPECT_LT(SteadyTime::Now() - start, absl::Seconds(2));
}

TEST_F(WriteControllerTest, AWriteThatGivesUpCostsNothing) {
  SetMemory(kHard - 1000);
  const uint64_t before = Used();
  for (int i = 0; i < 5; ++i) {
    EXPECT_STATUS(kDeadlineExceeded, "held back", Admit(300 << 20, For(absl::Milliseconds(10))));
    Cancellation cancelled;
    cancelled.Cancel();
    EXPECT_STATUS(kCancelled, "held back", Admit(300 << 20, {Deadline(), &cancelled}));
  }
  EXPECT_EQ(Used(), before);
  EXPECT_EQ(controller_.waiting(), 0u);
  // Three gigabytes were not admitted, and no write waits for them, which would take minutes.
  const SteadyTime start = SteadyTime::Now();
  EXPECT_OK(Admit(100));
  EXPECT_LT(SteadyTime::Now() - start, absl::Seconds(5));
}

// Only the first writer checks whether it is admitted. The one behind it must be woken.
TEST_F(WriteControllerTest, WhenTheFirstGivesUpTheNextChecksForItself) {
  SetMemory(kHard - 1000);
  Cancellation cancellation;
  std::thread large([&] {
    EXPECT_STATUS(kCancelled, "held back", Admit(300 << 20, {Deadline(), &cancellation}));
  });
  AwaitWaiting(1);
  std::thread other([&] { EXPECT_OK(Admit(301 << 20)); });
  AwaitWaiting(2);
  cancellation.Cancel();
  large.join();
  SetMemory(kHard - (301 << 20));  // no writer is notified
  other.join();
}

// --- Fairness ---

TEST_F(WriteControllerTest, ASmallWritePassesLargeOnesThatWaitForRoom) {
  SetMemory(kHard - 1000);
  std::thread large([&] { EXPECT_OK(Admit(64 << 20)); });
  AwaitWaiting(1);
  EXPECT_OK(Admit(100, For(absl::Seconds(30))));
  EXPECT_EQ(controller_.waiting(), 1u);
  SetMemory(0);
  BudgetAccess::NotifyProgress(large_);
  large.join();
}

TEST_F(WriteControllerTest, ManySmallWritesDoNotKeepALargeOneWaitingForEver) {
  SetMemory(kHard - (2 << 20));
  std::atomic<bool> is_through{false};
  // There is room for it; it waits for its turn.
  std::thread large([&] {
    EXPECT_OK(Admit(1 << 20, For(absl::Seconds(60))));
    is_through = true;
  });
  std::vector<std::thread> small;
  std::atomic<uint64_t> bytes{0};
  for (int i = 0; i < 3; ++i) {
    small.emplace_back([&] {
      while (!is_through) {
        EXPECT_OK(Admit(10'000));
        bytes += 10'000;
      }
    });
  }
  large.join();
  for (std::thread& thread : small) thread.join();
  // Each was admitted as many bytes, or somewhat more before it arrived.
  EXPECT_LT(bytes, uint64_t{64} << 20);
}

TEST_F(WriteControllerTest, OtherServersLeaveTheRoomToALargeWrite) {
  SetMemory(kHard - (30 << 20));
  std::thread large([&] { EXPECT_OK(Admit(40 << 20)); });
  AwaitWaiting(1);
  // It is its turn; writes of others would take its room for ever.
  WriteController other(&large_, server_.get(), &background_);
  Admission admission;
  EXPECT_STATUS(kDeadlineExceeded, "held back",
                other.Admit(1 << 20, For(absl::Milliseconds(50)), &admission));
  SetMemory(kHard - (40 << 20));
  BudgetAccess::NotifyProgress(large_);
  large.join();
  EXPECT_OK(other.Admit(1 << 20, For(absl::Seconds(30)), &admission));
}

// --- The hard limit ---

TEST_F(WriteControllerTest, WritesOnTheirWayCountAsMemory) {
  SetMemory(kHard - (100 << 20));
  Admission first, second;
  ASSERT_OK(controller_.Admit(60 << 20, {}, &first));
  EXPECT_EQ(Used(), static_cast<uint64_t>(kHard - (40 << 20)));
  EXPECT_STATUS(kDeadlineExceeded, "held back",
                controller_.Admit(60 << 20, For(absl::Milliseconds(20)), &second));
}

TEST_F(WriteControllerTest, AValueBeyondTheBudgetIsAdmittedWhenAllElseIsFlushed) {
  SetMemory(kHard / 2);
  Admission first, second;
  constexpr uint64_t kHuge = uint64_t{2} << 30;
  EXPECT_STATUS(kDeadlineExceeded, "held back",
                controller_.Admit(kHuge, For(absl::Milliseconds(20)), &first));
  flushes_.are_under_way = false;  // no flush frees the memory
  EXPECT_OK(controller_.Admit(kHuge, For(absl::Seconds(30)), &first));
  // One at a time.
  EXPECT_STATUS(kDeadlineExceeded, "held back",
                controller_.Admit(kHuge, For(absl::Milliseconds(20)), &second));
}

TEST_F(WriteControllerTest, TheNextValueBeyondTheBudgetIsAdmittedWhenTheOneBeforeIsInItsMemtable) {
  flushes_.are_under_way = false;
  constexpr uint64_t kHuge = uint64_t{2} << 30;
  auto first = std::make_unique<Admission>();
  ASSERT_OK(controller_.Admit(kHuge, {}, first.get()));
  std::thread second([&] { EXPECT_OK(Admit(kHuge)); });
  AwaitWaiting(1);
  first.reset();
  second.join();
  EXPECT_EQ(Used(), 0u);
}

TEST_F(WriteControllerTest, MemoryThatNoFlushFreesDelaysNoWriter) {
  SetMemory(kHard * 2);  // readers hold it
  flushes_.are_under_way = false;
  EXPECT_OK(background_.Start({server_.get()}, 1, nullptr));
  EXPECT_OK(Admit(1000, For(absl::Seconds(30))));
  EXPECT_OK(Admit(1 << 20, For(absl::Seconds(30))));
  background_.Stop();
}

// Counts the flushes that are requested of it.
class CountedFlushes final : public MemtableHolder {
 public:
  bool IsWritingOut() const override { return false; }
  uint64_t LargestMemtable() const override { return 1; }
  bool WriteOutLargest() override { return ++requested > 0; }
  void OnProgress() override {}

  int requested = 0;
};

TEST_F(WriteControllerTest, OnlyAWriteBeyondTheLimitRequestsFlushes) {
  BudgetAccess::RemoveHolder(large_, &flushes_);
  CountedFlushes counted;
  BudgetAccess::AddHolder(large_, &counted);
  SetMemory(kSoft / 2);
  const auto room = static_cast<uint64_t>(kHard - kSoft / 2);
  EXPECT_OK(Admit(room));
  EXPECT_EQ(counted.requested, 0);
  EXPECT_STATUS(kDeadlineExceeded, "held back", Admit(room + 1, For(absl::Milliseconds(20))));
  EXPECT_GT(counted.requested, 0);
  BudgetAccess::RemoveHolder(large_, &counted);
  BudgetAccess::AddHolder(large_, &flushes_);
}

// --- With a server that flushes ---

class FlushingControllerTest : public ServerFixture {
 protected:
  static constexpr uint64_t kHard = kLimit / 8 * 5;

  void SetUp() override { BudgetAccess::AddHolder(*budget_, &controller_); }
  void TearDown() override { BudgetAccess::RemoveHolder(*budget_, &controller_); }

  void SetMemory(uint64_t bytes) {
    BudgetAccess::Charge(
        *budget_, MemoryBudget::Use::kMemtables,
        static_cast<int64_t>(bytes - budget_->used(MemoryBudget::Use::kMemtables)));
  }
  // A tablet with an immutable memtable, which is not flushed until background_ is started.
  void AddRotatedTablet() {
    ASSERT_NO_FATAL_FAILURE(AddTablet());
    ASSERT_OK(server_->Start("server-1", "/log"));
    ASSERT_OK(Write("row"));
    server_->rotation().RotateAll(tablet_.get());
    ASSERT_TRUE(server_->rotation().HasImmutable());
  }
  absl::Status Admit(absl::Duration time) {
    Admission admission;
    return controller_.Admit(1, {.deadline = Deadline::In(time)}, &admission);
  }

  WriteController controller_{budget_.get(), server_.get(), &background_};
};

TEST_F(FlushingControllerTest, AtTheLimitWritersWaitForFlushes) {
  ASSERT_NO_FATAL_FAILURE(AddRotatedTablet());
  ASSERT_OK(root_.Create());
  SetMemory(kHard * 2);
  // Flushes are due, but cannot end.
  Mutex stuck;
  stuck.Lock();
  server_->mutable_environment()->path_of = [&](uint64_t number) {
    const MutexLock lock(&stuck);
    return Cat("/", number, ".sst");
  };
  EXPECT_OK(background_.Start({server_.get()}, 1, nullptr));
  EXPECT_STATUS(kDeadlineExceeded, "held back", Admit(absl::Milliseconds(50)));
  stuck.Unlock();
  // Now they end. The memory stays charged, but there is no flush left that could free it.
  EXPECT_OK(Admit(absl::Seconds(30)));
  EXPECT_FALSE(background_.HasFlushes());
  background_.Stop();
}

TEST_F(FlushingControllerTest, OnAServerWithAnErrorNoWriterWaits) {
  ASSERT_NO_FATAL_FAILURE(AddRotatedTablet());
  SaidFlushes flushes;
  BudgetAccess::AddHolder(*budget_, &flushes);
  SetMemory(kHard * 2);
  EXPECT_OK(background_.Start({server_.get()}, 1, nullptr));
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back(
        [&] { EXPECT_STATUS(kUnavailable, "the disk is gone", Admit(absl::Seconds(60))); });
  }
  while (controller_.waiting() < 4) absl::SleepFor(absl::Milliseconds(1));
  server_->write_error().Set(absl::UnavailableError("the disk is gone"));
  for (std::thread& writer : writers) writer.join();
  background_.Stop();
  BudgetAccess::RemoveHolder(*budget_, &flushes);
}

}  // namespace
}  // namespace bigtable
