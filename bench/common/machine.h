// The machine of the measurement.
#ifndef BIGTABLE_BENCH_COMMON_MACHINE_H_
#define BIGTABLE_BENCH_COMMON_MACHINE_H_

#include <string>

namespace bench {

// CPU, cores, memory, kernel and compiler, on one line without its end.
std::string DescribeMachine();

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_MACHINE_H_
