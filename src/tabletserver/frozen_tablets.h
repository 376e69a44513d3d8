// The tablets of a server that have frozen memtables: those whose memtables are due to be written
// out, and those that wait until others are due.
//
// What waits is what a split has frozen. Nothing asks for its memory or its part of the log yet,
// and by itself it could be written out only after a sync of the log, for the sake of what is still
// active on the server (tablet/minor_compaction.h). With the next flush it costs nothing. It counts
// as if it were active: for the size of a memtable, for memory and for the length of the log.
#ifndef BIGTABLE_TABLETSERVER_FROZEN_TABLETS_H_
#define BIGTABLE_TABLETSERVER_FROZEN_TABLETS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/sequence.h"
#include "tablet/tablet.h"

namespace bigtable {

// Not thread-safe, but for waiting_bytes(). In the order of the tablets' ids.
class FrozenTablets {
 public:
  // Its frozen memtables are due, and so is whatever waits.
  void Add(const std::shared_ptr<Tablet>& tablet);
  // In the place of a tablet that was split. Their frozen memtables are due if the tablet's were;
  // otherwise they wait, and those that the split has frozen take so many bytes.
  void Replace(const Tablet& tablet, const Tablet::Halves& halves, uint64_t bytes);
  // The server does not have it any more.
  void Remove(const Tablet& tablet);
  // What waits is due now.
  void EndWaiting();

  // What is due, at this moment. Forgets the tablets that have nothing frozen any more.
  std::vector<FrozenMemtables> Due();
  bool HasDue();
  // Of the memtables that wait: their bytes, and the oldest sequence number (kMaxSequence: none).
  // The bytes can be read by any thread, because each write asks for them.
  uint64_t waiting_bytes() const { return waiting_bytes_.load(std::memory_order_relaxed); }
  SequenceNumber FirstWaiting() const;

 private:
  using TabletMap = std::map<TabletId, std::shared_ptr<Tablet>>;

  static bool Erase(TabletMap* tablets, const Tablet& tablet);
  // None if nothing waits.
  void SetWaitingBytes(uint64_t bytes);

  TabletMap due_;
  TabletMap waiting_;
  std::atomic<uint64_t> waiting_bytes_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_FROZEN_TABLETS_H_
