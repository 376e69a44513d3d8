// The results as JSON, for programs.
#ifndef BIGTABLE_BENCH_PAPER_JSON_H_
#define BIGTABLE_BENCH_PAPER_JSON_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

#include "summary.h"

namespace bench {

// The members of an object that are figures, each after a comma. Figures that were not measured are
// null; figures that only some benchmarks have are omitted from the others.
std::string JsonFigures(const Summary& summary);

// One object a line. The file is replaced.
absl::Status WriteJson(const std::vector<Summary>& summaries, const std::string& path);

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_JSON_H_
