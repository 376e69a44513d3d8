#include "server/calls/byte_pool.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace bigtable::server {
namespace {

template <typename Condition>
bool SoonHolds(const Condition& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return condition();
}

TEST(BytePoolTest, TakesWhatThereIs) {
  BytePool pool(100);
  EXPECT_TRUE(pool.TryTake(60));
  EXPECT_FALSE(pool.TryTake(41));
  EXPECT_TRUE(pool.TryTake(40));
  EXPECT_FALSE(pool.HasRoom());
  pool.Return(40);
  EXPECT_TRUE(pool.HasRoom());
  EXPECT_EQ(pool.used(), 60U);
}

TEST(BytePoolTest, AWaitEndsWithoutRoom) {
  BytePool pool(100);
  EXPECT_TRUE(pool.Take(100, std::chrono::seconds(0)));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_FALSE(pool.Take(1, std::chrono::milliseconds(50)));
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(50));
  EXPECT_EQ(pool.waiting(), 0U);
  EXPECT_EQ(pool.used(), 100U);
}

TEST(BytePoolTest, ThoseThatWaitAreServedInTheirOrder) {
  BytePool pool(100);
  ASSERT_TRUE(pool.TryTake(100));
  std::atomic<int> served{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_TRUE(pool.Take(60, std::chrono::seconds(10)));
      EXPECT_EQ(served.fetch_add(1), i);
      pool.Return(60);
    });
    ASSERT_TRUE(SoonHolds([&] { return pool.waiting() == static_cast<size_t>(i) + 1; }));
  }
  // One that wants less does not pass them.
  pool.Return(50);
  EXPECT_FALSE(pool.TryTake(1));
  EXPECT_FALSE(pool.HasRoom());
  EXPECT_EQ(served.load(), 0);
  pool.Return(50);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.used(), 0U);
}

TEST(BytePoolTest, WhatIsTakenAnywayKeepsOthersOut) {
  BytePool pool(100);
  pool.TakeAnyway(150);
  EXPECT_FALSE(pool.TryTake(1));
  pool.Return(51);
  EXPECT_TRUE(pool.TryTake(1));
}

TEST(BytePoolTest, TheYoungestOfThoseThatWaitAreRefused) {
  BytePool pool(100);
  ASSERT_TRUE(pool.TryTake(100));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { EXPECT_EQ(pool.Take(50, std::chrono::seconds(60)), i < 2); });
    ASSERT_TRUE(SoonHolds([&] { return pool.waiting() == static_cast<size_t>(i) + 1; }));
  }
  pool.RefuseYoungest();
  EXPECT_TRUE(SoonHolds([&] { return pool.waiting() == 2; }));
  pool.Return(100);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.used(), 100U);
  pool.RefuseYoungest();  // nobody waits
}

TEST(BytePoolTest, CloseEndsEveryWait) {
  BytePool pool(100);
  ASSERT_TRUE(pool.TryTake(100));
  std::thread waiter([&] { EXPECT_FALSE(pool.Take(1, std::chrono::hours(1))); });
  ASSERT_TRUE(SoonHolds([&] { return pool.waiting() == 1; }));
  pool.Close();
  waiter.join();
  EXPECT_FALSE(pool.Take(1, std::chrono::hours(1)));
}

TEST(BytePoolTest, ConcurrentCallsNeverHaveMoreThanThereIs) {
  BytePool pool(100);
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 2000; ++j) {
        const int bytes = 20 + (i * 7 + j) % 60;
        ASSERT_TRUE(pool.Take(static_cast<uint64_t>(bytes), std::chrono::seconds(60)));
        EXPECT_LE(taken.fetch_add(bytes) + bytes, 100);
        taken.fetch_sub(bytes);
        pool.Return(static_cast<uint64_t>(bytes));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.used(), 0U);
  EXPECT_EQ(pool.waiting(), 0U);
}

}  // namespace
}  // namespace bigtable::server
