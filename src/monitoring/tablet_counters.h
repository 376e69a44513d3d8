// The counters of a tablet: the calls that it serves, its compactions, and what is written to it
// and to each of its families.
#ifndef BIGTABLE_MONITORING_TABLET_COUNTERS_H_
#define BIGTABLE_MONITORING_TABLET_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"

#include "bigtable/statistics.h"

#include "base/mutex.h"
#include "base/ref_counted.h"
#include "monitoring/compaction_counters.h"
#include "monitoring/latency_recorder.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

// A counter that one thread at a time adds to, so that no addition needs a lock prefix; any thread
// may read it.
class WriterCount {
 public:
  void Add(uint64_t n) {
    count_.store(count_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t Read() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0};
};

// Counted by the tablet's writer.
class FamilyCounters {
 public:
  // Counts a cell with this many bytes, or a deletion.
  void Count(bool is_cell, uint64_t bytes) {
    (is_cell ? cells_ : deletions_).Add(1);
    bytes_.Add(bytes);
  }
  void Add(const FamilyStatistics& family) {
    cells_.Add(family.cells_written);
    deletions_.Add(family.deletions_written);
    bytes_.Add(family.bytes_written);
  }
  FamilyStatistics Read() const {
    return {.cells_written = cells_.Read(),
            .deletions_written = deletions_.Read(),
            .bytes_written = bytes_.Read()};
  }

 private:
  WriterCount cells_;
  WriterCount deletions_;
  WriterCount bytes_;
};

// Thread-safe, except for what the writer counts. Measured calls and streams hold a reference while
// they run, so it may outlive the tablet.
class TabletCounters : public RefCounted {
 public:
  // Counts a mutation that the writer has applied.
  void CountRow() { rows_written_.Add(1); }
  // Records a measured call that this tablet alone served, and that represents `weight` calls.
  void Record(Call call, int64_t nanos, uint64_t weight) {
    latencies_[static_cast<size_t>(call)].Record(nanos, weight);
    call_nanos_.fetch_add(static_cast<uint64_t>(nanos) * weight, std::memory_order_relaxed);
  }
  // The time of all calls that this tablet alone served, estimated from the measured ones.
  uint64_t call_nanos() const { return call_nanos_.load(std::memory_order_relaxed); }
  // The counters of a family. They are kept even if it is dropped, and reused if it is added again.
  FamilyCounters* Family(const std::string& name) {
    MutexLock lock(&mutex_);
    std::unique_ptr<FamilyCounters>& counters = families_[name];
    if (counters == nullptr) counters = std::make_unique<FamilyCounters>();
    return counters.get();
  }
  // Continues the written counts of another tablet whose rows, or a part of them, are now here: so
  // the sums over a table's tablets never decrease. Call it before the first write to this tablet,
  // and after the last write to the other one.
  void Inherit(const TabletCounters& other) {
    rows_written_.Add(other.rows_written_.Read());
    std::map<std::string, FamilyStatistics> families;
    other.AddFamilies(&families);
    for (const auto& [name, family] : families) Family(name)->Add(family);
  }
  // Adds the counts of each family to `sums`.
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

  // Reads all counts except those of families; leaves the other fields unchanged.
  void Read(TabletStatistics* statistics) const {
    statistics->rows_written = rows_written_.Read();
    const auto latency = [&](Call call) { return latencies_[static_cast<size_t>(call)].Read(); };
    statistics->read_row = latency(Call::kReadRow);
    statistics->next_row = latency(Call::kNextRow);
    statistics->next_cell = latency(Call::kNextCell);
    statistics->apply = latency(Call::kApply);
    statistics->apply_batch = latency(Call::kApplyBatch);
    statistics->check_and_mutate_row = latency(Call::kCheckAndMutateRow);
    statistics->read_modify_write_row = latency(Call::kReadModifyWriteRow);
    statistics->minor = minor.Read();
    statistics->merging = merging.Read();
  }

  CompactionCounters minor;
  CompactionCounters merging;

 private:
  WriterCount rows_written_;
  std::array<LatencyRecorder, kCalls> latencies_;
  std::atomic<uint64_t> call_nanos_{0};
  mutable Mutex mutex_;
  std::map<std::string, std::unique_ptr<FamilyCounters>> families_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_TABLET_COUNTERS_H_
