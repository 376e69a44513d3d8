// No call is inside a closed gate.
#include "base/call_gate.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace bigtable {
namespace {

TEST(CallGateTest, CallsPassUntilItIsClosed) {
  CallGate gate;
  {
    const CallGate::Pass outer(&gate), inner(&gate);
    EXPECT_TRUE(outer);
    EXPECT_TRUE(inner);
  }
  EXPECT_FALSE(gate.closed());
  gate.CloseAndWait();
  EXPECT_TRUE(gate.closed());
  EXPECT_FALSE(CallGate::Pass(&gate));
  gate.CloseAndWait();  // refused calls do not count
}

TEST(ConcurrentCallGateTest, ClosingWaitsForTheCallsInsideAndRefusesLaterOnes) {
  CallGate gate;
  auto pass = std::make_unique<CallGate::Pass>(&gate);
  std::atomic<bool> closed{false};
  std::thread closer([&] {
    gate.CloseAndWait();
    closed = true;
  });
  while (!gate.closed()) absl::SleepFor(absl::Microseconds(100));
  EXPECT_FALSE(CallGate::Pass(&gate));
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_FALSE(closed);
  pass.reset();
  closer.join();
  EXPECT_TRUE(closed);
}

TEST(ConcurrentCallGateTest, NoCallIsInsideOnceClosingHasReturned) {
  for (int round = 0; round < 50; ++round) {
    CallGate gate;
    bool open = true;  // not atomic: ThreadSanitizer detects a call that is inside too late
    std::atomic<int> passed{0}, wrong{0};
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        while (true) {
          const CallGate::Pass pass(&gate);
          if (!pass) return;
          if (!open) wrong.fetch_add(1);
          passed.fetch_add(1);
        }
      });
    }
    while (passed < 10) std::this_thread::yield();
    gate.CloseAndWait();
    open = false;
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(CallGateTest, LongCallsDelayClosingButNotAdvancing) {
  CallGate gate;
  auto inside = std::make_unique<CallGate::LongPass>(&gate);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(gate.TryAdvance());
  std::atomic<bool> closed{false};
  std::thread closer([&] {
    gate.CloseAndWait();
    closed = true;
  });
  while (!gate.closed()) absl::SleepFor(absl::Microseconds(100));
  EXPECT_FALSE(CallGate::LongPass(&gate));
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_FALSE(closed);
  inside.reset();
  closer.join();
}

TEST(CallGateTest, TwoAdvancesAreImpossibleWhileAnEarlierCallIsInside) {
  CallGate gate;
  for (int start = 0; start < 2; ++start) {  // in either phase
    auto inside = std::make_unique<CallGate::Pass>(&gate);
    int advances = 0;
    for (int i = 0; i < 10; ++i) {
      const CallGate::Pass later(&gate);
      advances += gate.TryAdvance() ? 1 : 0;
    }
    EXPECT_EQ(advances, 1);
    inside.reset();
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(gate.TryAdvance());
  }
  EXPECT_EQ(gate.advances(), 10u);
}

TEST(ConcurrentCallGateTest, NoCallUsesAnObjectReplacedTwoAdvancesAgo) {
  CallGate gate;
  std::atomic<int*> shared{new int(0)};
  std::atomic<bool> done{false};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      int last = 0;
      while (!done) {
        const CallGate::Pass pass(&gate);
        const int now = *shared.load();  // sanitizers detect a deleted one
        EXPECT_GE(now, last);
        last = now;
      }
    });
  }
  for (int i = 1; i <= 300; ++i) {
    int* const old = shared.exchange(new int(i));
    for (const uint64_t before = gate.advances(); gate.advances() < before + 2;) {
      if (!gate.TryAdvance()) std::this_thread::yield();
    }
    *old = -1;
    delete old;
  }
  done = true;
  for (std::thread& caller : callers) caller.join();
  delete shared.load();
}

}  // namespace
}  // namespace bigtable
