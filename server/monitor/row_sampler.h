// Chooses the rows, read or written, that the heat map counts.
//
// One row in `period`, on average, at random; each then counts as `period` rows. The period is 1
// while few rows are read and written, so that the map is exact then, and grows so that it is given
// some thousand rows a second at most.
//
// Thread-safe. Cost: a row that is not chosen costs a countdown of its thread, about a nanosecond.
#ifndef BIGTABLE_SERVER_MONITOR_ROW_SAMPLER_H_
#define BIGTABLE_SERVER_MONITOR_ROW_SAMPLER_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "server/monitor/heat_map.h"

namespace bigtable::server {

class RowSampler {
 public:
  // Chosen rows in a second above which the period grows at once.
  static constexpr uint64_t kMostChosen = 4096;
  static constexpr uint32_t kLargestPeriod = 1 << 20;

  // The heat map outlives this.
  explicit RowSampler(HeatMap* map) : map_(map) {}
  RowSampler(const RowSampler&) = delete;
  RowSampler& operator=(const RowSampler&) = delete;

  // `table` is the engine's name.
  void Count(std::string_view table, std::string_view row, RowAccess access) {
    Countdown& countdown = ThreadCountdown();
    if (countdown.period == period_.load(std::memory_order_relaxed) && --countdown.left > 0)
        [[likely]] {
      return;
    }
    Choose(table, row, access, &countdown);
  }

  // Every second: the period follows the rate of the rows.
  void Tick();
  uint32_t period() const { return period_.load(std::memory_order_relaxed); }

 private:
  // Rows until the next one that is chosen. A server's threads are its own; in a process of several
  // servers, another server's countdown is only as good a random number.
  struct Countdown {
    uint32_t period = 0;
    uint64_t left = 0;
  };
  static Countdown& ThreadCountdown() {
    thread_local Countdown countdown;
    return countdown;
  }
  void Choose(std::string_view table, std::string_view row, RowAccess access, Countdown* countdown);

  HeatMap* const map_;
  std::atomic<uint32_t> period_{1};
  std::atomic<uint64_t> chosen_{0};  // since the last tick
  std::atomic<uint64_t> rows_{0};    // that these stand for
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_ROW_SAMPLER_H_
