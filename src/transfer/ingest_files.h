// Table::Ingest: brings SSTables from elsewhere into the directory of a database, checks them, and
// has the master add them to the tablets (master/ingestion.h).
//
// A file is taken as it is, under a new number, if it is of one locality group. Then nothing in it
// says that it is this table's: METADATA has what it needs besides (SSTableInfo::ingested). It is
// rewritten, each entry with the options of its group, if
//
// * it has entries of several groups, or
// * it is to lose against what the table has, and has more than one sequence number: as there are
//   few numbers below those of a table, each entry then gets the number 1, and an ordinal by which
//   the entries of a row keep their order.
#ifndef BIGTABLE_TRANSFER_INGEST_FILES_H_
#define BIGTABLE_TRANSFER_INGEST_FILES_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/bulk_load.h"
#include "bigtable/memory_budget.h"

#include "admission/quota_control.h"
#include "base/call_limits.h"
#include "base/info_log.h"
#include "cluster/live_options.h"
#include "cluster/storage.h"
#include "master/ingestion.h"
#include "schema/table_layout.h"

namespace bigtable {

// What it uses of an open database.
struct IngestParts {
  ClusterStorage* storage = nullptr;
  const LiveOptions* live = nullptr;
  std::shared_ptr<MemoryBudget> budget;
  QuotaControl* quotas = nullptr;
  InfoLog* info_log = nullptr;
  // The table as it is now.
  std::function<absl::StatusOr<TableLayout>()> layout;
  // TabletChanges::Ingest.
  std::function<absl::Status(const IngestRequest& request, bool* may_be_named)> add;
};

// Table::Ingest. After an error no file is in the directory, unless METADATA may name it.
absl::StatusOr<IngestSummary> IngestFiles(const IngestParts& parts,
                                          absl::Span<const std::string> paths,
                                          const IngestOptions& options, const CallLimits& limits);

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_INGEST_FILES_H_
