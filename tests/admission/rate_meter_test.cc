// The token bucket of quotas.
#include "admission/rate_meter.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

constexpr int64_t kNanos = 1'000'000'000;
constexpr int64_t kStart = 1'000 * kNanos;

TEST(RateMeterTest, WithoutALimitEverythingIsAdmitted) {
  RateMeter meter(0);
  EXPECT_EQ(meter.Take(UINT64_MAX, kStart), 0);
  meter.Charge(UINT64_MAX, kStart);
  EXPECT_EQ(meter.WaitForAny(kStart), 0);
}

TEST(RateMeterTest, AFullBucketHoldsWhatOneSecondGives) {
  RateMeter meter(10);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(meter.Take(1, kStart), 0) << i;
  EXPECT_EQ(meter.Take(1, kStart), kNanos / 10);
  EXPECT_EQ(meter.Take(3, kStart), 3 * kNanos / 10);
  EXPECT_EQ(meter.Take(1, kStart + kNanos / 10 - 1), 1);
  EXPECT_EQ(meter.Take(1, kStart + kNanos / 10), 0);
  EXPECT_GT(meter.Take(1, kStart + kNanos / 10), 0);
}

TEST(RateMeterTest, ABucketDoesNotGrowBeyondOneSecond) {
  RateMeter meter(10);
  EXPECT_EQ(meter.Take(10, kStart), 0);
  EXPECT_EQ(meter.Take(10, kStart + 100 * kNanos), 0);
  EXPECT_GT(meter.Take(1, kStart + 100 * kNanos), 0);
}

TEST(RateMeterTest, ALargerAmountIsAdmittedByAFullBucketAndLeavesADebt) {
  RateMeter meter(10);
  EXPECT_EQ(meter.Take(1, kStart), 0);
  EXPECT_EQ(meter.Take(25, kStart), kNanos / 10) << "not full";
  const int64_t full = kStart + kNanos / 10;
  EXPECT_EQ(meter.Take(25, full), 0);
  EXPECT_EQ(meter.WaitForAny(full), 3 * kNanos / 2 + 1);
  EXPECT_EQ(meter.Take(1, full), 16 * kNanos / 10);
  EXPECT_EQ(meter.Take(25, full), 25 * kNanos / 10);
  EXPECT_EQ(meter.Take(1, full + 16 * kNanos / 10), 0);
}

TEST(RateMeterTest, WhatIsGivenBackCanBeTakenAgain) {
  RateMeter meter(10);
  ASSERT_EQ(meter.Take(10, kStart), 0);
  meter.GiveBack(4);
  EXPECT_EQ(meter.Take(4, kStart), 0);
  EXPECT_GT(meter.Take(1, kStart), 0);
}

TEST(RateMeterTest, AChargeMayLeaveADebt) {
  RateMeter meter(1000);
  meter.Charge(999, kStart);
  EXPECT_EQ(meter.WaitForAny(kStart), 0);
  meter.Charge(2001, kStart);
  EXPECT_EQ(meter.WaitForAny(kStart), 2 * kNanos + 1);
  EXPECT_EQ(meter.WaitForAny(kStart + 2 * kNanos + 1), 0);
}

TEST(RateMeterTest, HugeAmountsDoNotOverflow) {
  RateMeter meter(1);
  for (int i = 0; i < 30; ++i) meter.Charge(UINT64_MAX, kStart);
  EXPECT_GT(meter.WaitForAny(kStart), kNanos * 1'000'000);
  RateMeter fast(UINT64_MAX);
  EXPECT_EQ(fast.Take(UINT64_MAX, kStart), 0);
  EXPECT_GT(fast.Take(UINT64_MAX / 2, kStart), 0);
}

TEST(RateMeterTest, ThreadsTogetherTakeWhatThereIs) {
  RateMeter meter(1000);
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) taken += meter.Take(1, kStart) == 0 ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 1000);
}

}  // namespace
}  // namespace bigtable
