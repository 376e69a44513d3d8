// The write path of a server: how a group of writes goes to the log and to the memtables.
//
// A write runs on its caller's thread. Callers that arrive at the same time form a group
// (commit/group_commit.h). One of them, the leader, works for the whole group: it takes sequence
// numbers, appends one record per mutation to the log, syncs once if a write requires it, inserts
// into the memtables, and advances the visible sequence number. So a server has one writer at a
// time, and readers see a group only when it is complete. If a call on the log's file stalls, a
// waiting thread takes over from the leader, in the log's other file (commitlog/commit_log.h).
// Rotations and changes of a tablet's schema take turns in the same queue (RunExclusive).
//
// What always holds:
// 1. A server that has lost its lock acknowledges nothing. The leader checks the lock before the
//    group goes to the log. After the log, it waits until the server has the lock again, or has
//    ended. A group that was logged by a server that ended is answered with Unavailable; recovery
//    replays it only if no last acknowledged sequence number was noted for the server
//    (cluster/server_directory.h).
// 2. When the log or a sync fails, this write and all later ones return the error until Resume: the
//    memtables are sound, but it is not known what the log holds.
// 3. A write that the log has no room for leaves the log as it was, and fails alone.
// 4. A write with a precondition is applied only if its row has not been written since a read
//    sequence. This is checked when the leader comes to the write: all groups before are in the
//    memtables and noted in LastWrites, and the writes before it in its group are compared with it.
//    A write that fails the precondition takes no sequence number and leaves no trace.
// 5. If there is no memory (std::bad_alloc) to log a group, the group is refused, and if a part of
//    it is in the log, so are later writes, as in 2. If there is none to insert what was logged
//    into the memtables, the process ends: nothing else is known to be right then.
//
// Thread-safe. Has no lock of its own: the leader's fields belong to the thread that leads.
#ifndef BIGTABLE_COMMIT_GROUP_WRITER_H_
#define BIGTABLE_COMMIT_GROUP_WRITER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/options.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "base/thread_roles.h"
#include "commit/batch_log_sync.h"
#include "commit/group_commit.h"
#include "commit/memtable_rotation.h"
#include "commit/server_log.h"
#include "commit/serving_state.h"
#include "commit/visible_sequence.h"
#include "commit/write_error.h"
#include "commit/write_request.h"
#include "commitlog/commit_log.h"
#include "memtable/group_search.h"
#include "monitoring/call_timer.h"
#include "monitoring/compaction_counters.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "tablet/tablet.h"
#include "tablet/tablet_environment.h"

namespace bigtable {

class GroupWriter {
 public:
  // The other parts of the server. All outlive this.
  struct Parts {
    const TabletEnvironment* environment = nullptr;
    SequenceSource* sequences = nullptr;
    const ServingState* state = nullptr;
    WriteError* error = nullptr;
    ServerLog* log = nullptr;
    MemtableRotation* rotation = nullptr;
    VisibleSequence* visible = nullptr;
    ServerCounters* counters = nullptr;
    BatchLogSync* batches = nullptr;  // null: no batch has a part in this log
  };

  // How long the log may become before the memtables that need its oldest segments are rotated.
  struct LogLimit {
    uint64_t bytes = 0;
    const MemoryBudget* budget = nullptr;  // a quarter of its limit, if that is more

    uint64_t get() const {
      return budget == nullptr ? bytes : std::max(bytes, budget->limit() / 4);
    }
  };

  // `wake` is called when the log needs upkeep.
  GroupWriter(const Parts& parts, const LogLimit& log_limit, std::function<void()> wake);
  GroupWriter(const GroupWriter&) = delete;
  GroupWriter& operator=(const GroupWriter&) = delete;

  // Applies each mutation by itself, unless they are a batch. If the tablet has another schema than
  // `request.layout` by then, the mutations are checked against that schema. With a precondition,
  // requires TabletServer::TrackWrites before. If the limits end before the turn of the request
  // begins, nothing is applied. False, and nothing is applied, if the tablet is stopped or
  // superseded, or the server has lost its lock: the caller looks the rows up again.
  [[nodiscard]] bool Apply(const WriteRequest& request);
  // For a server of a read-only database, which has no log: the mutation, which was checked, stays
  // in the memtables.
  void ApplyInMemory(Tablet* tablet, const EncodedMutation& mutation);
  // Waits until everything that was given a sequence number before the call is visible. Sequence
  // numbers are taken in turns, so no mutation after the present turn has one. Errors of the
  // limits.
  absl::Status WaitForWrites(const CallLimits& limits) { return queue_.WaitForTurn(limits); }

  // The queue of the writes, for a turn among them (GroupCommit::RunExclusive).
  GroupCommit* queue() { return &queue_; }
  const GroupCommit& queue() const { return queue_; }
  // The last mutation of this server's own log that was acknowledged; zero if there is none. Not
  // the visible sequence number, which mutations of other servers advance too. Above this, the log
  // may have mutations that were refused.
  SequenceNumber last_acknowledged() const {
    return last_acknowledged_.load(std::memory_order_acquire);
  }
  uint64_t rows_written() const { return rows_written_.load(std::memory_order_relaxed); }

  // --- For a batch over several tablets (batch_writer.h), in a turn among the writes ---

  // What the leader keeps of a mutation between the log and the memtables.
  struct Logged {
    SequenceNumber sequence;
    int64_t timestamp;
    std::string_view operations;
    LogSegment* segment;
    SequenceNumber batch = 0;  // as MutationRecord::batch
  };
  const Parts& parts() const { return parts_; }
  // Whether a mutation that was checked against this schema can be applied now. `*superseded`: the
  // tablet is, or the server has lost its lock. Otherwise the error.
  absl::Status CheckInTurn(const Tablet& tablet, const TableLayout* layout,
                           const EncodedMutation& mutation, bool* superseded) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Reserves room in the log for a record. An error that leaves the log as it was goes to
  // `*refused`.
  absl::Status ReserveInLog(uint64_t payload_size, const CallLimits& limits, absl::Status* refused)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void ApplyLogged(Tablet* tablet, std::string_view row, const Logged& logged)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // What was logged up to `last` is in the memtables. It becomes visible by parts().visible.
  void Acknowledge(SequenceNumber last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    last_acknowledged_.store(last, std::memory_order_release);
  }
  // The server refuses writes because of this error; what was logged in this turn does not count.
  // The log fails, unless the server has ended.
  void Fail(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // After a group: rotates memtables if the log is too long, and requests its upkeep.
  void LimitLog() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

 private:
  using Group = std::span<GroupCommit::Request* const>;
  struct Write;
  // What is to go to the memtables. The row is in the request.
  struct Insertion {
    Tablet* tablet;
    std::string_view row;
    Logged logged;
  };
  // When a group has reached which step.
  struct GroupTimes {
    int64_t begin;
    int64_t logged;
    int64_t synced;
    int64_t applied;
  };

  const std::string& server_name() const { return parts_.environment->server; }
  CommitLog* log() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return parts_.log->appending();
  }

  void CommitGroup(Group group);
  // The same for a group whose leader stalls in SecureLog, on another thread.
  void CommitGroupElsewhere(Group group);
  GroupCommit::TakeOver TakeOver();
  // Logs the group. `*is_refused`: the error leaves the log as it was.
  absl::Status LogGroup(Group group, bool* is_refused) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Flushes the log if needed and, if `sync`, syncs it. False if the call has stalled and another
  // thread has done the rest.
  bool SecureLog(Group group, bool sync, absl::Status* status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  absl::Status Secure(CommitLog* log, bool flush, bool sync)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The error for a record of `bytes` bytes that does not fit into the log, or whose write has
  // ended by its limits.
  absl::Status RefusedError(const absl::Status& status, uint64_t bytes,
                            const CallLimits& limits) const;
  // The rest of a group, once the log has it, or has failed.
  void FinishGroup(Group group, absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Nothing of the group is applied, because of this error, and the server refuses writes.
  void FailGroup(Group group, const absl::Status& status, bool is_measured)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Nothing of the group was logged or is applied, because of this error.
  void RefuseGroup(Group group, const absl::Status& status, bool is_measured)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void RecordTimes(Group group, const GroupTimes& times);
  // The error of a single mutation, or of a record that is too large for the log, goes to its own
  // status. An error that is returned is one of the log and concerns the whole group.
  absl::Status LogWrite(Group group, Write* write) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The precondition of a write of the group, at its turn.
  bool MeetsPrecondition(Group group, const Write& write) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  absl::Status LogMutation(Write* write, size_t i) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  absl::Status LogBatch(Write* write) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Appends a record of a write with these limits. An error that leaves the log as it was goes to
  // `*refused`.
  absl::Status AppendToLog(RecordType type, SequenceNumber sequence,
                           std::span<const std::string_view> parts, const CallLimits& limits,
                           AppendedRecord* record, absl::Status* refused)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void ApplyToMemtables() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  const Parts parts_;
  const LogLimit log_limit_;
  const std::function<void()> wake_;

  GroupCommit queue_;
  std::atomic<SequenceNumber> last_acknowledged_{0};
  std::atomic<int> measured_{0};  // writes in the queue
  std::atomic<uint64_t> rows_written_{0};

  // The leader's fields. A thread that takes over continues with them, and the leader that stalled
  // does not touch them any more.
  std::string header_ ABSL_GUARDED_BY(server_writer);
  BatchPayload batch_ ABSL_GUARDED_BY(server_writer);
  std::vector<Insertion> insertions_ ABSL_GUARDED_BY(server_writer);
  GroupSearch search_ ABSL_GUARDED_BY(server_writer);
  GroupTimes times_ ABSL_GUARDED_BY(server_writer){};  // if a write of the group is measured
  bool upkeep_requested_ ABSL_GUARDED_BY(server_writer) = false;
  uint64_t rotated_for_log_bytes_ ABSL_GUARDED_BY(server_writer) =
      0;  // the log's length at the last RotateForLog
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_GROUP_WRITER_H_
