// The calls on the files of a commit log: writing, if they are not mapped, and syncing; how the log
// continues in the next file; and its failure.
//
// Two files. The active segment and the spare are the two log files; one of them is in use. If a
// call on the active file stalls, another thread becomes the appending thread and calls SwitchFile.
// The spare becomes active. It begins with a switch record and copies of the records at risk in the
// slow file; the switch record states the log offset from which the copies replace the slow file
// (switch_writer.h, which lists what a crash leaves of it). At risk is everything that is not known
// to be synced, if it fits into half a segment. Otherwise, if the stalled call is a write, it is
// the records of that write. When the stalled call returns, its thread finds that a new turn has
// begun and changes nothing; the result of its call is ignored (call_turns.h). Only one call is
// left stalled at a time: if the other file is slow too, all callers wait for it.
//
// Threads: Flush, Rotate, SwitchFile, AwaitRestart and Restart are for the appending thread;
// SwitchFile makes its caller that thread. Sync and the rest are for any thread. The appending
// thread writes bytes to the active segment, and SwitchFile to the segment that it has taken;
// nothing is written to a spare, or to an ended segment, except by a stalled call that was left
// behind.
//
// Locks: the state is under the chain's `mutex`, since what a call covers is determined together
// with its turn. No call on a file is made under it. Only StallTimeout and Sync look at the chain
// beside a running appending thread; they read only guarded and atomic fields.
//
// Invariants:
//
// 1. A log offset counts as synced only after every segment that recovery would read up to there
//    was synced. Recovery does not read what follows the end of a segment.
// 2. A switch record is written after all copies that it covers, and is never older than a
//    successful sync that began before it: from the time when SwitchFile determines what is at
//    risk, no earlier call can advance the synced offset.
// 3. The log continues only in a segment that was the spare. So its name is durable before the end
//    record of the segment before it, or its own first record, is written (log_upkeep.h).
// 4. Once the log has failed, no call begins until Restart. The first failure stays. A file on
//    which a call has failed is not reused.
//
// What a crash leaves of a rotation:
//
//  * End record of n torn: the log ends there; n + 1 has no record yet.
//  * End record of n lost in a crash of the machine, records in n + 1 found: the log ends in n,
//    unless one of those records says that more was synced.
#ifndef BIGTABLE_COMMITLOG_LOG_CALLS_H_
#define BIGTABLE_COMMITLOG_LOG_CALLS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "base/thread_roles.h"
#include "commitlog/call_times.h"
#include "commitlog/call_turns.h"
#include "commitlog/log_appender.h"
#include "commitlog/log_segment.h"
#include "commitlog/segment_chain.h"
#include "commitlog/switch_writer.h"

namespace bigtable {

class LogCalls {
 public:
  // `directory` is that of the log, for messages. `chain` and `appender` outlive this.
  LogCalls(std::string directory, absl::Duration stall_timeout, SegmentChain* chain,
           LogAppender* appender);
  LogCalls(const LogCalls&) = delete;
  LogCalls& operator=(const LogCalls&) = delete;

  // These are described in commit_log.h.
  absl::Status Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer)
      ABSL_LOCKS_EXCLUDED(chain_->mutex);
  absl::Status Sync() ABSL_LOCKS_EXCLUDED(chain_->mutex);
  absl::Duration StallTimeout(absl::Duration running) const ABSL_LOCKS_EXCLUDED(chain_->mutex);
  absl::Status SwitchFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer)
      ABSL_LOCKS_EXCLUDED(chain_->mutex);

  // The log continues in the spare, after an end record. False if there is no spare of this size.
  // An error leaves the log unchanged.
  absl::StatusOr<bool> Rotate(uint64_t least_size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer)
      ABSL_LOCKS_EXCLUDED(chain_->mutex);

  bool failed() const { return failed_.load(std::memory_order_acquire); }
  absl::Status failure() const ABSL_LOCKS_EXCLUDED(chain_->mutex);
  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(chain_->mutex);
  // Whether the log, which has failed, can begin anew: when its last sync has returned. False if it
  // has not failed. FailedPrecondition if a record is not released. Errors of the limits.
  absl::StatusOr<bool> AwaitRestart(const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) ABSL_LOCKS_EXCLUDED(chain_->mutex);
  // The log begins in the spare: a new one, or after AwaitRestart and once STATE says that earlier
  // segments are not needed. After an error it has still failed, as before.
  absl::Status Restart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer)
      ABSL_LOCKS_EXCLUDED(chain_->mutex);

  // Counts, for CommitLog::Statistics.
  uint64_t syncs() const { return syncs_.load(std::memory_order_relaxed); }
  uint64_t switches() const { return switches_.load(std::memory_order_relaxed); }
  uint64_t stalls() const { return times_.stalls(); }

 private:
  // A running call of Flush or Sync.
  struct Call {
    uint64_t turn = 0;
    std::vector<SegmentPiece> pieces;  // what is written; a sync uses only the segments
    uint64_t end = 0;                  // the log offset that it covers
  };

  Call BeginFlush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) ABSL_LOCKS_EXCLUDED(chain_->mutex);
  absl::Status EndFlush(const Call& call, absl::Status status) ABSL_LOCKS_EXCLUDED(chain_->mutex);
  bool BeginSync(uint64_t target, Call* call, absl::Status* outcome)
      ABSL_LOCKS_EXCLUDED(chain_->mutex);
  void EndSync(const Call& call, const absl::Status& status, absl::Duration took)
      ABSL_LOCKS_EXCLUDED(chain_->mutex);
  // Whether the call, which has returned, was abandoned. Then its result changes nothing.
  bool EndIfAbandoned(const Call& call, const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->mutex);
  // For a call that failed: a file whose sync failed never syncs again, and after a failed write
  // its bytes are unknown.
  static void KeepFromReuse(const Call& call);

  bool PlanSwitch(SwitchPlan* plan) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->mutex);
  // Null if there can be no switch.
  Ref<LogSegment> BeginSwitch(SwitchPlan* plan) ABSL_LOCKS_EXCLUDED(chain_->mutex);
  void EndSwitch(const SwitchWriter& writer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer)
      ABSL_LOCKS_EXCLUDED(chain_->mutex);
  absl::Status FailSwitch(const absl::Status& status) ABSL_LOCKS_EXCLUDED(chain_->mutex);
  absl::Status GoOnInSlowFile() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer)
      ABSL_LOCKS_EXCLUDED(chain_->mutex);

  void SetFailure(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->mutex);

  const std::string directory_;
  SegmentChain* const chain_;
  LogAppender* const appender_;
  CallTimes times_;

  CondVar changed_;  // signals turns_, failure_ and the chain's synced()
  CallTurns turns_ ABSL_GUARDED_BY(chain_->mutex);
  absl::Status failure_ ABSL_GUARDED_BY(chain_->mutex);
  std::atomic<bool> failed_{false};  // whether failure_ is an error
  std::atomic<uint64_t> syncs_{0};
  std::atomic<uint64_t> switches_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_CALLS_H_
