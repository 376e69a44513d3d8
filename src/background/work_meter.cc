#include "background/work_meter.h"

namespace bigtable {

WorkMeter::Counters WorkMeter::counters() const {
  MutexLock lock(&mutex_);
  return counters_;
}

void WorkMeter::CountFlushed(uint64_t bytes_written) {
  MutexLock lock(&mutex_);
  ++counters_.minor_compactions;
  counters_.minor_bytes_written += bytes_written;
}

void WorkMeter::RecordExpansion(uint64_t in_memory, uint64_t file_bytes) {
  constexpr uint64_t kLeast = 1 << 20;  // smaller files are mostly what every file has
  if (in_memory < kLeast || file_bytes == 0) return;
  const double known = expansion_.load(std::memory_order_relaxed);
  const double seen = static_cast<double>(in_memory) / static_cast<double>(file_bytes);
  expansion_.store(known + (seen - known) / 4, std::memory_order_relaxed);
}

uint64_t WorkMeter::AsInMemory(uint64_t file_bytes) const {
  return static_cast<uint64_t>(static_cast<double>(file_bytes) *
                               expansion_.load(std::memory_order_relaxed));
}

uint64_t WorkMeter::BeginCompaction(uint64_t input_bytes) {
  const uint64_t expected = AsInMemory(input_bytes);
  compaction_speed_.Begin(expected);
  return expected;
}

void WorkMeter::CountCompaction(const CompactionOutcome& outcome, bool major) {
  MutexLock lock(&mutex_);
  ++counters_.merging_compactions;
  if (major) ++counters_.major_compactions;
  counters_.merging_bytes_read += outcome.bytes_read;
  counters_.merging_bytes_written += outcome.bytes_written;
  counters_.moved_bytes += outcome.bytes_moved;
  counters_.dropped_bytes += outcome.bytes_dropped;
}

}  // namespace bigtable
