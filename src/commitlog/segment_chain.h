// The segments of a commit log, and how far they are released and synced.
//
//   retired, oldest first | live, oldest first, up to the active one | spare
//
// A segment is made as the spare. It becomes the active segment, to which records are appended, and
// stays live until its records are released. Then it is retired, until STATE durably says that it
// is not needed. Then the chain forgets it, and its file returns when nothing else refers to it
// (log_segment.h).
//
// Locks. `mutex` is the log's lock. It protects this chain and the calls on its files
// (log_calls.h). It is held for short times; no I/O is done under it. `prepare_mutex` is held,
// during I/O, by the thread that changes names of files, or STATE (log_upkeep.h). It is taken
// first. A thread that needs a spare and finds none waits for it.
//
// Which thread changes what:
//
//   active()      is followed by the next segment in a rotation, at the end of a switch, and in a
//                 restart (ContinueInSpare, ContinueInCopy, Restart): all three run on the
//                 appending thread.
//   the oldest    live segment is retired in ReleaseThrough, on any thread. Upkeep takes it from
//                 there.
//   spare()       has the number after active()'s. A rotation, a switch and a restart take it, and
//                 then it is theirs alone. Upkeep and erasing make it, or take it and make another
//                 one with its number. Between BeginMaking and EndMaking there is no spare: a
//                 rotation waits for prepare_mutex, and a switch is not planned. So active() stays.
//   copying()     A switch has taken the spare. Its number is in use: upkeep makes no spare and
//                 erasing does nothing, until the switch has ended one way or the other.
//
// Invariants:
//
// 1. Segments are numbered without gaps, from the oldest retired one to the spare.
// 2. At least one segment is live once the log has started: the active one is never retired.
// 3. What is released and what is synced never moves back.
// 4. Recovery does not read what follows the end of a segment that has ended. A switch moves ends
//    back, and nothing moves them forward.
#ifndef BIGTABLE_COMMITLOG_SEGMENT_CHAIN_H_
#define BIGTABLE_COMMITLOG_SEGMENT_CHAIN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/limited_mutex.h"
#include "base/mutex.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "commitlog/log_segment.h"
#include "commitlog/log_state.h"

namespace bigtable {

class SegmentChain {
 public:
  SegmentChain() = default;
  SegmentChain(const SegmentChain&) = delete;
  SegmentChain& operator=(const SegmentChain&) = delete;

  LimitedMutex prepare_mutex ABSL_ACQUIRED_BEFORE(mutex);
  mutable Mutex mutex;

  // --- For any thread, without a lock ---

  uint64_t synced() const { return synced_.load(std::memory_order_acquire); }  // a log offset
  SequenceNumber released() const { return released_.load(std::memory_order_relaxed); }
  uint64_t needed_bytes() const { return needed_bytes_.load(std::memory_order_relaxed); }
  bool needs_upkeep() const { return needs_upkeep_.load(std::memory_order_relaxed); }
  void set_needs_upkeep(bool needed) { needs_upkeep_ = needed; }

  // --- For the appending thread: the log continues in the next segment ---

  const Ref<LogSegment>& active() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return live_.back().segment;
  }
  // Null if there is none.
  const Ref<LogSegment>& spare() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return spare_; }

  // The spare, which has its memory, becomes active. The segment before it ends at position `end`,
  // with the record `last`. Changes nothing if there is no memory (std::bad_alloc).
  void ContinueInSpare(uint64_t end, SequenceNumber last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // A switch takes the spare, and then does one of the following two.
  Ref<LogSegment> TakeSpareToCopy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // `copy`, which it has taken, becomes active, and replaces all segments from the log offset
  // `from` on. Their last record was `last`.
  void ContinueInCopy(Ref<LogSegment> copy, uint64_t from, SequenceNumber last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // The copy cannot be used: upkeep replaces it.
  void GiveUpCopy() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  bool copying() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return copying_; }

  // The log begins anew in the spare, which has its memory: no earlier record is needed, and their
  // files are not reused. Returns the earlier segments, for the caller to drop outside the lock.
  // Changes nothing if there is no memory (std::bad_alloc).
  std::vector<Ref<LogSegment>> Restart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // --- For the calls on the files ---

  // Sets `*pieces` to the segments that must be synced before everything up to the log offset `end`
  // is.
  void CollectUnsynced(uint64_t end, std::vector<SegmentPiece>* pieces) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  void AdvanceSynced(uint64_t end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Sets `*pieces` to the records from the log offset `from` to `end`, and `*bytes` to their size.
  // False if some of them are no longer in memory.
  bool Collect(uint64_t from, uint64_t end, std::vector<SegmentPiece>* pieces,
               uint64_t* bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // --- For any thread: what is needed ---

  // Retires the segments that have only records up to `sequence`.
  void ReleaseThrough(SequenceNumber sequence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Whether ReleaseThrough(sequence) would retire a segment.
  bool ReleasesSegment(SequenceNumber sequence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return live_.size() > 1 && live_.front().last <= sequence;
  }
  // The smallest sequence number in the live segments, 0 if they have no records.
  SequenceNumber FirstSequence() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // --- For upkeep ---

  // The contents of STATE, but for the log's secret.
  LogState State() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  size_t retired() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) { return retired_.size(); }
  // Forgets the `count` oldest retired segments, and returns them, for the caller to drop outside
  // the lock.
  std::vector<Ref<LogSegment>> Forget(size_t count)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex, mutex);

  // The number of the next segment: the spare's, if there is one.
  uint64_t next_number() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    return live_.empty() ? 1 : active()->number() + 1;
  }
  // Takes the spare, if there is one, and returns the number of the segment that is to be made. Not
  // while copying().
  uint64_t BeginMaking(Ref<LogSegment>* spare) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex, mutex);
  // `spare` is null if none could be made.
  void EndMaking(Ref<LogSegment> spare) ABSL_EXCLUSIVE_LOCKS_REQUIRED(prepare_mutex, mutex);

 private:
  static constexpr uint64_t kOpen = UINT64_MAX;

  struct Entry {
    Ref<LogSegment> segment;
    // The position in the file where the valid records end, once no more are added.
    uint64_t end = kOpen;
    SequenceNumber last = 0;  // the last record's, once no more are added

    // The log offset where the valid records end, if those of the whole log end at `log_end`.
    uint64_t EndIn(uint64_t log_end) const {
      return end == kOpen ? log_end : segment->base() + end;
    }
  };

  // Adds the segment, which has its memory, to the live ones. Allocates nothing after the first
  // change.
  void Continue(Ref<LogSegment> next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  bool copying_ ABSL_GUARDED_BY(mutex) = false;
  std::deque<Entry> retired_ ABSL_GUARDED_BY(mutex);
  std::deque<Entry> live_ ABSL_GUARDED_BY(mutex);
  Ref<LogSegment> spare_ ABSL_GUARDED_BY(mutex);

  // Changed under `mutex`, but for needs_upkeep_.
  std::atomic<uint64_t> synced_{0};
  std::atomic<SequenceNumber> released_{0};
  std::atomic<uint64_t> needed_bytes_{0};  // of live_
  std::atomic<bool> needs_upkeep_{true};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_SEGMENT_CHAIN_H_
