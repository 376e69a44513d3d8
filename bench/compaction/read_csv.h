// The runs of a CSV that --csv has written.
#ifndef BIGTABLE_BENCH_COMPACTION_READ_CSV_H_
#define BIGTABLE_BENCH_COMPACTION_READ_CSV_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "summary.h"

namespace bench {

// Columns are found by their names, so one may be missing, and its figure is then not available;
// those of a run must be there. InvalidArgument names the file, the line and what is wrong.
absl::StatusOr<std::vector<RunResult>> ReadCsv(const std::string& path);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_READ_CSV_H_
