#include "options/option_changes.h"

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"

#include "base/status.h"
#include "base/strings.h"
#include "options/check_options.h"
#include "options/option_table.h"
#include "options/options_file.h"

namespace bigtable {
namespace {

absl::StatusOr<const OptionEntry*> Find(std::string_view name) {
  for (const OptionEntry& option : AllChangeableOptions()) {
    if (option.name == name) return &option;
  }
  const auto append_name = [](std::string* out, const OptionEntry& option) {
    out->append(option.name);
  };
  return absl::InvalidArgumentError(
      Cat("there is no option ", Quoted(name), " that can be changed while the database is open; ",
          "these can be: ", absl::StrJoin(AllChangeableOptions(), ", ", append_name)));
}

// The options of the opening, with the changes since.
DatabaseOptions PresentOptions(const ClusterEnvironment& environment) {
  DatabaseOptions options = environment.options;
  for (const OptionEntry& option : AllChangeableOptions()) option.load(environment.live, &options);
  return options;
}

}  // namespace

absl::Status OptionChanges::Set(Cluster* cluster, const Values& values) {
  MutexLock lock(&mutex_);
  DatabaseOptions options = PresentOptions(*cluster->environment());
  for (const auto& [name, text] : values) {
    BT_ASSIGN_OR_RETURN(const OptionEntry* const option, Find(name));
    if (option->read(text, &options)) continue;
    return absl::InvalidArgumentError(
        Cat("the option ", name, " must be ", option->rule, ", and is ", Quoted(text)));
  }
  BT_RETURN_IF_ERROR(
      CheckedOptions(cluster->environment()->storage.directory.path(), options).status());
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
  for (const OptionEntry& option : AllChangeableOptions()) {
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
  cluster->servers()->UpdateSizes(environment.live);
  Record(cluster);
}

void OptionChanges::RecordOpening(Cluster* cluster) {
  MutexLock lock(&mutex_);
  Record(cluster);
}

void OptionChanges::Record(Cluster* cluster) {
  ClusterEnvironment& environment = *cluster->environment();
  if (environment.read_only()) return;
  const absl::Status written = WriteOptionsFile(
      environment.storage.file_system, environment.storage.directory, PresentOptions(environment));
  if (written.ok()) return;
  environment.info_log.Error("the options are not recorded: ", ToStd(written.message()));
}

OptionChanges::Values OptionChanges::Get(const ClusterEnvironment& environment) {
  const DatabaseOptions options = PresentOptions(environment);
  Values values;
  for (const OptionEntry& option : AllChangeableOptions()) {
    values.emplace(option.name, option.to_text(options));
  }
  return values;
}

}  // namespace bigtable
