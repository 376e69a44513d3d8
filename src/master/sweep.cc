#include "master/sweep.h"

#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "recovery/sorted_log.h"

namespace bigtable {
namespace {

// Whether `name` is the name of a directory with a sorted log: SERVER-MASTER.
bool IsSortedLogName(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return false;
  const std::string_view master = name.substr(dash + 1);
  return ServerDirectory::NumberOf(name.substr(0, dash)).has_value() && !master.empty() &&
         master.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

absl::Status Sweeper::SweepFiles(const CallLimits& limits) {
  // Taken before METADATA is read, which then names every file up to this number that it ever will.
  const uint64_t settled = storage_->file_numbers.settled();
  // After an error METADATA may, after a crash, still name a file of a failed mutation.
  BT_RETURN_IF_ERROR(context_->metadata->error());
  FileSystem* const file_system = storage_->file_system;
  const DatabaseDirectory& directory = storage_->directory;
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system->ListDirectory(directory.sstables()));
  std::set<uint64_t> named;
  coordination_->root.AddFiles(&named);
  BT_RETURN_IF_ERROR(context_->metadata->table()->AddFiles(&named, limits));
  for (const std::string& name : names) {
    const auto number = DatabaseDirectory::SSTableNumber(name);
    if (!number.has_value() || *number > settled || named.contains(*number)) continue;
    if (storage_->leases.is_held()) continue;  // a later sweep removes it
    context_->info_log->Info("removing ", name, ", which no table names");
    // Its last tablet may be removing it too. If readers still use it, the last reader removes it.
    const absl::Status removed = storage_->files->Remove(directory.sstable(*number));
    if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  }
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> copies, storage_->metadata_copies.List());
  for (const uint64_t number : copies) {
    if (number > settled || named.contains(number) || storage_->leases.is_held()) continue;
    BT_RETURN_IF_ERROR(storage_->metadata_copies.Remove(number));
  }
  return absl::OkStatus();
}

absl::Status Sweeper::SweepLeftovers() {
  BT_RETURN_IF_ERROR(SweepFiles());
  FileSystem* const file_system = storage_->file_system;
  const DatabaseDirectory& directory = storage_->directory;
  const auto sorted = file_system->ListDirectory(directory.sorted_logs());
  if (!sorted.ok() && !absl::IsNotFound(sorted.status())) return sorted.status();
  for (const std::string& name : sorted.value_or(std::vector<std::string>())) {
    const std::string path = Cat(directory.sorted_logs(), "/", name);
    if (!IsSortedLogName(name)) {
      AddStray(path);
      continue;
    }
    BT_RETURN_IF_ERROR(RemoveSortedLog(file_system, path));
    const absl::Status removed = file_system->RemoveDirectory(path);
    if (absl::IsFailedPrecondition(removed)) {
      AddStray(path);  // the directory has other files
    } else {
      BT_RETURN_IF_ERROR(removed);
    }
  }
  ServerDirectory servers(file_system, context_->lock->session(), directory);
  BT_RETURN_IF_ERROR(servers.Load());
  std::vector<std::string> others;
  BT_RETURN_IF_ERROR(servers.SweepLogs(
      [&](std::string_view name) { return coordination_->server_names.IsLive(name); }, &others));
  for (const std::string& name : others) AddStray(Cat(directory.logs(), "/", name));
  return absl::OkStatus();
}

void Sweeper::Sweep(const CallLimits& limits) {
  const absl::Status swept = SweepFiles(limits);
  if (!swept.ok()) {
    context_->info_log->Warning("files that no table names were not removed: ",
                                ToStd(swept.message()));
  }
}

void Sweeper::AddStray(std::string_view path) {
  context_->info_log->Warning(path, " is not the database's, and is left as it is");
}

}  // namespace bigtable
