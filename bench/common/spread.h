// One figure of several repeats: its mean, and how far they are apart.
#ifndef BIGTABLE_BENCH_COMMON_SPREAD_H_
#define BIGTABLE_BENCH_COMMON_SPREAD_H_

#include <vector>

namespace bench {

// NaN: not available.
struct Spread {
  double mean;
  double deviation;  // the standard deviation of a sample; needs two values
};

// Of the values that are not NaN.
Spread SpreadOf(const std::vector<double>& values);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_SPREAD_H_
