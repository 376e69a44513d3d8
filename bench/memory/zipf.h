// The Zipf distribution over many rows without a table of them: a rank r is drawn in proportion to
// r^-skew, in constant time.
#ifndef BIGTABLE_BENCH_MEMORY_ZIPF_H_
#define BIGTABLE_BENCH_MEMORY_ZIPF_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/workload.h"

namespace bench {

// By rejection-inversion (Hörmann and Derflinger, 1996): a point is drawn in proportion to the area
// below x^-skew and rounded to a rank, and is drawn again if it is outside of the rank's own area.
// Nearly every first draw is taken. A table of sums would take memory from the control group.
// Immutable.
class ZipfRanks {
 public:
  // `skew` is above 0 and not 1.
  ZipfRanks(uint64_t ranks, double skew)
      : ranks_(static_cast<double>(ranks)),
        skew_(skew),
        begin_(Area(1.5) - 1),
        end_(Area(ranks_ + 0.5)),
        certain_(2 - AreaEnd(Area(2.5) - Weight(2))) {}

  // A rank from 0 to `ranks` - 1.
  uint64_t Draw(Random& random) const {
    while (true) {
      const double uniform = static_cast<double>(random.Next() >> 11) * 0x1p-53;
      const double area = end_ + uniform * (begin_ - end_);
      const double x = AreaEnd(area);
      const double rank = std::clamp(std::floor(x + 0.5), 1.0, ranks_);
      if (rank - x <= certain_ || area >= Area(rank + 0.5) - Weight(rank)) {
        return static_cast<uint64_t>(rank) - 1;
      }
    }
  }

 private:
  double Weight(double x) const { return std::pow(x, -skew_); }
  // The area below Weight from 1 to x, and its inverse.
  double Area(double x) const { return (std::pow(x, 1 - skew_) - 1) / (1 - skew_); }
  double AreaEnd(double area) const { return std::pow(1 + area * (1 - skew_), 1 / (1 - skew_)); }

  const double ranks_;
  const double skew_;
  const double begin_;
  const double end_;
  const double certain_;  // a point so little left of its rank is in the rank's own area
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_ZIPF_H_
