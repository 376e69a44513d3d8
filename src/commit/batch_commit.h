// One group of batches on its way to the logs and memtables of its servers: the steps of
// batch_writer.h, where it is said what always holds.
//
// Belongs to one thread. Two threads may commit groups at the same time: they take their turns at
// servers in one order, and what they share is thread-safe.
#ifndef BIGTABLE_COMMIT_BATCH_COMMIT_H_
#define BIGTABLE_COMMIT_BATCH_COMMIT_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "bigtable/options.h"
#include "bigtable/row_range.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "base/sequence.h"
#include "base/thread_roles.h"
#include "commit/batch_log_sync.h"
#include "commit/group_writer.h"
#include "commit/joint_publication.h"
#include "commit/void_batches.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "tablet/tablet.h"

namespace bigtable {

// A mutation, and where its row is.
struct BatchMutation {
  GroupWriter* server = nullptr;
  Tablet* tablet = nullptr;
  // The schema that it was checked against, which lives as long as the call.
  const TableLayout* layout = nullptr;
  EncodedMutation mutation;
};

// Rows of a tablet that a transaction has read.
struct BatchRead {
  GroupWriter* server = nullptr;
  Tablet* tablet = nullptr;
  const RowRange* rows = nullptr;  // outlives the call; perhaps beyond the tablet
  SequenceNumber since = 0;        // of the read
};

struct BatchRequest {
  absl::Span<const BatchMutation> mutations;  // at least one; they take effect in this order
  // The precondition: none of these rows was written since it was read. If one may have been, the
  // status is ConflictError (rpc/row_conflict.h). Requires TabletServer::TrackWrites before the
  // sequence number of the read was taken; otherwise rows may have been written.
  absl::Span<const BatchRead> reads = {};
  Durability durability = Durability::kBuffered;
  CallLimits limits;                    // checked once more before it goes to the logs
  SequenceNumber* committed = nullptr;  // if set: gets the last number of an applied batch
};

class BatchCommit {
 public:
  // What all groups share. The pointers outlive this.
  struct Shared {
    SequenceSource* sequences = nullptr;
    VoidBatches* void_batches = nullptr;
    BatchLogSync* unsynced = nullptr;
    JointPublication publication;
  };
  // The mutations of a batch for one server.
  struct ServerPart {
    size_t server = 0;              // in servers_
    std::vector<size_t> mutations;  // in the request
    SequenceNumber last = 0;
  };
  // A batch and its outcome.
  struct Write {
    explicit Write(const BatchRequest& r) : request(r) {}
    bool is_logged() const { return request.durability != Durability::kNone; }

    const BatchRequest& request;
    absl::Status status = absl::OkStatus();
    std::optional<size_t> superseded = std::nullopt;  // a mutation, or a read after the last one

    // For the thread that commits.
    std::vector<ServerPart> parts = {};
    std::vector<GroupWriter::Logged> logged = {};  // for each mutation
    bool is_done = false;                          // it has failed, or will not be applied
    bool is_in_log = false;                        // a record of it may be
  };

  explicit BatchCommit(Shared* shared) : shared_(shared) {}
  BatchCommit(const BatchCommit&) = delete;
  BatchCommit& operator=(const BatchCommit&) = delete;

  // Commits these together. False, and nothing has happened: the limits have ended, or a turn did
  // not come within `stall_timeout` while this had turns at other servers, whose writes wait for
  // it. The caller then waits for that server without them.
  [[nodiscard]] bool Run(absl::Span<Write* const> writes, const CallLimits& limits,
                         absl::Duration stall_timeout);
  // After false: the server whose turn did not come.
  GroupWriter* awaited() const { return awaited_; }

 private:
  struct Server {
    GroupWriter* writer = nullptr;
    absl::Status status = absl::OkStatus();  // why it can keep nothing of the group
    bool has_lost_lock = false;              // which is the reason
    bool is_written = false;                 // a batch has taken numbers for it
    bool is_logged = false;                  // a record was appended
    bool has_part = false;                   // one of several parts
    bool is_synced = false;                  // the log is: a batch requires it
    SequenceNumber applied = 0;              // the last number in the memtables
  };

  void CommitInTurns();

  // Step 1.
  absl::Status Check(Write* write) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  absl::Status CheckReads(Write* write) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Whether an earlier batch of the group, which is not in the memtables yet, writes to rows that
  // were read.
  bool IsWrittenBefore(const Write& write, const BatchRead& read) const;
  // Step 2. Sets the status of a batch that there is no room for. If there is no memory to log the
  // batch (std::bad_alloc), it is refused, or fails with its servers if a part of it is in a log.
  void LogIfMemory(Write* write) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void Log(Write* write) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void TakeNumbers(Write* write) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  absl::Status Reserve(Write* write, absl::Status* refused)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  absl::Status Append(Write* write) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void MakePayload(const Write& write, size_t part);
  // Step 3, and the check of the locks.
  void Secure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  static absl::Status Flush(Server* server) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Gives the batches whose servers failed their status, and makes them void.
  void FailBatches() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  bool FailBatch(Write* write);
  // Step 4.
  void ApplyToMemtables(const Write& write) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  Shared* const shared_;
  std::vector<Write*> writes_;
  std::vector<Server> servers_;
  GroupWriter* awaited_ = nullptr;
  std::vector<BatchPayload> payloads_;  // of the parts of one batch
  std::vector<OtherBatchPart> others_;
  std::vector<BatchLogSync::LinkedLog> unsynced_;
  std::vector<JointPublication::Part> published_;
  absl::Status sync_status_;  // of logs with parts of earlier batches
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_BATCH_COMMIT_H_
