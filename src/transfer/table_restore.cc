#include "transfer/table_restore.h"

#include <map>
#include <set>
#include <utility>

#include "base/sequence.h"
#include "base/status.h"
#include "base/strings.h"
#include "changes/change_file.h"
#include "compaction/job.h"
#include "tablet/file_numbers.h"
#include "tablet/tablet_state.h"

namespace bigtable {
namespace {

// One call.
class TableRestore {
 public:
  TableRestore(const TableRestoreParts& parts, const CopyOfBackup& copy, const CallLimits& limits)
      : parts_(parts), copy_(copy), limits_(limits), work_(&parts.storage->file_numbers) {}
  ~TableRestore() {
    if (is_kept_) return;
    for (const auto& [_, number] : numbers_) {
      parts_.storage->file_system->RemoveFile(PathOf(number)).IgnoreError();
    }
  }
  TableRestore(const TableRestore&) = delete;
  TableRestore& operator=(const TableRestore&) = delete;

  absl::Status Run(RestoredTable table) {
    BT_RETURN_IF_ERROR(parts_.check_name(table.layout.name));
    table.layout.table_id = 0;  // there may be a table of that number
    // Positions in its changes would be of that one. Its stream, if it has one, begins anew.
    for (TabletState& tablet : table.tablets) tablet.groups.erase(kChangesGroupId);
    BT_RETURN_IF_ERROR(CheckNumbers(table));
    BT_RETURN_IF_ERROR(parts_.quotas->CheckStorage(table.layout));
    BT_RETURN_IF_ERROR(CopyFiles(table));
    for (TabletState& tablet : table.tablets) Renumber(&tablet);
    const std::string name = table.layout.name;
    BT_RETURN_IF_ERROR(limits_.Check("the restore"));
    BT_RETURN_IF_ERROR(parts_.add(std::move(table), &is_kept_));
    parts_.quotas->MarkChanged();
    parts_.info_log->Info("restored table ", name, " with ", numbers_.size(), " files");
    return absl::OkStatus();
  }

 private:
  std::string PathOf(uint64_t number) const { return parts_.storage->directory.sstable(number); }

  static absl::Status CheckNumbers(const RestoredTable& table) {
    constexpr SequenceNumber kMost = kMaxSequence / 2;
    const SequenceNumber largest = LargestSequence(table);
    if (largest <= kMost) return absl::OkStatus();
    return absl::FailedPreconditionError(
        Cat("table ", table.layout.name, " has sequence numbers up to ", largest,
            "; a table that is restored into a database has numbers up to ", kMost));
  }
  absl::Status CopyFiles(const RestoredTable& table) {
    std::set<uint64_t> of_backup;
    for (const TabletState& tablet : table.tablets) tablet.AddFiles(&of_backup);
    for (const uint64_t number : of_backup) {
      BT_RETURN_IF_ERROR(limits_.Check("the restore"));
      // Numbered first, so that it is removed after an error.
      const uint64_t copied = parts_.storage->file_numbers.Take();
      numbers_[number] = copied;
      BT_RETURN_IF_ERROR(copy_(number, parts_.storage->file_system, PathOf(copied), limits_));
    }
    if (numbers_.empty()) return absl::OkStatus();
    return SyncDirectoryOf(parts_.storage->file_system, PathOf(numbers_.begin()->second));
  }
  void Renumber(TabletState* tablet) const {
    for (auto& [_, group] : tablet->groups) {
      group.policy_state.clear();  // it may name files
      for (TabletFile& file : group.files) {
        SSTableInfo& info = file.info;
        if (!info.ingested.has_value()) info.ingested = {.file_number = info.file_number};
        info.file_number = numbers_.at(info.file_number);
      }
      // Names a log of another database, or one that is gone. All of the group is in the files.
      group.redo = {.sequence = group.redo.sequence};
    }
  }

  const TableRestoreParts& parts_;
  const CopyOfBackup& copy_;
  const CallLimits& limits_;
  const FileNumbers::Work work_;
  std::map<uint64_t, uint64_t> numbers_;  // of the copies, by those in the backup
  bool is_kept_ = false;                  // METADATA may name them
};

}  // namespace

absl::Status RestoreTable(const TableRestoreParts& parts, RestoredTable table,
                          const CopyOfBackup& copy, const CallLimits& limits) {
  return TableRestore(parts, copy, limits).Run(std::move(table));
}

}  // namespace bigtable
