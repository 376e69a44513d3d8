// Whether an SSTable that was written elsewhere can be read as one of a table: nothing in it is
// what this database would not have written. Any thread.
#ifndef BIGTABLE_TRANSFER_INGEST_CHECK_H_
#define BIGTABLE_TRANSFER_INGEST_CHECK_H_

#include <cstdint>
#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/call_limits.h"
#include "base/ref_counted.h"
#include "schema/table_layout.h"
#include "sstable/sstable.h"

namespace bigtable {

// Checks the file's description, and all of its entries if `reads_all`, or if only they say what
// groups it is of. Returns the ids of the locality groups that it has entries of; none if it has no
// entries. DataLoss: it is damaged. InvalidArgument: it has an entry that no database has, or a
// cell that its family does not take. NotFound: a family or group that the table does not have.
absl::StatusOr<std::set<uint32_t>> CheckFileToIngest(const SSTable& file, const TableLayout& layout,
                                                     bool reads_all, const CallLimits& limits);

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_INGEST_CHECK_H_
