// Whether what a transaction has read may have been written since: the comparison that makes
// transactions serializable. True is always correct; false is certain.
//
// Only in a turn among the writes of the tablet's server (GroupCommit::RunExclusive). The server
// notes its writes since before the read (TabletServer::TrackWrites); otherwise the answer is true.
#ifndef BIGTABLE_COMMIT_READ_CHECK_H_
#define BIGTABLE_COMMIT_READ_CHECK_H_

#include <string_view>

#include "bigtable/row_range.h"

#include "base/sequence.h"
#include "base/thread_roles.h"
#include "tablet/tablet.h"

namespace bigtable {

// A row of the tablet, read at `since`. Cost: a hash and two loads.
bool MayBeWrittenSince(const Tablet& tablet, std::string_view row, SequenceNumber since)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
// The rows of the tablet that are in a range. The entries of memtables are compared, and of
// SSTables only the largest sequence number. Cost: a look at each entry of the range in memtables
// that have a later mutation.
bool MayBeWrittenSince(const Tablet& tablet, const RowRange& rows, SequenceNumber since)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_READ_CHECK_H_
