// The queues of atomic operations on rows: one thread at a time, no wake-up lost, nobody starved.
// A lost wake-up shows as a deadline that passes, not as a test that hangs.
#include "transaction/row_stripes.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/call_limits.h"
#include "base/pause.h"
#include "base/steady_time.h"
#include "support/expect_status.h"
#include "support/random.h"

namespace bigtable {
namespace {

constexpr uint64_t kTable = 1;

CallLimits In(absl::Duration time) { return {.deadline = Deadline::In(time)}; }

void RunThreads(int count, const auto& function) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(function);
  for (std::thread& thread : threads) thread.join();
}

TEST(RowStripesThreadsTest, OneThreadAtATimeHasAStripe) {
  RowStripes stripes;
  int64_t count = 0;  // guarded by the stripe
  std::atomic<int> failures{0};
  RunThreads(8, [&] {
    for (int i = 0; i < 20'000; ++i) {
      RowStripes::Hold hold(&stripes, kTable, "row");
      if (!hold.Take(In(absl::Seconds(20))).ok()) {
        ++failures;
        return;
      }
      const int64_t seen = count;
      if (i % 64 == 0) std::this_thread::yield();
      count = seen + 1;
    }
  });
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(count, 8 * 20'000);
}

// Threads come and go, sleep while they have the stripe, and give up at any moment.
TEST(RowStripesThreadsTest, NoWakeUpIsLostWhenThreadsGiveUp) {
  RowStripes stripes;
  std::atomic<int> failures{0};
  std::atomic<int> given_up{0};
  std::atomic<uint64_t> seed{1};
  RunThreads(6, [&] {
    Random random(seed++);
    for (int i = 0; i < 300; ++i) {
      const bool is_patient = random.OneIn(2);
      RowStripes::Hold hold(&stripes, kTable, "row");
      const absl::Duration most =
          is_patient ? absl::Seconds(20) : absl::Microseconds(random.Between(0, 300));
      const absl::Status taken = hold.Take(In(most));
      if (taken.ok() && random.OneIn(5)) absl::SleepFor(absl::Microseconds(200));
      if (!taken.ok()) ++(is_patient ? failures : given_up);
    }
  });
  EXPECT_EQ(failures, 0) << "a thread slept until its deadline";
  EXPECT_GT(given_up, 0);
}

TEST(RowStripesThreadsTest, WaitsNoLongerThanTheLimits) {
  RowStripes stripes;
  RowStripes::Hold hold(&stripes, kTable, "row");
  ASSERT_OK(hold.Take({}));
  std::thread([&] {
    RowStripes::Hold other(&stripes, kTable, "row");
    EXPECT_EQ(other.Take(In(absl::Milliseconds(5))).code(), absl::StatusCode::kDeadlineExceeded);
  }).join();
  std::thread([&] {
    Cancellation cancellation;
    cancellation.Cancel();
    RowStripes::Hold other(&stripes, kTable, "row");
    EXPECT_EQ(other.Take({.deadline = {}, .cancellation = &cancellation}).code(),
              absl::StatusCode::kCancelled);
  }).join();
}

// A thread that never sleeps takes the stripe again at once. One that sleeps finds it taken nearly
// every time that it wakes up, and gets it all the same after a few times.
TEST(RowStripesThreadsTest, AThreadThatSleepsIsNotPassedOverForLong) {
  RowStripes stripes;
  std::atomic<bool> ends{false};
  std::atomic<int64_t> turns{0};  // of the busy thread
  std::thread busy([&] {
    while (!ends) {
      RowStripes::Hold hold(&stripes, kTable, "row");
      if (!hold.Take(In(absl::Seconds(20))).ok()) return;
      const SteadyTime until = SteadyTime::Now() + absl::Microseconds(50);
      while (SteadyTime::Now() < until) Pause();
      ++turns;
    }
  });
  std::vector<int64_t> waits;  // in turns
  for (int i = 0; i < 200; ++i) {
    absl::SleepFor(absl::Microseconds(500));
    const int64_t before = turns;
    RowStripes::Hold hold(&stripes, kTable, "row");
    EXPECT_OK(hold.Take(In(absl::Seconds(20))));
    waits.push_back(turns - before);
  }
  ends = true;
  busy.join();
  // Four or five, unless the machine is busy.
  EXPECT_LT(*std::max_element(waits.begin(), waits.end()), 1000);
}

}  // namespace
}  // namespace bigtable
