// The figures as tables and as CSV.
#ifndef BIGTABLE_BENCH_SSTABLE_REPORT_H_
#define BIGTABLE_BENCH_SSTABLE_REPORT_H_

#include <string>
#include <vector>

#include "combination.h"
#include "figures.h"

namespace bench {

// The arguments that have several values, as "compression=zstd memory=8".
std::string Label(const Combination& combination, const std::vector<Parameter>& swept);

// Two tables, of the files and of reads of single rows, with a line for each result: means, and
// standard deviations if there are repeats. Not empty.
std::string Tables(const std::vector<Result>& results);

// A line for each repeat: all arguments, its number and its seed, and all figures.
std::string CsvHeader();
std::string CsvLine(const Combination& combination, uint64_t repeat, uint64_t seed,
                    const Figures& figures);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SSTABLE_REPORT_H_
