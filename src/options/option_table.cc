#include "options/option_table.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::array<std::string_view, 3> kDurabilities = {"none", "buffered", "sync"};

bool ReadValue(const std::string& text, uint64_t* value) { return absl::SimpleAtoi(text, value); }
bool ReadValue(const std::string& text, int* value) { return absl::SimpleAtoi(text, value); }
bool ReadValue(const std::string& text, absl::Duration* value) {
  return absl::ParseDuration(text, value);
}
bool ReadValue(const std::string& text, Durability* value) {
  for (size_t i = 0; i < kDurabilities.size(); ++i) {
    if (kDurabilities[i] != text) continue;
    *value = static_cast<Durability>(i);
    return true;
  }
  return false;
}

std::string ToText(uint64_t value) { return Cat(value); }
std::string ToText(int value) { return Cat(value); }
std::string ToText(bool value) { return value ? "true" : "false"; }
std::string ToText(absl::Duration value) { return absl::FormatDuration(value); }
std::string ToText(Durability value) {
  return std::string(kDurabilities[static_cast<size_t>(value)]);
}
std::string ToText(FileSystem::ReadMode value) {
  return value == FileSystem::ReadMode::kMapped ? "mapped" : "positional";
}

constexpr std::string_view RuleOf(uint64_t) { return "a decimal number"; }
constexpr std::string_view RuleOf(int) { return "a decimal number"; }
constexpr std::string_view RuleOf(absl::Duration) { return "a duration, such as 1m30s"; }
constexpr std::string_view RuleOf(Durability) { return "none, buffered or sync"; }

// Of a field of DatabaseOptions.
template <auto kGiven>
constexpr OptionEntry Option(std::string_view name) {
  return {name, [](const DatabaseOptions& options) { return ToText(options.*kGiven); }};
}

// Of a field of DatabaseOptions and the same field of LiveOptions.
template <auto kGiven, auto kLive>
constexpr OptionEntry Changeable(std::string_view name) {
  using Value = std::remove_reference_t<decltype(std::declval<DatabaseOptions>().*kGiven)>;
  OptionEntry entry = Option<kGiven>(name);
  entry.read = [](const std::string& text, DatabaseOptions* options) {
    return ReadValue(text, &(options->*kGiven));
  };
  entry.rule = RuleOf(Value());
  entry.apply = [](const DatabaseOptions& options, LiveOptions* live) {
    live->*kLive = options.*kGiven;
  };
  entry.load = [](const LiveOptions& live, DatabaseOptions* options) {
    options->*kGiven = live.*kLive;
  };
  return entry;
}

// The budget in effect, which may be a shared one.
std::string MemoryBudgetText(const DatabaseOptions& options) {
  return ToText(options.shared_memory_budget == nullptr ? options.memory_budget
                                                        : options.shared_memory_budget->limit());
}

constexpr OptionEntry kMemoryBudget = {
    .name = "memory_budget",
    .to_text = MemoryBudgetText,
    // A value that is still to be checked is no shared budget.
    .read =
        [](const std::string& text, DatabaseOptions* options) {
          options->shared_memory_budget = nullptr;
          return ReadValue(text, &options->memory_budget);
        },
    .rule = RuleOf(uint64_t{}),
    .apply =
        [](const DatabaseOptions& options, LiveOptions* live) {
          // If it was not given, the owner of a shared budget may just have changed the limit.
          if (options.shared_memory_budget != nullptr) return;
          live->budget->SetLimit(options.memory_budget).IgnoreError();  // it was checked
        },
    .load =
        [](const LiveOptions& live, DatabaseOptions* options) {
          options->shared_memory_budget = live.budget;
          options->memory_budget = live.budget->limit();
        },
};

// Does not compile if DatabaseOptions has another field. Then add the field here, and to the table
// if it is a plain value.
[[maybe_unused]] void NameAllFields(const DatabaseOptions& options) {
  [[maybe_unused]] const auto& [create_if_missing, error_if_exists, allow_foreign_files, read_only,
                                follow, follow_interval, durability, memory_budget,
                                shared_memory_budget, memtable_size, log_segment_size,
                                tablet_servers, balance_interval, metadata_tablet_size,
                                target_file_size, compaction_threads, compaction_rate, scan_cache,
                                read_mode, max_open_files, file_system, clock, log_sink,
                                event_listener, trace_one_of, trace_sink, recorder] = options;
}

#define BT_OPTION(name) Option<&DatabaseOptions::name>(#name)
#define BT_CHANGEABLE_OPTION(name) Changeable<&DatabaseOptions::name, &LiveOptions::name>(#name)
constexpr std::array kOptions = {
    BT_OPTION(allow_foreign_files),
    BT_CHANGEABLE_OPTION(balance_interval),
    BT_CHANGEABLE_OPTION(compaction_rate),
    BT_CHANGEABLE_OPTION(compaction_threads),
    BT_OPTION(create_if_missing),
    BT_CHANGEABLE_OPTION(durability),
    BT_OPTION(error_if_exists),
    BT_OPTION(follow),
    BT_OPTION(follow_interval),
    BT_OPTION(log_segment_size),
    BT_OPTION(max_open_files),
    kMemoryBudget,
    BT_CHANGEABLE_OPTION(memtable_size),
    BT_CHANGEABLE_OPTION(metadata_tablet_size),
    BT_OPTION(read_mode),
    BT_OPTION(read_only),
    BT_OPTION(scan_cache),
    BT_OPTION(tablet_servers),
    BT_CHANGEABLE_OPTION(target_file_size),
    BT_OPTION(trace_one_of),
};
#undef BT_CHANGEABLE_OPTION
#undef BT_OPTION

}  // namespace

absl::Span<const OptionEntry> AllOptions() { return kOptions; }

absl::Span<const OptionEntry> AllChangeableOptions() {
  static const auto* const changeable = [] {
    auto* entries = new std::vector<OptionEntry>;
    for (const OptionEntry& option : kOptions) {
      if (option.changeable()) entries->push_back(option);
    }
    return entries;
  }();
  return *changeable;
}

}  // namespace bigtable
