#include "tablet/group_statistics.h"

namespace bigtable {

namespace {

// All but its files.
void AddMemtables(const GroupVersion& group, LocalityGroupStatistics* statistics) {
  statistics->memtable_bytes += group.active->bytes();
  statistics->memtables += 1 + group.immutable.size();
  for (const Ref<Memtable>& memtable : group.immutable) {
    statistics->memtable_bytes += memtable->bytes();
  }
  statistics->sorted_runs += group.runs.size();
}

template <typename Add>
void ForEachFile(const GroupVersion& group, Add add) {
  for (const SortedRun& run : group.runs) {
    for (const Ref<SSTable>& file : run.files) add(*file);
  }
}

}  // namespace

void AddGroup(const GroupVersion& group, LocalityGroupStatistics* statistics,
              std::set<uint64_t>* counted) {
  AddMemtables(group, statistics);
  ForEachFile(group, [&](const SSTable& file) {
    const SSTableInfo& info = file.info();
    if (!counted->insert(info.file_number).second) return;
    ++statistics->files;
    statistics->file_bytes += info.size;
    statistics->entries += info.entries;
    statistics->deletions += info.deletions();
  });
}

void AddGroup(const GroupVersion& group, const FileEstimates& estimates,
              LocalityGroupStatistics* statistics) {
  AddMemtables(group, statistics);
  ForEachFile(group, [&](const SSTable& file) {
    ++statistics->files;
    statistics->file_bytes += estimates.BytesWithin(file);
    statistics->entries += estimates.PartOf(file.info().entries, file);
    statistics->deletions += estimates.PartOf(file.info().deletions(), file);
  });
}

}  // namespace bigtable
