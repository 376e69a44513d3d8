// The report of the Webtable on disk.
#ifndef BIGTABLE_EXAMPLES_WEBTABLE_REPORT_H_
#define BIGTABLE_EXAMPLES_WEBTABLE_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/bigtable.h"

#include "files.h"

namespace webtable {

// Prints sizes compared to those of gzip, the anchors of a page, the first rows with the prefix
// `prefix`, and the time of `random_reads` reads of pages. Then reads every page back and compares
// it with its file. `disk`: unless the database is remote. DataLoss if one differs, after printing
// which.
absl::Status PrintReport(bigtable::Table* table, const std::vector<PageFile>& pages,
                         const std::string& prefix, const std::optional<DiskUsage>& disk,
                         uint64_t random_reads);

}  // namespace webtable

#endif  // BIGTABLE_EXAMPLES_WEBTABLE_REPORT_H_
