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

}  // namespace

DatabaseOptions OptionChanges::PresentOptions() const {
  DatabaseOptions options = *parts_.opened;
  for (const OptionEntry& option : AllChangeableOptions()) option.load(*parts_.live, &options);
  return options;
}

absl::Status OptionChanges::Set(const Values& values) {
  MutexLock lock(&mutex_);
  DatabaseOptions options = PresentOptions();
  for (const auto& [name, text] : values) {
    BT_ASSIGN_OR_RETURN(const OptionEntry* const option, Find(name));
    if (option->read(text, &options)) continue;
    return absl::InvalidArgumentError(
        Cat("the option ", name, " must be ", option->rule, ", and is ", Quoted(text)));
  }
  DatabaseOptions checked = options;
  // The owner of a shared budget may have lowered it since this was set.
  if (!values.contains("memtable_size") && !values.contains("memory_budget")) {
    checked.memtable_size = 0;
  }
  BT_RETURN_IF_ERROR(CheckedOptions(parts_.directory->path(), checked).status());
  // The only change that may fail.
  BT_RETURN_IF_ERROR(parts_.background->SetCompactionThreads(options.compaction_threads));
  Apply(options);
  return absl::OkStatus();
}

void OptionChanges::SetCompactionRate(uint64_t bytes_per_second) {
  MutexLock lock(&mutex_);
  DatabaseOptions options = PresentOptions();
  options.compaction_rate = bytes_per_second;
  Apply(options);
}

void OptionChanges::Apply(const DatabaseOptions& options) {
  const DatabaseOptions before = PresentOptions();
  for (const OptionEntry& option : AllChangeableOptions()) {
    const std::string old_text = option.to_text(before);
    const std::string new_text = option.to_text(options);
    if (old_text == new_text) continue;
    option.apply(options, parts_.live);
    parts_.info_log->Info("option ", option.name, " changed from ", old_text, " to ", new_text);
  }
  // Cancels the debt of compactions, so only for a new rate.
  if (options.compaction_rate != before.compaction_rate) {
    parts_.compactions->SetRate(options.compaction_rate);
  }
  parts_.servers->UpdateSizes(*parts_.live);
  Record();
}

void OptionChanges::RecordOpening() {
  MutexLock lock(&mutex_);
  Record();
}

void OptionChanges::Record() {
  if (parts_.opened->read_only) return;
  const absl::Status written =
      WriteOptionsFile(parts_.opened->file_system, *parts_.directory, PresentOptions());
  if (written.ok()) return;
  parts_.info_log->Error("the options are not recorded: ", ToStd(written.message()));
}

OptionChanges::Values OptionChanges::Get() const {
  const DatabaseOptions options = PresentOptions();
  Values values;
  for (const OptionEntry& option : AllChangeableOptions()) {
    values.emplace(option.name, option.to_text(options));
  }
  return values;
}

}  // namespace bigtable
