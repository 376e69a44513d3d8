#include "client/option_changes.h"

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

#include "bigtable/options.h"

#include "base/status.h"
#include "base/strings.h"
#include "client/check_options.h"
#include "cluster/live_options.h"

namespace bigtable {
namespace {

constexpr std::array<std::string_view, 3> kDurabilities = {"none", "buffered", "sync"};

bool ReadValue(const std::string& text, uint64_t* value) { return absl::SimpleAtoi(text, value); }
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
std::string ToText(absl::Duration value) { return absl::FormatDuration(value); }
std::string ToText(Durability value) {
  return std::string(kDurabilities[static_cast<size_t>(value)]);
}

constexpr std::string_view RuleOf(uint64_t) { return "a decimal number"; }
constexpr std::string_view RuleOf(absl::Duration) { return "a duration, such as 1m30s"; }
constexpr std::string_view RuleOf(Durability) { return "none, buffered or sync"; }

// An option that can be changed.
struct ChangeableOption {
  std::string_view name;
  // False: the text is not a value of the option's type, which `rule` describes.
  bool (*read)(const std::string& text, DatabaseOptions* options);
  std::string (*to_text)(const DatabaseOptions& options);
  std::string_view rule;
  void (*apply)(const DatabaseOptions& options, LiveOptions* live);
  void (*load)(const LiveOptions& live, DatabaseOptions* options);
};

// Of a field of DatabaseOptions and the same field of LiveOptions.
template <auto kGiven, auto kLive>
constexpr ChangeableOption Option(std::string_view name) {
  using Value = std::remove_reference_t<decltype(std::declval<DatabaseOptions>().*kGiven)>;
  return {
      name,
      [](const std::string& text, DatabaseOptions* options) {
        return ReadValue(text, &(options->*kGiven));
      },
      [](const DatabaseOptions& options) { return ToText(options.*kGiven); },
      RuleOf(Value()),
      [](const DatabaseOptions& options, LiveOptions* live) { live->*kLive = options.*kGiven; },
      [](const LiveOptions& live, DatabaseOptions* options) { options->*kGiven = live.*kLive; }};
}

#define BT_OPTION(name) Option<&DatabaseOptions::name, &LiveOptions::name>(#name)
constexpr std::array kOptions = {BT_OPTION(balance_interval),     BT_OPTION(compaction_rate),
                                 BT_OPTION(durability),           BT_OPTION(memtable_size),
                                 BT_OPTION(metadata_tablet_size), BT_OPTION(target_file_size)};
#undef BT_OPTION

absl::StatusOr<const ChangeableOption*> Find(std::string_view name) {
  for (const ChangeableOption& option : kOptions) {
    if (option.name == name) return &option;
  }
  const auto append_name = [](std::string* out, const ChangeableOption& option) {
    out->append(option.name);
  };
  return absl::InvalidArgumentError(
      Cat("there is no option ", Quoted(name), " that can be changed while the database is open; ",
          "these can be: ", absl::StrJoin(kOptions, ", ", append_name)));
}

// The options of the opening, with the changes since.
DatabaseOptions PresentOptions(const ClusterEnvironment& environment) {
  DatabaseOptions options = environment.options;
  for (const ChangeableOption& option : kOptions) option.load(environment.live, &options);
  return options;
}

}  // namespace

absl::Status OptionChanges::Set(Cluster* cluster, const Values& values) {
  MutexLock lock(&mutex_);
  DatabaseOptions options = PresentOptions(*cluster->environment());
  for (const auto& [name, text] : values) {
    BT_ASSIGN_OR_RETURN(const ChangeableOption* const option, Find(name));
    if (option->read(text, &options)) continue;
    return absl::InvalidArgumentError(
        Cat("the option ", name, " must be ", option->rule, ", and is ", Quoted(text)));
  }
  BT_RETURN_IF_ERROR(CheckedOptions(cluster->environment()->directory.path(), options).status());
  Apply(cluster, options);
  return absl::OkStatus();
}

void OptionChanges::SetCompactionRate(Cluster* cluster, uint64_t bytes_per_second) {
  MutexLock lock(&mutex_);
  DatabaseOptions options = PresentOptions(*cluster->environment());
  options.compaction_rate = bytes_per_second;
  Apply(cluster, options);
}

void OptionChanges::Apply(Cluster* cluster, const DatabaseOptions& options) {
  ClusterEnvironment& environment = *cluster->environment();
  const DatabaseOptions before = PresentOptions(environment);
  for (const ChangeableOption& option : kOptions) {
    const std::string old_text = option.to_text(before);
    const std::string new_text = option.to_text(options);
    if (old_text == new_text) continue;
    option.apply(options, &environment.live);
    environment.info_log.Info("option ", option.name, " changed from ", old_text, " to ", new_text);
  }
  // Cancels the debt of compactions, so only for a new rate.
  if (options.compaction_rate != before.compaction_rate) {
    environment.rate_limiter.SetRate(options.compaction_rate);
  }
  cluster->servers()->UpdateSizes();
}

OptionChanges::Values OptionChanges::Get(const ClusterEnvironment& environment) {
  const DatabaseOptions options = PresentOptions(environment);
  Values values;
  for (const ChangeableOption& option : kOptions) {
    values.emplace(option.name, option.to_text(options));
  }
  return values;
}

}  // namespace bigtable
