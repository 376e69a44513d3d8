// When counts are reported: at the first, and then now and then while there are more.
#include "server/count_reports.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace bigtable::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class CountReportsTest : public testing::Test {
 protected:
  using Counts = CountReports::Counts;

  CountReports::Counters Counters() {
    return {.read =
                [this] {
                  return Counts{first_.load(), second_.load()};
                },
            .report =
                [this](const Counts& more) {
                  const std::lock_guard<std::mutex> lock(mutex_);
                  reports_.push_back(more);
                  times_.push_back(steady_clock::now());
                }};
  }
  std::vector<Counts> Reports() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return reports_;
  }
  std::vector<Counts> ReportsWhenThereAre(size_t count) {
    for (int i = 0; i < 2000 && Reports().size() < count; ++i) {
      std::this_thread::sleep_for(milliseconds(5));
    }
    return Reports();
  }

  std::atomic<uint64_t> first_{0};
  std::atomic<uint64_t> second_{0};
  std::mutex mutex_;
  std::vector<Counts> reports_;
  std::vector<steady_clock::time_point> times_;
};

TEST_F(CountReportsTest, EachIsReportedOnceAndNotTooOften) {
  constexpr milliseconds kInterval(300);
  const CountReports reports({Counters()}, milliseconds(5), kInterval);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_TRUE(Reports().empty()) << "nothing was counted";
  second_ = 2;
  EXPECT_EQ(ReportsWhenThereAre(1), (std::vector<Counts>{{0, 2}}));
  first_ = 1;
  second_ = 3;
  EXPECT_EQ(ReportsWhenThereAre(2), (std::vector<Counts>{{0, 2}, {1, 1}}));
  EXPECT_GE(times_[1] - times_[0], kInterval);
  std::this_thread::sleep_for(2 * kInterval);
  EXPECT_EQ(Reports().size(), 2U) << "nothing more was counted";
  first_ = 5;
  EXPECT_EQ(ReportsWhenThereAre(3).back(), (Counts{4, 0}));
}

TEST_F(CountReportsTest, WhatWasCountedBeforeIsReported) {
  first_ = 7;
  const CountReports reports({Counters()}, milliseconds(5), milliseconds(5));
  EXPECT_EQ(ReportsWhenThereAre(1), (std::vector<Counts>{{7, 0}}));
}

}  // namespace
}  // namespace bigtable::server
