#include "options/check_options.h"

#include <algorithm>
#include <thread>
#include <type_traits>

#include "base/status.h"
#include "base/strings.h"
#include "cache/budget_access.h"

namespace bigtable {
namespace {

template <typename Number>
absl::Status CheckRange(std::string_view option, Number value, std::type_identity_t<Number> least,
                        std::type_identity_t<Number> most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("DatabaseOptions::", option, " must be from ", least, " to ", most, ", and is ", value));
}

}  // namespace

absl::StatusOr<DatabaseOptions> CheckedOptions(std::string_view path,
                                               const DatabaseOptions& options) {
  constexpr uint64_t kMost = uint64_t{1} << 50;
  if (path.empty()) return absl::InvalidArgumentError("the path of a database must not be empty");
  DatabaseOptions checked = options;
  if (checked.shared_memory_budget == nullptr) {
    BT_RETURN_IF_ERROR(
        CheckRange("memory_budget", options.memory_budget, MemoryBudget::kMinimum, kMost));
    checked.shared_memory_budget = std::make_shared<MemoryBudget>(options.memory_budget);
  }
  const uint64_t budget = checked.shared_memory_budget->limit();
  BT_RETURN_IF_ERROR(CheckRange("shared_memory_budget",
                                BudgetAccess::GivenLimit(*checked.shared_memory_budget),
                                MemoryBudget::kMinimum, kMost));
  if (options.memtable_size != 0) {
    BT_RETURN_IF_ERROR(CheckRange("memtable_size", options.memtable_size, 64 << 10, budget / 4));
  }
  BT_RETURN_IF_ERROR(
      CheckRange("log_segment_size", options.log_segment_size, 64 << 10, uint64_t{1} << 30));
  if (options.metadata_tablet_size != 0) {
    BT_RETURN_IF_ERROR(CheckRange("metadata_tablet_size, if it is not 0,",
                                  options.metadata_tablet_size, 4 << 10, kMost));
  }
  BT_RETURN_IF_ERROR(CheckRange("target_file_size", options.target_file_size, 1 << 20, kMost));
  BT_RETURN_IF_ERROR(CheckRange("compaction_threads", options.compaction_threads, 1, 64));
  BT_RETURN_IF_ERROR(CheckRange("tablet_servers", options.tablet_servers, 0, 256));
  if (options.max_open_files != 0) {
    BT_RETURN_IF_ERROR(CheckRange("max_open_files", options.max_open_files, 8, 1 << 30));
  }
  if (checked.tablet_servers == 0) {
    const unsigned processors = std::thread::hardware_concurrency();
    checked.tablet_servers = static_cast<int>(std::clamp(processors, 1u, 256u));
  }
  if (options.balance_interval < absl::Milliseconds(1)) {
    return absl::InvalidArgumentError(
        Cat("DatabaseOptions::balance_interval must be at least 1ms, and is ",
            absl::FormatDuration(options.balance_interval)));
  }
  if (options.follow_interval < absl::Milliseconds(1)) {
    return absl::InvalidArgumentError(
        Cat("DatabaseOptions::follow_interval must be at least 1ms, and is ",
            absl::FormatDuration(options.follow_interval)));
  }
  if (checked.follow) checked.read_only = true;
  BT_RETURN_IF_ERROR(CheckRange("durability", static_cast<int>(options.durability), 0,
                                static_cast<int>(Durability::kSync)));
  if (options.trace_one_of > 0 && options.trace_sink == nullptr) {
    return absl::InvalidArgumentError(Cat(
        "DatabaseOptions::trace_sink must be set when trace_one_of is, to ", options.trace_one_of));
  }
  if (checked.file_system == nullptr) checked.file_system = FileSystem::Posix();
  if (checked.clock == nullptr) checked.clock = Clock::System();
  return checked;
}

}  // namespace bigtable
