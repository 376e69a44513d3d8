// A database as its memory budget sees it: something that has memtables, which can be written out
// when they are too many.
#ifndef BIGTABLE_CACHE_MEMTABLE_HOLDER_H_
#define BIGTABLE_CACHE_MEMTABLE_HOLDER_H_

#include <cstdint>

namespace bigtable {

// Called from any thread; must not call the budget's functions for holders.
class MemtableHolder {
 public:
  // Whether memtables are on their way to SSTables.
  virtual bool IsWritingOut() const = 0;
  // The bytes of the largest memtable that could be; 0 if that would free nothing of note, or if
  // nothing can be written.
  virtual uint64_t LargestMemtable() const = 0;
  virtual void WriteOutLargest() = 0;
  // Memtables of some holder of the budget were flushed, or another compaction has ended. Must not
  // wait.
  virtual void OnProgress() = 0;

 protected:
  ~MemtableHolder() = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_MEMTABLE_HOLDER_H_
