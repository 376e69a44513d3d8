// What the Webtable has to show for itself once it is on disk.
#ifndef BIGTABLE_EXAMPLES_WEBTABLE_REPORT_H_
#define BIGTABLE_EXAMPLES_WEBTABLE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/bigtable.h"

#include "files.h"

namespace webtable {

// Prints sizes beside those of gzip, the anchors of a page, the first rows of the prefix `prefix`,
// the time of `random_reads` reads of pages; then reads every page back and compares it with its
// file. DataLoss if one differs, after saying which.
absl::Status PrintReport(bigtable::Table* table, const std::vector<PageFile>& pages,
                         const std::string& prefix, const DiskUsage& disk, uint64_t random_reads);

}  // namespace webtable

#endif  // BIGTABLE_EXAMPLES_WEBTABLE_REPORT_H_
