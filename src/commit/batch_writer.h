// Writes batches: mutations of several tablets, on one or several servers, that are applied
// together or not at all.
//
// Concurrent batches form a group (commit/group_commit.h), whose leader works for all of them.
// It takes a turn among the writes of every server that the group writes to, and so nothing else is
// logged or applied there meanwhile. Then it
//  1. checks each batch. One that cannot be applied as a whole takes no sequence number;
//  2. gives each batch consecutive sequence numbers, reserves room in every log, and appends one
//     record to each: a kBatch if there is only one log, otherwise a kBatchPart that names the
//     other parts (schema/mutation_format.h);
//  3. syncs the logs if a batch requires it;
//  4. inserts into the memtables, and makes all of it visible at once (visible_sequence.h).
//
// What always holds:
// 1. Readers see all of a batch or none, also of several servers: the sequence numbers of a batch
//    are consecutive, so a snapshot is before or after all of them; and readers without a snapshot
//    decide by one number for all servers.
// 2. Recovery finds all of a batch or none (recovery/batch_recovery.h). What is appended to a log
//    after a part is appended after all parts, because the turns end later. A batch of which a
//    server could not keep its part is void (void_batches.h) before any of its servers goes on.
// 3. A batch is acknowledged only when all its servers had their locks after it was logged.
// 4. The batch of a transaction is applied only if nothing that the transaction has read was
//    written since. This is checked in the turns, which include those of the servers that it has
//    only read from. So the transaction takes place at once, where its sequence numbers are.
//
// A stalled call on a log is waited for by the thread that makes it and by the other batches of its
// group. No other call waits for it beyond its limits. Batches that arrive meanwhile wait in the
// queue as long as a group usually takes several times over. Then each takes its own turns, beside
// the stalled group (batch_commit.h): at other servers it goes on, at the same ones it waits.
//
// Thread-safe. Has no lock of its own: the leader's fields belong to the thread that leads.
#ifndef BIGTABLE_COMMIT_BATCH_WRITER_H_
#define BIGTABLE_COMMIT_BATCH_WRITER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/sequence.h"
#include "base/thread_roles.h"
#include "commit/batch_commit.h"
#include "commit/batch_log_sync.h"
#include "commit/group_commit.h"
#include "commit/joint_publication.h"
#include "commit/void_batches.h"

namespace bigtable {

class BatchWriter {
 public:
  // All outlive this.
  BatchWriter(SequenceSource* sequences, VoidBatches* void_batches, BatchLogSync* unsynced);
  ~BatchWriter();
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  // Applies all mutations or, after an error, none. `*superseded`, if it is set: none, because the
  // tablet of this mutation, or of this read after the last mutation, is superseded or its server
  // has lost its lock; the caller looks all rows up again. After Unavailable it is not known
  // whether the next opening of the database finds the batch, as a whole. An error of the limits:
  // the batch had no turn at one of its servers.
  absl::Status Apply(const BatchRequest& request, std::optional<size_t>* superseded);

  // Whatever else becomes visible on several servers at once.
  JointPublication* publication() { return &shared_.publication; }

 private:
  struct Queued;
  using Group = std::span<GroupCommit::Request* const>;

  // How long a group may take before batches that wait for it go on without it: as for a stall of a
  // log (CommitLog::StallTimeout), several times the usual.
  static constexpr absl::Duration kLeastStallTimeout = absl::Milliseconds(20);
  static constexpr absl::Duration kMostStallTimeout = absl::Seconds(1);
  absl::Duration StallTimeout() const;

  void CommitGroup(Group group);
  void CommitAlone(BatchCommit::Write* write);

  BatchCommit::Shared shared_;
  BatchCommit leader_ ABSL_GUARDED_BY(batch_leader);
  std::atomic<int64_t> recent_{0};  // how long groups have taken, in nanoseconds
  GroupCommit queue_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_BATCH_WRITER_H_
