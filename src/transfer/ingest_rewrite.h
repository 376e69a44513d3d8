// Writes the entries of an SSTable that is ingested into files of their own, one or more for each
// locality group (transfer/ingest_files.h).
#ifndef BIGTABLE_TRANSFER_INGEST_REWRITE_H_
#define BIGTABLE_TRANSFER_INGEST_REWRITE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "master/ingestion.h"
#include "schema/table_layout.h"
#include "sstable/sstable.h"

namespace bigtable {

struct IngestRewrite {
  FileSystem* file_system = nullptr;
  MemoryBudget* budget = nullptr;
  const TableLayout* layout = nullptr;
  std::function<uint64_t()> new_file_number;
  std::function<std::string(uint64_t)> path_of;
  uint64_t target_file_size = 0;  // a file ends at the end of a row once it has this size
  bool flattens = false;          // each entry gets the sequence number 1
};

// The file was checked. Appends the new files to `files`, also those that are written when an error
// comes: the caller removes them. Each is synced.
absl::Status RewriteToIngest(const SSTable& file, const IngestRewrite& rewrite,
                             const CallLimits& limits, std::vector<IngestedFile>* files);

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_INGEST_REWRITE_H_
