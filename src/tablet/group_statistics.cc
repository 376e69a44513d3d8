#include "tablet/group_statistics.h"

namespace bigtable {

void AddGroup(const GroupVersion& group, LocalityGroupStatistics* statistics,
              std::set<uint64_t>* counted) {
  statistics->memtable_bytes += group.active->bytes();
  statistics->memtables += 1 + group.immutable.size();
  for (const Ref<Memtable>& memtable : group.immutable) {
    statistics->memtable_bytes += memtable->bytes();
  }
  statistics->sorted_runs += group.runs.size();
  for (const SortedRun& run : group.runs) {
    for (const Ref<SSTable>& file : run.files) {
      const SSTableInfo& info = file->info();
      if (counted != nullptr && !counted->insert(info.file_number).second) continue;
      ++statistics->files;
      statistics->file_bytes += info.size;
      statistics->entries += info.entries;
      statistics->deletions += info.deletions();
    }
  }
}

}  // namespace bigtable
