// An owner of memtables as the memory budget sees it: the write controller of a server. The budget
// requests flushes from its holders when memtables take too much memory.
#ifndef BIGTABLE_CACHE_MEMTABLE_HOLDER_H_
#define BIGTABLE_CACHE_MEMTABLE_HOLDER_H_

#include <cstdint>

namespace bigtable {

// Called from any thread; must not call the budget's functions for holders.
class MemtableHolder {
 public:
  // Whether memtables are being flushed, or are due to be.
  virtual bool IsWritingOut() const = 0;
  // The bytes of the largest memtable that could be flushed; 0 if that would free next to nothing,
  // or if nothing can be flushed.
  virtual uint64_t LargestMemtable() const = 0;
  // False: it cannot be flushed now. Bounded by a fraction of a second: the caller may be a writer
  // of another holder.
  virtual bool WriteOutLargest() = 0;
  // Called after a holder of the budget has flushed memtables, or another compaction has ended.
  // Must not wait.
  virtual void OnProgress() = 0;

 protected:
  ~MemtableHolder() = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_MEMTABLE_HOLDER_H_
