// The tablets of a server that have rotated memtables, of which some are due to be written out, and
// some wait until others are due.
//
// What waits is what a split has rotated. Nothing asks for its memory or its part of the log yet,
// and by itself it could be written out only after a sync of the log, for the sake of what is still
// active on the server (tablet/minor_compaction.h). With the next flush it costs nothing. It counts
// as if it were active: for the size of a memtable, for memory and for the length of the log.
//
// So what is due is told by a moment: memtables whose last mutation came before it. What a split
// has rotated since then is not, also of a tablet that has older ones which are.
#ifndef BIGTABLE_TABLETSERVER_ROTATED_TABLETS_H_
#define BIGTABLE_TABLETSERVER_ROTATED_TABLETS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/sequence.h"
#include "tablet/tablet.h"

namespace bigtable {

// Not thread-safe, but for waiting_bytes(). In the order of the tablets' ids.
class RotatedTablets {
 public:
  // Memtables of the tablet were rotated: whatever has no mutation behind `last` is due now.
  void Add(const std::shared_ptr<Tablet>& tablet, SequenceNumber last);
  // In the place of a tablet that was split. What the split has rotated waits, and takes so many
  // bytes.
  void Replace(const Tablet& tablet, const Tablet::Halves& halves, uint64_t bytes);
  // The server does not have it any more.
  void Remove(const Tablet& tablet);
  // What waits is due now, unless it has a mutation behind `last`.
  void EndWaiting(SequenceNumber last);

  // What is due, at this moment. Forgets the tablets that have nothing immutable any more.
  std::vector<ImmutableMemtables> Due();
  bool HasDue();
  // Of the memtables that wait: their bytes, and the oldest sequence number (kMaxSequence: none).
  // The bytes can be read by any thread, because each write asks for them.
  uint64_t waiting_bytes() const { return waiting_bytes_.load(std::memory_order_relaxed); }
  SequenceNumber FirstWaiting() const;

 private:
  using TabletMap = std::map<TabletId, std::shared_ptr<Tablet>>;

  static bool Erase(TabletMap* tablets, const Tablet& tablet);
  // Of a tablet, up to due_through_.
  std::vector<ImmutableMemtables> DueOf(const std::shared_ptr<Tablet>& tablet) const;
  // None if nothing is rotated.
  void SetWaitingBytes(uint64_t bytes);

  SequenceNumber due_through_ = 0;
  TabletMap due_;      // those that may have something due, and perhaps something that waits
  TabletMap waiting_;  // the others
  std::atomic<uint64_t> waiting_bytes_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_ROTATED_TABLETS_H_
