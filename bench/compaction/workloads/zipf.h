// The Zipf distribution, whose rank r is drawn in proportion to r^-skew.
#ifndef BIGTABLE_BENCH_COMPACTION_WORKLOADS_ZIPF_H_
#define BIGTABLE_BENCH_COMPACTION_WORKLOADS_ZIPF_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/workload.h"

namespace bench {

// Immutable: any thread may draw, with random numbers of its own.
class Zipf {
 public:
  // Takes 8 bytes for each of the `most` ranks.
  Zipf(uint64_t most, double skew) {
    up_to_rank_.reserve(most);
    double sum = 0;
    for (uint64_t rank = 1; rank <= most; ++rank) {
      sum += std::pow(static_cast<double>(rank), -skew);
      up_to_rank_.push_back(sum);
    }
  }

  // A rank, counted from 0, of the first `ranks`, which are 1 to `most`. Takes one random number.
  uint64_t Draw(Random& random, uint64_t ranks) const {
    constexpr uint64_t kParts = uint64_t{1} << 32;
    const auto begin = up_to_rank_.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(ranks);
    const double draw = static_cast<double>(random.Below(kParts)) / kParts * *(end - 1);
    return static_cast<uint64_t>(std::upper_bound(begin, end, draw) - begin);
  }

 private:
  std::vector<double> up_to_rank_;  // the sum of the weights up to each rank
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_WORKLOADS_ZIPF_H_
