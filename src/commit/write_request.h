// A write of mutations of one tablet, as it goes from a call or a message to the memtables. Whoever
// makes it fills in the first part; what checks it fills in the second (serving/data_path.h); the
// group writer logs and applies it (commit/group_writer.h).
#ifndef BIGTABLE_COMMIT_WRITE_REQUEST_H_
#define BIGTABLE_COMMIT_WRITE_REQUEST_H_

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/options.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "monitoring/call_timer.h"
#include "rpc/data_service.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "tablet/tablet.h"

namespace bigtable {

// The precondition of a write that has none.
inline constexpr SequenceNumber kUnconditional = kMaxSequence;

struct WriteRequest {
  Tablet* tablet = nullptr;
  absl::Span<const EncodedMutation> mutations;  // well formed
  // One for each mutation. Mutations that have failed are skipped, at every step.
  absl::Span<absl::Status> statuses;
  bool is_batch = false;  // all of them are applied, and recovered after a crash, or none
  // The precondition of a single mutation: its row has not been written since this read sequence of
  // the server. If it may have been, the status is ConflictError (rpc/row_conflict.h). Every write
  // meets kUnconditional.
  SequenceNumber unchanged_since = kUnconditional;
  Durability durability = Durability::kBuffered;
  CallLimits limits;  // checked once more before the write goes to the log
  Caller caller;
  const CallSample* sample = nullptr;   // null: the write is not measured
  SequenceNumber* committed = nullptr;  // if set: gets the last number of an applied batch

  // The schema that they were checked against, which lives as long as the call.
  const TableLayout* layout = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_WRITE_REQUEST_H_
