// What the parts of a database count, put together.

#include "cache/block_cache.h"
#include "master/master.h"

namespace bigtable {
namespace {

void AddGroup(const GroupVersion& group, LocalityGroupStatistics* statistics) {
  statistics->memtable_bytes += group.active->bytes();
  statistics->memtables += 1 + group.frozen.size();
  for (const Ref<Memtable>& memtable : group.frozen) {
    statistics->memtable_bytes += memtable->bytes();
  }
  statistics->sorted_runs += group.runs.size();
  for (const SortedRun& run : group.runs) {
    statistics->files += run.files.size();
    statistics->file_bytes += run.bytes();
    statistics->entries += run.entries();
    statistics->deletions += run.deletions();
  }
}

}  // namespace

DatabaseStatistics Master::Statistics() const {
  DatabaseStatistics statistics;
  for (const UserServer& user : user_servers_) {
    const CommitLog::Statistics log = user.server->LogStatistics();
    statistics.rows_written += user.server->rows_written();
    statistics.log_bytes_written += log.bytes;
    statistics.log_syncs += log.syncs;
    statistics.log_stalls += log.stalls;
    statistics.log_switches += log.switches;
    statistics.total_write_delay += user.write_controller->total_delay();
    // Of the server whose writers wait longest.
    const absl::Duration delay = user.write_controller->delay();
    if (statistics.stall_reason == StallReason::kNone || delay > statistics.write_delay) {
      statistics.stall_reason = user.write_controller->reason();
      statistics.write_delay = delay;
    }
  }

  const BackgroundWork::Counters counters = background_.counters();
  statistics.minor_compactions = counters.minor_compactions;
  statistics.minor_compaction_bytes_written = counters.minor_bytes_written;
  statistics.merging_compactions = counters.merging_compactions;
  statistics.merging_compaction_bytes_read = counters.merging_bytes_read;
  statistics.merging_compaction_bytes_written = counters.merging_bytes_written;
  statistics.compaction_bytes_moved = counters.moved_bytes;
  statistics.compaction_bytes_dropped = counters.dropped_bytes;
  statistics.major_compactions = counters.major_compactions;

  MemoryBudget& budget = *options_.shared_memory_budget;
  statistics.block_cache_hits = budget.block_cache().hits();
  statistics.block_cache_misses = budget.block_cache().misses();
  if (scan_cache_ != nullptr) {
    statistics.scan_cache_hits = scan_cache_->hits();
    statistics.scan_cache_misses = scan_cache_->misses();
  }
  statistics.memory_limit = budget.limit();
  statistics.memory_memtables = budget.used(MemoryBudget::Use::kMemtables);
  statistics.memory_log =
      budget.used(MemoryBudget::Use::kLog) + budget.used(MemoryBudget::Use::kSpareLog);
  statistics.memory_indexes = budget.used(MemoryBudget::Use::kIndexes);
  statistics.memory_in_memory_groups = budget.used(MemoryBudget::Use::kInMemoryGroups);
  statistics.memory_block_cache = budget.used(MemoryBudget::Use::kBlockCache);

  statistics.background_error = background_error();

  MutexLock lock(&mutex_);
  for (const auto& [name, table] : tables_) {
    for (const ServedTablet& served : table->tablets()) {
      const Pin<TabletVersion> version = served.tablet->Version();
      for (size_t i = 0; i < version->groups().size(); ++i) {
        AddGroup(version->groups()[i], &statistics.tables[name][version->layout().groups[i].name]);
      }
    }
  }
  return statistics;
}

}  // namespace bigtable
