// The options that may change while a database is open, as they are now. DatabaseOptions has the
// values of the opening.
#ifndef BIGTABLE_CLUSTER_LIVE_OPTIONS_H_
#define BIGTABLE_CLUSTER_LIVE_OPTIONS_H_

#include <cstdint>
#include <memory>

#include "absl/time/time.h"

#include "bigtable/memory_budget.h"
#include "bigtable/options.h"

#include "base/relaxed.h"

namespace bigtable {

// Any thread reads them, and each value by itself: work that has begun may still have an earlier
// one. Only Database::SetOptions changes them (options/option_changes.h).
struct LiveOptions {
  explicit LiveOptions(const DatabaseOptions& opened)
      : durability(opened.durability),
        memtable_size(opened.memtable_size),
        metadata_tablet_size(opened.metadata_tablet_size),
        target_file_size(opened.target_file_size),
        compaction_threads(opened.compaction_threads),
        compaction_rate(opened.compaction_rate),
        balance_interval(opened.balance_interval),
        budget(opened.shared_memory_budget) {}

  Relaxed<Durability> durability;
  Relaxed<uint64_t> memtable_size;  // 0: by the memory budget
  Relaxed<uint64_t> metadata_tablet_size;
  Relaxed<uint64_t> target_file_size;
  Relaxed<int> compaction_threads;
  Relaxed<uint64_t> compaction_rate;
  Relaxed<absl::Duration> balance_interval;
  const std::shared_ptr<MemoryBudget> budget;  // of which the limit may change
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_LIVE_OPTIONS_H_
