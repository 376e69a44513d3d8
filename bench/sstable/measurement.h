// Builds one SSTable and reads it.
#ifndef BIGTABLE_BENCH_SSTABLE_MEASUREMENT_H_
#define BIGTABLE_BENCH_SSTABLE_MEASUREMENT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

#include "combination.h"
#include "figures.h"

namespace bench {

// Writes the file `path`, scans it twice, and reads rows at random, which `seed` chooses: rows that
// exist, and then rows between them that do not, of each `reads` to warm up, `reads` that are timed
// together, and `reads` that are timed one by one. On one thread. Leaves the file there.
absl::StatusOr<Figures> Measure(const Combination& combination, uint64_t reads, uint64_t seed,
                                const std::string& path);

// Microseconds that a read timed by itself includes of the clock: the median of many readings.
double ClockMicros();

}  // namespace bench

#endif  // BIGTABLE_BENCH_SSTABLE_MEASUREMENT_H_
