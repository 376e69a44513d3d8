// The rows that exist, of which a random one can be removed.
#ifndef BIGTABLE_BENCH_COMPACTION_WORKLOADS_LIVE_ROWS_H_
#define BIGTABLE_BENCH_COMPACTION_WORKLOADS_LIVE_ROWS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "common/workload.h"

namespace bench {

// One thread at a time.
class LiveRows {
 public:
  LiveRows() = default;
  explicit LiveRows(std::vector<uint32_t> rows) : rows_(std::move(rows)) {}

  uint64_t size() const { return rows_.size(); }
  void Add(uint32_t row) { rows_.push_back(row); }
  // These need a row that exists: the one added last, a random one, and one that is removed.
  uint32_t back() const { return rows_.back(); }
  uint32_t Draw(Random& random) const { return rows_[random.Below(rows_.size())]; }
  uint32_t RemoveRandom(Random& random) {
    std::swap(rows_[random.Below(rows_.size())], rows_.back());
    const uint32_t row = rows_.back();
    rows_.pop_back();
    return row;
  }

 private:
  std::vector<uint32_t> rows_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_WORKLOADS_LIVE_ROWS_H_
