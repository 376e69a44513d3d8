#include "tablet/group_statistics.h"

namespace bigtable {

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

}  // namespace bigtable
