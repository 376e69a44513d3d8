// Threads that make one read each: who is told, when threads begin and end, and what is refused.
// The reads have their results already.
#include "routing/async_pool.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

AsyncRead ReadOf(absl::AnyInvocable<void()> told, std::string row = "row") {
  return {.table = nullptr,
          .row = std::move(row),
          .filter = {},
          .options = {},
          .done = [told = std::move(told)](const absl::StatusOr<Row>&) mutable { told(); },
          .result = absl::NotFoundError("no row")};
}

void Await(const std::atomic<int>& value, int wanted) {
  while (value != wanted) absl::SleepFor(absl::Milliseconds(1));
}

TEST(AsyncPoolTest, AsManyAreTogetherAsThereMayBeThreads) {
  AsyncPool pool(5);
  std::atomic<int> held = 0, told = 0;
  std::atomic<bool> may_go_on = false;
  for (int i = 0; i < 50; ++i) {
    ASSERT_OK(pool.Add(ReadOf([&] {
                         ++held;
                         while (!may_go_on) absl::SleepFor(absl::Milliseconds(1));
                         ++told;
                       }),
                       UINT64_MAX));
  }
  Await(held, 5);
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(held, 5);
  may_go_on = true;
  Await(told, 50);
}

TEST(AsyncPoolTest, MoreBytesThanMayWaitAreRefusedAndNotTouched) {
  AsyncPool pool(1);
  std::atomic<int> held = 0, told = 0;
  std::atomic<bool> may_go_on = false;
  ASSERT_OK(pool.Add(ReadOf([&] {
                       ++held;
                       while (!may_go_on) absl::SleepFor(absl::Milliseconds(1));
                     }),
                     UINT64_MAX));
  Await(held, 1);
  const AsyncRead one = ReadOf([] {}, std::string(1000, 'r'));
  const uint64_t most = 3 * one.bytes();
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(pool.Add(ReadOf([&] { ++told; }, std::string(1000, 'r')), most));
  }
  AsyncRead refused = ReadOf([&] { told += 100; }, std::string(1000, 'r'));
  EXPECT_STATUS(kResourceExhausted, "asynchronous reads of 3 rows wait already",
                pool.Add(std::move(refused), most));
  EXPECT_EQ(refused.row.size(), 1000u);  // NOLINT(bugprone-use-after-move): it was not taken
  may_go_on = true;
  Await(told, 3);
  ASSERT_OK(pool.Add(std::move(refused), most));
  Await(told, 103);
}

TEST(AsyncPoolTest, StopTellsAllThatWereTakenAndThenNoneIsTaken) {
  AsyncPool pool(3);
  std::atomic<int> told = 0;
  for (int i = 0; i < 100; ++i) ASSERT_OK(pool.Add(ReadOf([&] { ++told; }), UINT64_MAX));
  pool.Stop();
  EXPECT_EQ(told, 100);
  EXPECT_STATUS(kFailedPrecondition, "closed", pool.Add(ReadOf([&] { ++told; }), UINT64_MAX));
  pool.Stop();
  EXPECT_EQ(told, 100);
}

TEST(AsyncPoolTest, AThreadThatHasNothingToDoEndsAndAnotherIsStarted) {
  AsyncPool pool(2, absl::Milliseconds(2));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> told = 0;
    for (int i = 0; i < 4; ++i) ASSERT_OK(pool.Add(ReadOf([&] { ++told; }), UINT64_MAX));
    Await(told, 4);
    // Beside ends of threads as well as after them.
    if (round % 2 == 0) absl::SleepFor(absl::Milliseconds(round));
    if (round % 5 == 4) {
      while (pool.threads() > 0) absl::SleepFor(absl::Milliseconds(1));
    }
  }
}

TEST(AsyncPoolTest, ThreadsThatHaveNothingToDoEndEachInItsTime) {
  AsyncPool pool(16, absl::Milliseconds(300));
  std::atomic<int> told = 0;
  for (int i = 0; i < 16; ++i) {
    ASSERT_OK(pool.Add(ReadOf([&, i] {
                         ++told;
                         while (told < 16) absl::SleepFor(absl::Milliseconds(1));
                         absl::SleepFor(absl::Milliseconds(15 * i));
                       }),
                       UINT64_MAX));
  }
  Await(told, 16);
  EXPECT_GT(pool.threads(), 0u);
  const absl::Time begin = absl::Now();
  while (pool.threads() > 0) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(3)) << "one after the other: five seconds";
}

TEST(AsyncPoolTest, ManyThreadsAddBesideEndsConcurrently) {
  AsyncPool pool(4, absl::Microseconds(50));
  std::atomic<int> told = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        EXPECT_OK(pool.Add(ReadOf([&] { ++told; }), UINT64_MAX));
        if (i % 50 == 0) absl::SleepFor(absl::Microseconds(100));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  pool.Stop();
  EXPECT_EQ(told, 1500);
}

}  // namespace
}  // namespace bigtable
