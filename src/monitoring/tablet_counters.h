// What a tablet counts: its compactions, and what is written to each of its families.
#ifndef BIGTABLE_MONITORING_TABLET_COUNTERS_H_
#define BIGTABLE_MONITORING_TABLET_COUNTERS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"

#include "bigtable/statistics.h"

#include "base/mutex.h"
#include "monitoring/compaction_counters.h"

namespace bigtable {

// Counted by the tablet's writer alone, so that no addition is a locked one; read by anybody.
class FamilyCounters {
 public:
  void CountCell(uint64_t bytes) {
    Add(&cells_, 1);
    Add(&bytes_, bytes);
  }
  void CountDeletion(uint64_t bytes) {
    Add(&deletions_, 1);
    Add(&bytes_, bytes);
  }
  FamilyStatistics Read() const {
    return {.cells_written = cells_.load(std::memory_order_relaxed),
            .deletions_written = deletions_.load(std::memory_order_relaxed),
            .bytes_written = bytes_.load(std::memory_order_relaxed)};
  }

 private:
  static void Add(std::atomic<uint64_t>* counter, uint64_t n) {
    counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  std::atomic<uint64_t> cells_{0};
  std::atomic<uint64_t> deletions_{0};
  std::atomic<uint64_t> bytes_{0};
};

// Thread-safe, but for what a family counts.
class TabletCounters {
 public:
  // The counters of a family, also of one that was dropped and added again. They stay.
  FamilyCounters* Family(const std::string& name) {
    MutexLock lock(&mutex_);
    std::unique_ptr<FamilyCounters>& counters = families_[name];
    if (counters == nullptr) counters = std::make_unique<FamilyCounters>();
    return counters.get();
  }
  // Adds what each family has counted to `sums`.
  void AddFamilies(std::map<std::string, FamilyStatistics>* sums) const {
    MutexLock lock(&mutex_);
    for (const auto& [name, counters] : families_) {
      const FamilyStatistics family = counters->Read();
      FamilyStatistics& sum = (*sums)[name];
      sum.cells_written += family.cells_written;
      sum.deletions_written += family.deletions_written;
      sum.bytes_written += family.bytes_written;
    }
  }

  CompactionCounters minor;
  CompactionCounters merging;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::unique_ptr<FamilyCounters>> families_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_TABLET_COUNTERS_H_
