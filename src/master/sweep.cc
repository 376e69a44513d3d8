// What nothing names any more (the mark-and-sweep of section 6 of the paper): SSTables, now and
// again; at an opening also logs, and what was sorted of them.
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/sorted_log.h"
#include "master/master.h"

namespace bigtable {

absl::Status Master::SweepFiles() {
  // Taken first: what METADATA does not name by then, of work that has ended, it never will.
  const uint64_t settled = cluster_->file_numbers()->settled();
  // Then it may still name what a failed mutation has put there: after a crash.
  BT_RETURN_IF_ERROR(cluster_->metadata_error());
  FileSystem* const file_system = cluster_->file_system();
  const DatabaseDirectory& directory = cluster_->directory();
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system->ListDirectory(directory.sstables()));
  std::set<uint64_t> named;
  cluster_->root()->AddFiles(&named);
  BT_RETURN_IF_ERROR(cluster_->metadata()->AddFiles(&named));
  for (const std::string& name : names) {
    const auto number = DatabaseDirectory::SSTableNumber(name);
    if (!number.has_value() || *number > settled || named.contains(*number)) continue;
    info_log_->Info("removing ", name, ", which no table names");
    // Who has let it go may be removing it, too.
    const absl::Status removed = file_system->RemoveFile(directory.sstable(*number));
    if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  }
  return absl::OkStatus();
}

absl::Status Master::SweepLeftovers() {
  BT_RETURN_IF_ERROR(SweepFiles());
  FileSystem* const file_system = cluster_->file_system();
  const DatabaseDirectory& directory = cluster_->directory();
  const auto sorted = file_system->ListDirectory(directory.sorted_logs());
  if (!sorted.ok() && !absl::IsNotFound(sorted.status())) return sorted.status();
  for (const std::string& name : sorted.value_or(std::vector<std::string>())) {
    const std::string path = Cat(directory.sorted_logs(), "/", name);
    BT_RETURN_IF_ERROR(RemoveSortedLog(file_system, path));
    BT_RETURN_IF_ERROR(file_system->RemoveDirectory(path));
  }
  ServerDirectory servers(file_system, lock_->session(), directory);
  BT_RETURN_IF_ERROR(servers.Load());
  return servers.SweepLogs([&](std::string_view name) { return cluster_->IsLive(name); });
}

}  // namespace bigtable
