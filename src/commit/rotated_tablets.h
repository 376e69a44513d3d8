// The tablets of a server that have immutable memtables. Some of these are due to be flushed, and
// some wait until others are due.
//
// The memtables that a split has rotated wait. Their memory and their part of the log are not
// needed yet, and a flush of them alone would sync the log, because of older mutations that are
// still active on the server (background/minor_compaction.h). As part of the next flush they cost
// nothing. They count as if they were active: for the size of a memtable, for memory and for the
// length of the log.
//
// A sequence number decides what is due: memtables whose last mutation is not behind it. Memtables
// that a split has rotated since are not due, even if their tablet has older ones that are.
#ifndef BIGTABLE_COMMIT_ROTATED_TABLETS_H_
#define BIGTABLE_COMMIT_ROTATED_TABLETS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/sequence.h"
#include "tablet/tablet.h"

namespace bigtable {

// Not thread-safe, except waiting_bytes(). In the order of the tablets' ids.
class RotatedTablets {
 public:
  // Memtables of the tablet were rotated: those without a mutation behind `last` are due.
  void Add(const std::shared_ptr<Tablet>& tablet, SequenceNumber last);
  // Replaces a tablet that was split. The memtables that the split has rotated wait; they have so
  // many bytes.
  void Replace(const Tablet& tablet, const Tablet::Halves& halves, uint64_t bytes);
  // The server has removed the tablet.
  void Remove(const Tablet& tablet);
  // Waiting memtables are due from here on, unless they have a mutation behind `last`.
  void EndWaiting(SequenceNumber last);

  // The memtables that are due. Forgets tablets without immutable memtables.
  std::vector<ImmutableMemtables> Due();
  bool HasDue();
  // The last mutation of memtables that are due is not behind this.
  SequenceNumber due_through() const { return due_through_; }
  // Of the memtables that wait: their bytes, and the oldest sequence number (kMaxSequence: none).
  // Any thread may read the bytes, because each write does.
  uint64_t waiting_bytes() const { return waiting_bytes_.load(std::memory_order_relaxed); }
  SequenceNumber FirstWaiting() const;

 private:
  using TabletMap = std::map<TabletId, std::shared_ptr<Tablet>>;

  static bool Erase(TabletMap* tablets, const Tablet& tablet);
  // The memtables of a tablet that are due, by due_through_.
  std::vector<ImmutableMemtables> DueOf(const std::shared_ptr<Tablet>& tablet) const;
  // Sets zero if there are no rotated memtables.
  void SetWaitingBytes(uint64_t bytes);

  SequenceNumber due_through_ = 0;
  TabletMap due_;      // those that may have memtables that are due, and perhaps waiting ones
  TabletMap waiting_;  // the others
  std::atomic<uint64_t> waiting_bytes_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_ROTATED_TABLETS_H_
