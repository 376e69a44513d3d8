// The bytes of keys and values that each column family has in a memtable, so that the memory of the
// memtable can be charged to families (tablet/storage_usage.h).
#ifndef BIGTABLE_MEMTABLE_FAMILY_BYTES_H_
#define BIGTABLE_MEMTABLE_FAMILY_BYTES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "monitoring/tablet_counters.h"

namespace bigtable {

// Thread-safe, except for what the writer counts.
class FamilyBytes {
 public:
  FamilyBytes() = default;
  FamilyBytes(const FamilyBytes&) = delete;
  FamilyBytes& operator=(const FamilyBytes&) = delete;

  // The count of a family, which the memtable's writer adds to. Valid as long as this. Cost: an
  // allocation, once for each family that is written.
  WriterCount* Of(const std::string& family) {
    MutexLock lock(&mutex_);
    return &counts_[family];
  }
  std::vector<std::pair<std::string, uint64_t>> Read() const {
    MutexLock lock(&mutex_);
    std::vector<std::pair<std::string, uint64_t>> counts;
    counts.reserve(counts_.size());
    for (const auto& [family, count] : counts_) counts.emplace_back(family, count.Read());
    return counts;
  }

 private:
  mutable Mutex mutex_;
  std::map<std::string, WriterCount> counts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMTABLE_FAMILY_BYTES_H_
