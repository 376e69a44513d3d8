#include "transfer/backup_target.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "master/schema_store.h"
#include "transfer/new_database.h"

namespace bigtable {
namespace {

BackupFile FileOf(const SSTableInfo& info) {
  return {.number = info.file_number, .size = info.size, .identity = info.identity};
}

}  // namespace

BackupTarget::~BackupTarget() {
  if (is_finished_) return;
  for (const BackupFile& file : of_memory_) {
    store_->file_system()->RemoveFile(store_->PathOf(file)).IgnoreError();
  }
  store_->RemoveUnfinished().IgnoreError();
}

absl::Status BackupTarget::Begin(const std::map<std::string, std::string>& files) {
  for (const std::string& table : options_.tables) {
    if (files.contains(SchemaStore::FileOf(table))) continue;
    std::vector<std::string> tables;
    for (const auto& [name, _] : files) {
      if (const auto of_file = SchemaStore::TableOf(name)) tables.emplace_back(*of_file);
    }
    return NoTableError(table, tables);
  }
  return absl::OkStatus();
}

bool BackupTarget::TakesTable(std::string_view table) const {
  return options_.tables.empty() ||
         std::find(options_.tables.begin(), options_.tables.end(), table) != options_.tables.end();
}

absl::Status BackupTarget::AddFile(const SSTableInfo& info, FileSystem* files,
                                   const std::string& path, const CallLimits& limits) {
  BackupFile file = FileOf(info);
  if (const auto found = known_.find({file.identity, file.size}); found != known_.end()) {
    file.checksum = found->second;
    Add(file, /*is_new=*/false);
    return absl::OkStatus();
  }
  const std::string copy = store_->PathOfNew(info.file_number);
  BT_ASSIGN_OR_RETURN(file.checksum, CopyFile(files, path, store_->file_system(), copy, limits));
  BT_RETURN_IF_ERROR(store_->Name(info.file_number, file));
  Add(file, /*is_new=*/true);
  return absl::OkStatus();
}

absl::Status BackupTarget::AddNew(const SSTableInfo& info, const CallLimits& limits) {
  BackupFile file = FileOf(info);
  BT_ASSIGN_OR_RETURN(file.checksum, ChecksumOfFile(store_->file_system(),
                                                    store_->PathOfNew(info.file_number), limits));
  BT_RETURN_IF_ERROR(store_->Name(info.file_number, file));
  of_memory_.push_back(file);
  Add(file, /*is_new=*/true);
  return absl::OkStatus();
}

absl::Status BackupTarget::AddTablet(uint64_t table_id, const TabletState& state) {
  BackupTablet& tablet = manifest_.tablets.emplace_back();
  tablet.row = NewDatabase::RowOf(table_id, state);
  tablet.operations = NewDatabase::OperationsOf(state);
  state.AddFiles(&tablet.files);
  return absl::OkStatus();
}

void BackupTarget::Add(const BackupFile& file, bool is_new) {
  manifest_.files.push_back(file);
  if (is_new) {
    ++manifest_.new_files;
    manifest_.new_bytes += file.size;
  }
  if (options_.on_progress != nullptr) {
    options_.on_progress(manifest_.files.size(), manifest_.new_bytes);
  }
}

BackupManifest BackupTarget::Describe(CopiedImage image) {
  std::erase_if(image.files, [this](const auto& file) {
    const auto table = SchemaStore::TableOf(file.first);
    return table.has_value() && !TakesTable(*table);
  });
  manifest_.time = image.now;
  manifest_.sequence = image.sequence;
  manifest_.service_files = std::move(image.files);
  return manifest_;
}

}  // namespace bigtable
