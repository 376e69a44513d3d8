// RepairDatabase (bigtable/repair.h): locks the damaged database, reads it, and writes the new one.
//
// The target begins with a marker, REPAIRING, that is removed once the database is complete. So
// what an interrupted repair has left is known as such, and removed by the next one; nothing else
// is.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/clock.h"
#include "bigtable/memory_budget.h"
#include "bigtable/repair.h"

#include "base/call_limits.h"
#include "base/status.h"
#include "base/strings.h"
#include "cluster/directory.h"
#include "repair/damaged_database.h"
#include "repair/repaired_tables.h"
#include "repair/sstable_salvage.h"
#include "transfer/new_database.h"

namespace bigtable {
namespace {

constexpr uint64_t kMemory = 64 << 20;
constexpr std::string_view kSuffix = ".repaired";

// Without slashes at the end.
std::string WithoutSlashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

}  // namespace

absl::StatusOr<RepairReport> RepairDatabase(std::string_view path, const RepairOptions& options) {
  FileSystem* const file_system =
      options.file_system != nullptr ? options.file_system : FileSystem::Posix();
  const std::string source = WithoutSlashes(path);
  RepairReport report;
  report.target = options.target.empty() ? Cat(source, kSuffix) : WithoutSlashes(options.target);
  if (report.target == source || report.target.starts_with(source + "/")) {
    return absl::InvalidArgumentError(Cat(
        "RepairOptions::target must be outside of the database, and is ", Quoted(report.target)));
  }
  if (!file_system->FileExists(source)) {
    return absl::NotFoundError(Cat(source, ": there is no such directory"));
  }
  const DatabaseDirectory directory(source);
  BT_ASSIGN_OR_RETURN(
      const std::unique_ptr<FileLock> lock,
      file_system->LockFile(directory.lock_file(), FileSystem::LockMode::kExclusive));
  const SSTableSalvageParts parts = {
      .file_system = file_system,
      .budget = std::make_shared<MemoryBudget>(kMemory),
      .limits = {.deadline = options.deadline, .cancellation = options.cancellation}};
  BT_RETURN_IF_ERROR(parts.limits.Check("the repair"));
  DamagedDatabase damaged(parts, source, &report);
  BT_RETURN_IF_ERROR(damaged.Read());
  NewDatabase target({.file_system = file_system,
                      .clock = Clock::System(),
                      .budget = parts.budget,
                      .marker = "REPAIRING"},
                     report.target);
  BT_RETURN_IF_ERROR(target.Begin());
  BT_RETURN_IF_ERROR(RepairedTables(parts, &damaged, &target, &report).Run());
  return report;
}

}  // namespace bigtable
