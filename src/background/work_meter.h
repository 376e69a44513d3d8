// What background work has done, and how fast it is: for statistics and for the write controllers.
//
// Thread-safe. The lock is held briefly, and no other lock is taken under it.
#ifndef BIGTABLE_BACKGROUND_WORK_METER_H_
#define BIGTABLE_BACKGROUND_WORK_METER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"

#include "background/tablet_compaction.h"
#include "background/work_speed.h"
#include "base/mutex.h"

namespace bigtable {

class WorkMeter {
 public:
  struct Counters {
    uint64_t minor_compactions = 0;
    uint64_t minor_bytes_written = 0;
    uint64_t merging_compactions = 0;
    uint64_t merging_bytes_read = 0;
    uint64_t merging_bytes_written = 0;
    uint64_t major_compactions = 0;
    uint64_t moved_bytes = 0;
    uint64_t dropped_bytes = 0;
  };

  WorkMeter() = default;
  WorkMeter(const WorkMeter&) = delete;
  WorkMeter& operator=(const WorkMeter&) = delete;

  // The present speed of flushes and of merging compactions, in bytes a second. Bytes of SSTables
  // are converted to the bytes that the same entries take in memtables and log.
  double FlushSpeed() const { return flush_speed_.Now(); }
  double CompactionSpeed() const { return compaction_speed_.Now(); }
  // The largest number of sorted runs in a group.
  size_t MostRuns() const { return most_runs_.load(std::memory_order_relaxed); }
  Counters counters() const;

  // --- For BackgroundWork ---

  void SetMostRuns(size_t runs) { most_runs_.store(runs, std::memory_order_relaxed); }

  // A flush of memtables of so many bytes begins and ends.
  void BeginFlush(uint64_t in_memory) { flush_speed_.Begin(in_memory); }
  void EndFlush(uint64_t in_memory, bool has_succeeded) {
    flush_speed_.End(in_memory, has_succeeded ? in_memory : 0);
  }
  // A memtable was flushed to so many bytes.
  void CountFlushed(uint64_t bytes_written);
  // A flush has written memtables of `in_memory` bytes to SSTables of `file_bytes`.
  void RecordExpansion(uint64_t in_memory, uint64_t file_bytes);

  // A merging compaction of SSTables of so many bytes begins; the result is for EndCompaction.
  uint64_t BeginCompaction(uint64_t input_bytes);
  void EndCompaction(uint64_t begun, uint64_t bytes_read) {
    compaction_speed_.End(begun, AsInMemory(bytes_read));
  }
  void CountCompaction(const CompactionOutcome& outcome, bool major);

 private:
  uint64_t AsInMemory(uint64_t file_bytes) const;

  std::atomic<size_t> most_runs_{0};
  WorkSpeed flush_speed_;
  WorkSpeed compaction_speed_;
  std::atomic<double> expansion_{1};  // bytes of memtables for a byte of SSTables

  mutable Mutex mutex_;
  Counters counters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_WORK_METER_H_
