// The background work on the files of a commit log: makes the spare, takes back the files of
// segments that are no longer needed, and writes STATE.
//
// Threads: any, one at a time: the one that holds mutex(), during I/O. Names of files, and STATE,
// are changed only here: in upkeep (Prepare, RemoveFree, Attest), in erasing (MakeFreshSpare), in a
// rotation that finds no spare (Prepare), and in a restart (PrepareRestart). The chain's `mutex` is
// taken for short times, to look at the chain and to hand it a spare. segment_chain.h lists the
// fields of the chain, and the threads that change each.
//
// Invariants:
//
// 1. The name of a segment is durable before the chain has it as its spare. So it is durable before
//    the end record of the segment before it, or its own first record, is written, and an end
//    record whose next segment is missing means data loss, not a crash.
// 2. Before the file of a released segment is touched, STATE durably says that the segment is not
//    needed: `low` is above its number.
// 3. The bytes of a segment do not change while a Ref to it exists: only files that returned are
//    reused (log_segment.h).
//
// What a crash leaves, step by step:
//
//  * While spare n + 1 is made: segment.tmp, or m.log with m < low, or n + 1.log already. A crash
//    of the machine may lose the rename; then m.log may come to hold records of segment n + 1.
//    Whatever n + 1.log holds, it is a segment without valid records after one without an end
//    record: the log ends in n.
//  * m released, `low` not durable: m is read as before; it still exists, and Sync still syncs it.
//    `low` torn in one slot of STATE: the other slot is valid.
//  * m removed, kept, or its removal lost: it is not read, because `low` is above it.
//  * Large segment renamed over a spare with the same number: either one; neither has records.
#ifndef BIGTABLE_COMMITLOG_LOG_UPKEEP_H_
#define BIGTABLE_COMMITLOG_LOG_UPKEEP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/limited_mutex.h"
#include "base/ref_counted.h"
#include "commitlog/log_segment.h"
#include "commitlog/log_state.h"
#include "commitlog/segment_chain.h"
#include "commitlog/segment_store.h"

namespace bigtable {

class LogUpkeep {
 public:
  // `secret` is the log's, `segment_size` the size of its segments, of which at most `max_free` are
  // kept for reuse. `chain` outlives this.
  LogUpkeep(FileSystem* file_system, const std::string& directory, uint64_t secret,
            uint64_t segment_size, size_t max_free, std::shared_ptr<MemoryBudget> budget,
            SegmentChain* chain);
  // Files that return later are closed.
  ~LogUpkeep();
  LogUpkeep(const LogUpkeep&) = delete;
  LogUpkeep& operator=(const LogUpkeep&) = delete;

  // The chain's, for whoever does one of the following.
  LimitedMutex* mutex() ABSL_LOCK_RETURNED(chain_->prepare_mutex) { return &chain_->prepare_mutex; }

  // For a new log: writes STATE, and makes the spare in which the log begins.
  absl::Status PrepareFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->prepare_mutex);
  // Takes back files, and makes a spare unless there is one of at least this size (and that of a
  // segment), or a switch has taken it. After an error, call it again; no harm is done.
  absl::Status Prepare(uint64_t least_size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->prepare_mutex);
  // Removes the files of free segments.
  absl::Status RemoveFree() ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->prepare_mutex) {
    return store_.RemoveFree();
  }
  // Replaces the spare by a new file that has never had other records; from then on the files of
  // earlier segments are removed, not reused. False: a switch has taken the spare, and nothing was
  // done. After an error there may be no spare.
  absl::StatusOr<bool> MakeFreshSpare() ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->prepare_mutex);
  // Writes the synced offset to STATE, unless it is there.
  absl::Status Attest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->prepare_mutex);
  // Before LogCalls::Restart, on the appending thread: makes a spare if there is none, and STATE
  // says that no earlier segment is needed.
  absl::Status PrepareRestart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->prepare_mutex);

  // --- For any thread ---

  // Whether files have returned that Prepare would take back.
  bool has_returns() const { return returns_->any(); }
  // Bytes of all segments in use: live ones, and released ones that are still pinned.
  uint64_t bytes_in_use() const { return returns_->bytes_in_use(); }
  // Counts, for CommitLog::Statistics. A lock would make a caller wait for I/O; the store's
  // counters are atomic.
  uint64_t created() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return store_.created(); }
  uint64_t reused() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return store_.reused(); }

 private:
  absl::Status MakeSpare(uint64_t least_size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->prepare_mutex);
  // STATE says that the retired segments are not needed; the chain forgets them.
  absl::Status PersistReleased() ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->prepare_mutex);
  // Sets the secret, and writes the state.
  absl::Status WriteState(LogState state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(chain_->prepare_mutex);

  const uint64_t secret_;
  const uint64_t segment_size_;
  SegmentChain* const chain_;
  const Ref<SegmentReturns> returns_;
  SegmentStore store_ ABSL_GUARDED_BY(chain_->prepare_mutex);
  LogStateFile state_file_ ABSL_GUARDED_BY(chain_->prepare_mutex);
  LogState persisted_state_ ABSL_GUARDED_BY(chain_->prepare_mutex);  // the contents of the file
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_UPKEEP_H_
