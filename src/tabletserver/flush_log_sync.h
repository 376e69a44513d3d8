// The logs that are synced before a flush is committed (TabletEnvironment::sync_log):
//
//   1. The log of the server itself, if a memtable that is not part of the flush has an older
//      mutation, or a later one of a batch that is in the flush. The flush makes its memtables
//      durable, recovered writes are a prefix of their order, and batches are whole. What was
//      rotated at the same sequence number is flushed together, and needs no sync.
//   2. The logs with which that one is linked by parts of batches (commit/batch_log_sync.h).
//
// A log that cannot be synced fails the flush, unless this thread resumes the server of the log
// (WriteError::BeginResume): that server's memtables are all flushed before it goes on, and its
// redo points say so to recovery (recovery/batch_recovery.h).
//
// Thread-safe. The lock is held briefly, and no other lock is taken under it.
#ifndef BIGTABLE_TABLETSERVER_FLUSH_LOG_SYNC_H_
#define BIGTABLE_TABLETSERVER_FLUSH_LOG_SYNC_H_

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "base/mutex.h"
#include "base/sequence.h"
#include "commit/batch_log_sync.h"
#include "commit/server_log.h"
#include "commit/server_tablets.h"
#include "commit/write_error.h"
#include "tablet/immutable_memtables.h"
#include "tablet/tablet_environment.h"

namespace bigtable {

class FlushLogSync {
 public:
  // All outlive this.
  FlushLogSync(const TabletEnvironment* environment, const ServerTablets* tablets,
               const ServerLog* log, WriteError* error, BatchLogSync* batches)
      : environment_(environment), tablets_(tablets), log_(log), error_(error), batches_(batches) {}
  FlushLogSync(const FlushLogSync&) = delete;
  FlushLogSync& operator=(const FlushLogSync&) = delete;

  // To be called before the flush of these memtables is committed. Returns the last sequence number
  // up to which flushes have made the log durable, with all that it needs in other logs: an opening
  // that does not find it there reports DataLoss.
  absl::StatusOr<SequenceNumber> SyncFor(absl::Span<const ImmutableMemtables> flushed);

 private:
  // Whether other memtables have mutations that may not be durable, and that are older than the
  // last one of these, or of a batch with it.
  bool IsNeeded(absl::Span<const ImmutableMemtables> flushed) const;

  const TabletEnvironment* const environment_;
  const ServerTablets* const tablets_;
  const ServerLog* const log_;
  WriteError* const error_;
  BatchLogSync* const batches_;  // may be null

  mutable Mutex mutex_;
  // All that is needed of logs up to here is durable.
  SequenceNumber synced_through_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_FLUSH_LOG_SYNC_H_
