// What programs are told about the results: JSON.
#ifndef BIGTABLE_BENCH_PAPER_JSON_H_
#define BIGTABLE_BENCH_PAPER_JSON_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "summary.h"

namespace bench {

// The members of an object that are figures, each after a comma. What was not measured is null; the
// figures that only some benchmarks have are left out of the others.
std::string JsonFigures(const Summary& summary);

// One object a line. The file is replaced.
absl::Status WriteJson(const std::vector<Summary>& summaries, const std::string& path);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_JSON_H_
