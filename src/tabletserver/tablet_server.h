// A tablet server: a set of tablets, the commit log that they share, and the write path through
// both (sections 5.3 and 6 of the paper). It consists of parts, each with its own state:
//
//   tablets()      which tablets it has                              server_tablets.h
//   log()          the commit log and its upkeep                     server_log.h
//   rotation()     which memtables are rotated and flushed, when     memtable_rotation.h
//   writer()       how a group of writes goes to log and memtables   group_writer.h
//   state()        its lock, and whether it has ended                serving_state.h
//   write_error()  why it refuses writes                             write_error.h
//   visible()      the last mutation that readers see                visible_sequence.h
//
// This class starts and ends the server, resumes writes after an error, and makes the changes that
// concern several parts: a tablet is added, removed, split or stopped, or gets another schema.
//
// Thread-safe, except where a part says otherwise. Start is called once, and may run beside reads.
//
// Lock order: the queue of the writes (GroupWriter::queue), then MemtableRotation::mutex(), then
// the locks of the other parts, under which no other lock of the server is taken.
#ifndef BIGTABLE_TABLETSERVER_TABLET_SERVER_H_
#define BIGTABLE_TABLETSERVER_TABLET_SERVER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/statistics.h"

#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/sequence.h"
#include "commit/group_writer.h"
#include "commit/memtable_rotation.h"
#include "commit/server_log.h"
#include "commit/server_tablets.h"
#include "commit/serving_state.h"
#include "commit/visible_sequence.h"
#include "commit/write_error.h"
#include "lockservice/lock_service.h"
#include "monitoring/compaction_counters.h"
#include "schema/table_layout.h"
#include "tablet/tablet.h"
#include "tablet/tablet_environment.h"
#include "tabletserver/flush_log_sync.h"

namespace bigtable {

struct TabletServerOptions {
  // Bytes at which a memtable is rotated (TabletEnvironment::memtable_size), and of a log segment.
  uint64_t most_memtable_size = 0;
  uint64_t log_segment_size = 0;
  GroupWriter::LogLimit log_limit;
  // The groups of its LastWrites (cache/scan_cache.h).
  size_t write_groups = 1 << 12;
  // The logs with parts of batches, of all servers that batches write to; outlives the server.
  // Null: no batch writes to it.
  BatchLogSync* batches = nullptr;
};

class TabletServer final {
 public:
  // `environment` is the base of the tablets' own; name, sequences, most_memtable_size, visible
  // and sync_log are filled in here. `sequences` and `info_log` outlive the server. `wake` is
  // called when there is background work.
  TabletServer(const TabletServerOptions& options, TabletEnvironment environment,
               SequenceSource* sequences, InfoLog* info_log, std::function<void()> wake);
  TabletServer(const TabletServer&) = delete;
  TabletServer& operator=(const TabletServer&) = delete;

  // Starts the log in `directory` as the server `name`, which no server had before, and takes the
  // server's lock in `lock_service`, which outlives it (null: it needs no lock). Until then the
  // server has no name, and can only read and replay.
  absl::Status Start(std::string name, const std::string& directory,
                     LockService* lock_service = nullptr,
                     absl::Duration lease = absl::InfiniteDuration());
  // Of a server that has ended (ServingState::MarkEnded). When this returns, all that it has begun
  // has ended, and visible() and last_acknowledged() are final. It does not touch its log any more,
  // except in a call on a log file that stalled and was left behind by a switch; what that call
  // does to its file is not part of the log.
  void WaitForEnd();

  // The name is for a server that has a log, and for the thread that starts it.
  const std::string& name() const { return environment_.server; }
  const TabletEnvironment* environment() const { return &environment_; }
  TabletEnvironment* mutable_environment() { return &environment_; }

  // --- Its parts ---

  const ServerTablets& tablets() const { return tablets_; }
  ServerLog& log() { return log_; }
  const ServerLog& log() const { return log_; }
  MemtableRotation& rotation() { return rotation_; }
  GroupWriter& writer() { return writer_; }
  const GroupWriter& writer() const { return writer_; }
  ServingState& state() { return state_; }
  const ServingState& state() const { return state_; }
  WriteError& write_error() { return error_; }
  SequenceNumber visible() const { return visible_.get(); }
  ServerCounters* counters() { return &counters_; }
  TabletServerStatistics Statistics() const;

  // --- Tablets ---

  void AddTablet(std::shared_ptr<Tablet> tablet);
  // Its table was deleted: the tablet accepts no more writes.
  void RemoveTablet(const TabletId& id);
  // Drops the references to a tablet that is superseded.
  void ForgetTablet(const Tablet& tablet);
  // Replaces a tablet by two, in its turn among the writes (Tablet::Split), and calls `publish`
  // before the first write to them. The memtables that this rotates wait for the server's next
  // flush.
  void SplitTablet(const std::shared_ptr<Tablet>& tablet, std::string_view row,
                   absl::FunctionRef<void(const Tablet::Halves&)> publish);
  // The tablet accepts no more writes, and its memtables are rotated, so that another server can
  // serve it, or another tablet can take its place. An error of the limits: nothing has changed.
  absl::Status StopTablet(Tablet* tablet, const CallLimits& limits);
  // The tablet has this schema from here on, in its turn among the writes.
  void SetLayout(Tablet* tablet, const std::shared_ptr<const TableLayout>& layout);
  // Frees the memtables of a removed tablet, once no work on it is under way. An error of the
  // limits: it has them still.
  absl::Status DropMemtables(Tablet* tablet, const CallLimits& limits);
  // To be called before a tablet that comes from another server, with mutations up to `sequence`,
  // is read here.
  void AdvanceVisible(SequenceNumber sequence);
  // In a turn among the writes in which `sequence` became visible, after a change of rows at that
  // number which is not a write here (Table::Ingest): no read sequence from before it meets a
  // precondition.
  void OutdateReadsBefore(SequenceNumber sequence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    if (environment_.last_writes != nullptr) environment_.last_writes->RaiseFloor(sequence);
  }
  // To be called before a write that has a precondition (WriteRequest::unchanged_since): from the
  // first call on, the server notes the last write to each row, at the cost of a hash and a store
  // for each write. The read sequences from before that call fail the precondition. Errors of the
  // limits: the writes are not noted.
  absl::Status TrackWrites(const CallLimits& limits) {
    if (!tracks_writes_.load(std::memory_order_acquire)) [[unlikely]]
      return BeginTracking(limits);
    return absl::OkStatus();
  }
  bool tracks_writes() const { return tracks_writes_.load(std::memory_order_acquire); }
  // Waits until all mutations up to a snapshot's number are visible, before the server is read at
  // it. Costs a load if the server has made that number visible. Errors of the limits.
  absl::Status AwaitVisible(SequenceNumber sequence, const CallLimits& limits) {
    if (visible() >= sequence) return absl::OkStatus();
    return writer_.WaitForWrites(limits);
  }
  // To be called before a change that takes a turn among the writes and cannot be given up: waits
  // until the present turn has ended. Errors of the limits.
  absl::Status AwaitTurn(const CallLimits& limits) { return writer_.WaitForWrites(limits); }

  // Continues the log in a fresh file: once the memtables of now are flushed, and the log is
  // trimmed, no file has bytes of earlier mutations (CommitLog::PrepareFreshSpare). Unavailable:
  // the log stalls, for four times as long as a write waits before it continues in the other file.
  // If it stalls only when the call waits for its turn already, the call waits until its limits.
  absl::Status StartFreshLogSegment(const CallLimits& limits);

  // --- Resume ---

  // The first step of Resume: rotates all memtables, so that everything in memory is flushed.
  absl::Status BeginResume(const CallLimits& limits);
  // The second step, after that flush: starts a new log segment, and accepts writes again.
  absl::Status FinishResume(const CallLimits& limits);

 private:
  absl::Status BeginTracking(const CallLimits& limits);
  // In a turn among the writes, after a change of rows that is not a write here: no read sequence
  // from before it meets a precondition.
  void OutdateReads();

  const TabletServerOptions options_;
  TabletEnvironment environment_;
  SequenceSource* const sequences_;
  std::atomic<bool> tracks_writes_;
  const std::function<void()> wake_;

  // Parts point to others.
  ServerCounters counters_;
  VisibleSequence visible_;
  ServerTablets tablets_;
  ServingState state_;
  WriteError error_;
  ServerLog log_;
  FlushLogSync flush_sync_;
  GroupWriter writer_;
  MemtableRotation rotation_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_TABLET_SERVER_H_
