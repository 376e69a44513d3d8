#include "background/tablet_compaction.h"

namespace bigtable {

CompactionJob MakeCompactionJob(const Tablet& tablet, const TableLayout& layout, size_t group,
                                bool major, absl::Time now) {
  const TabletEnvironment& environment = *tablet.environment();
  CompactionJob job;
  job.file_system = environment.file_system;
  job.budget = environment.budget.get();
  job.new_file_number = [numbers = environment.file_numbers] { return numbers->Take(); };
  job.path_of = environment.path_of;
  job.on_written = environment.on_file_written;
  job.group = layout.groups[group].options;
  job.owner = SSTableOwner{layout.table_id, layout.name, layout.groups[group].id,
                           layout.groups[group].name};
  job.retention =
      layout.RetentionOf(layout.groups[group].id, environment.snapshots->OldestTime(now));
  job.retention.now = now;
  job.retention.snapshots =
      environment.snapshots->List(environment.visible, &job.retention.present);
  job.retention.defers_filters = environment.snapshots->has_users();
  job.major = major;
  job.target_file_size = environment.target_file_size;
  job.abandoned = tablet.flags().removed_flag();
  return job;
}

void RemoveWritten(const TabletEnvironment& environment, const std::vector<TabletFile>& written) {
  for (const TabletFile& file : written) environment.remove_file(file.info.file_number);
}

}  // namespace bigtable
