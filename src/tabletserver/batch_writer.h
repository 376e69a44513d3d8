// Writes batches: mutations of several tablets, on one or several servers, that are applied
// together or not at all.
//
// Concurrent batches form a group (commitlog/group_commit.h), whose leader works for all of them.
// It takes a turn among the writes of every server that the group writes to, and so nothing else is
// logged or applied there meanwhile. Then it
//  1. checks each batch. One that cannot be applied as a whole takes no sequence number;
//  2. gives each batch consecutive sequence numbers, reserves room in every log, and appends one
//     record to each: a kBatch if there is only one log, otherwise a kBatchPart that names the
//     other parts (tablet/mutation_format.h);
//  3. syncs the logs if a batch requires it;
//  4. inserts into the memtables, and makes all of it visible at once (visible_sequence.h).
//
// What always holds:
// 1. Readers see all of a batch or none, also of several servers: the sequence numbers of a batch
//    are consecutive, so a snapshot is before or after all of them; and readers without a snapshot
//    decide by one number for all servers.
// 2. Recovery finds all of a batch or none (cluster/batch_recovery.h). What is appended to a log
//    after a part is appended after all parts, because the turns end later. A batch of which a
//    server could not keep its part is void (void_batches.h) before any of its servers goes on.
// 3. A batch is acknowledged only when all its servers had their locks after it was logged.
// 4. The batch of a transaction is applied only if nothing that the transaction has read was
//    written since. This is checked in the turns, which include those of the servers that it has
//    only read from. So the transaction takes place at once, where its sequence numbers are.
//
// A stalled call on a log is waited for, unlike that of a group of one server.
//
// Thread-safe. Has no lock: the leader's fields belong to the thread that leads.
#ifndef BIGTABLE_TABLETSERVER_BATCH_WRITER_H_
#define BIGTABLE_TABLETSERVER_BATCH_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/options.h"
#include "bigtable/row_range.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "commitlog/group_commit.h"
#include "tablet/mutation_format.h"
#include "tablet/table_layout.h"
#include "tablet/tablet.h"
#include "tabletserver/batch_log_sync.h"
#include "tabletserver/group_writer.h"
#include "tabletserver/visible_sequence.h"
#include "tabletserver/void_batches.h"

namespace bigtable {

class BatchWriter {
 public:
  // A mutation, and where its row is.
  struct Mutation {
    GroupWriter* server = nullptr;
    Tablet* tablet = nullptr;
    // The schema that it was checked against, which lives as long as the call.
    const TableLayout* layout = nullptr;
    EncodedMutation mutation;
  };
  // Rows of a tablet that a transaction has read.
  struct Read {
    GroupWriter* server = nullptr;
    Tablet* tablet = nullptr;
    const RowRange* rows = nullptr;  // outlives the call; perhaps beyond the tablet
    SequenceNumber since = 0;        // of the read
  };
  struct Request {
    absl::Span<const Mutation> mutations;  // at least one; they take effect in this order
    // The precondition: none of these rows was written since it was read. If one may have been, the
    // status is ConflictError (rpc/row_conflict.h). Requires TabletServer::TrackWrites before the
    // sequence number of the read was taken; otherwise rows may have been written.
    absl::Span<const Read> reads = {};
    Durability durability = Durability::kBuffered;
    CallLimits limits;                    // checked once more before it goes to the logs
    SequenceNumber* committed = nullptr;  // if set: gets the last number of an applied batch
  };

  // All outlive this.
  BatchWriter(SequenceSource* sequences, VoidBatches* void_batches, BatchLogSync* unsynced);
  ~BatchWriter();
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  // Applies all mutations or, after an error, none. `*superseded`, if it is set: none, because the
  // tablet of this mutation, or of this read after the last mutation, is superseded or its server
  // has lost its lock; the caller looks all rows up again. After Unavailable it is not known
  // whether the next opening of the database finds the batch, as a whole.
  absl::Status Apply(const Request& request, std::optional<size_t>* superseded);

 private:
  struct Server;
  struct Part;
  struct Write;
  using Group = std::span<GroupCommit::Request* const>;

  void CommitGroup(Group group);
  // Runs CommitInTurns in a turn at each server from the i-th on. All threads that have several
  // turns take them in one order.
  void TakeTurns(size_t i);
  void CommitInTurns();

  // Step 1.
  absl::Status Check(Write* write) const;
  absl::Status CheckReads(Write* write) const;
  // Whether an earlier batch of the group, which is not in the memtables yet, writes to rows that
  // were read.
  bool IsWrittenBefore(const Write& write, const Read& read) const;
  // Step 2. Sets the status of a batch that there is no room for. If there is no memory to log the
  // batch (std::bad_alloc), it is refused, or fails with its servers if a part of it is in a log.
  void LogIfMemory(Write* write);
  void Log(Write* write);
  void TakeNumbers(Write* write);
  absl::Status Reserve(Write* write, absl::Status* refused);
  absl::Status Append(Write* write);
  void MakePayload(const Write& write, size_t part);
  // Step 3, and the check of the locks.
  void Secure();
  absl::Status Flush(Server* server);
  // Gives the batches whose servers failed their status, and makes them void.
  void FailBatches();
  bool FailBatch(Write* write);
  // Step 4.
  void ApplyToMemtables(const Write& write);
  void Publish();

  SequenceSource* const sequences_;
  VoidBatches* const void_batches_;
  BatchLogSync* const unsynced_;
  VisibleSequence::PublishedTurn published_turn_{0};
  GroupCommit queue_;

  // The leader's fields, of the present group.
  std::vector<Write*> writes_;
  std::vector<Server> servers_;
  std::vector<BatchPayload> payloads_;  // of the parts of one batch
  std::vector<OtherBatchPart> others_;
  absl::Status sync_status_;  // of logs with parts of earlier batches
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_BATCH_WRITER_H_
