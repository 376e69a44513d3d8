// One figure of several rounds.
#ifndef BIGTABLE_BENCH_COMMON_MEDIAN_H_
#define BIGTABLE_BENCH_COMMON_MEDIAN_H_

#include <vector>

namespace bench {

// For an even number of values, the mean of the two in the middle. NaN if there are none.
double Median(std::vector<double> values);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_MEDIAN_H_
