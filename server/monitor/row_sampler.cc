#include "server/monitor/row_sampler.h"

#include <bit>
#include <cmath>
#include <random>

namespace bigtable::server {
namespace {

// How many rows until the next one is chosen, if each is chosen with the probability 1 / period.
uint64_t RandomGap(uint32_t period) {
  if (period == 1) return 1;
  thread_local std::minstd_rand random{std::random_device{}()};
  const double uniform = (static_cast<double>(random()) + 0.5) / 2147483648.0;
  return 1 + static_cast<uint64_t>(std::log(uniform) / std::log1p(-1.0 / period));
}

}  // namespace

void RowSampler::Choose(std::string_view table, std::string_view row, RowAccess access,
                        Countdown* countdown) {
  const uint32_t period = period_.load(std::memory_order_relaxed);
  if (countdown->period != period) {
    *countdown = {period, RandomGap(period)};
    if (--countdown->left > 0) return;
  }
  countdown->left = RandomGap(period);
  map_->Add(table, row, access, period);
  rows_.fetch_add(period, std::memory_order_relaxed);
  const uint64_t chosen = chosen_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (chosen % kMostChosen == 0 && period < kLargestPeriod) {
    uint32_t expected = period;
    period_.compare_exchange_strong(expected, period * 2, std::memory_order_relaxed);
  }
}

void RowSampler::Tick() {
  chosen_.store(0, std::memory_order_relaxed);
  const uint64_t rows = rows_.exchange(0, std::memory_order_relaxed);
  const uint64_t period = std::bit_ceil(rows / (kMostChosen / 2) + 1);
  period_.store(static_cast<uint32_t>(period < kLargestPeriod ? period : kLargestPeriod),
                std::memory_order_relaxed);
}

}  // namespace bigtable::server
