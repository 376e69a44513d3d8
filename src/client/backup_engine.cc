#include "bigtable/backup_engine.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/clock.h"
#include "bigtable/memory_budget.h"

#include "backend/database_backend.h"
#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "base/status.h"
#include "base/strings.h"
#include "master/schema_store.h"
#include "metadata/metadata_format.h"
#include "schema/schema_checks.h"
#include "schema/table_layout.h"
#include "transfer/backup_store.h"
#include "transfer/image_copy.h"
#include "transfer/new_database.h"

namespace bigtable {
namespace {

// The files of a backup that is being made.
class BackupTarget final : public ImageTarget {
 public:
  BackupTarget(BackupStore* store, BackupStore::Files known, const CreateBackupOptions& options)
      : store_(store), known_(std::move(known)), options_(options) {}
  // Unless the backup exists, removes the files that no other try can use, as far as that works.
  ~BackupTarget() override {
    if (is_finished_) return;
    for (const BackupFile& file : of_memory_) {
      store_->file_system()->RemoveFile(store_->PathOf(file)).IgnoreError();
    }
    store_->RemoveUnfinished().IgnoreError();
  }

  absl::Status AddFile(const SSTableInfo& info, FileSystem* files, const std::string& path,
                       const CallLimits& limits) override {
    BackupFile file = Describe(info);
    if (IsKnown(&file)) return Add(file, /*is_new=*/false);
    const std::string copy = store_->PathOfNew(info.file_number);
    BT_ASSIGN_OR_RETURN(file.checksum, CopyFile(files, path, store_->file_system(), copy, limits));
    BT_RETURN_IF_ERROR(store_->Name(info.file_number, file));
    return Add(file, /*is_new=*/true);
  }
  FileSystem* file_system() override { return store_->file_system(); }
  std::string PathOfNew(uint64_t number) override { return store_->PathOfNew(number); }
  absl::Status AddNew(const SSTableInfo& info, const CallLimits& limits) override {
    BackupFile file = Describe(info);
    BT_ASSIGN_OR_RETURN(file.checksum, ChecksumOfFile(store_->file_system(),
                                                      store_->PathOfNew(info.file_number), limits));
    BT_RETURN_IF_ERROR(store_->Name(info.file_number, file));
    of_memory_.push_back(file);
    return Add(file, /*is_new=*/true);
  }
  absl::Status AddTablet(uint64_t table_id, const TabletState& state) override {
    BackupTablet& tablet = manifest_.tablets.emplace_back();
    tablet.row = NewDatabase::RowOf(table_id, state);
    tablet.operations = NewDatabase::OperationsOf(state);
    state.AddFiles(&tablet.files);
    return absl::OkStatus();
  }
  FileNumbers* file_numbers() override { return &file_numbers_; }
  BackupManifest* manifest() { return &manifest_; }
  // The backup exists, or may exist.
  void Finish() { is_finished_ = true; }

 private:
  static BackupFile Describe(const SSTableInfo& info) {
    return {.number = info.file_number, .size = info.size, .identity = info.identity};
  }
  bool IsKnown(BackupFile* file) const {
    const auto found = known_.find({file->identity, file->size});
    if (found == known_.end()) return false;
    file->checksum = found->second;
    return true;
  }
  absl::Status Add(const BackupFile& file, bool is_new) {
    manifest_.files.push_back(file);
    if (is_new) {
      ++manifest_.new_files;
      manifest_.new_bytes += file.size;
    }
    if (options_.on_progress != nullptr) {
      options_.on_progress(manifest_.files.size(), manifest_.new_bytes);
    }
    return absl::OkStatus();
  }

  BackupStore* const store_;
  const BackupStore::Files known_;
  const CreateBackupOptions& options_;
  std::vector<BackupFile> of_memory_;
  bool is_finished_ = false;
  FileNumbers file_numbers_;
  BackupManifest manifest_;
};

BackupInfo InfoOf(uint64_t id, const BackupManifest& manifest) {
  BackupInfo info{.id = id,
                  .time = manifest.time,
                  .description = manifest.description,
                  .files = manifest.files.size(),
                  .new_files = manifest.new_files,
                  .new_bytes = manifest.new_bytes};
  for (const BackupFile& file : manifest.files) info.bytes += file.size;
  for (const auto& [name, _] : manifest.service_files) {
    if (const auto table = SchemaStore::TableOf(name)) info.tables.emplace_back(*table);
  }
  return info;
}

absl::Status DamagedFile(const BackupStore& store, uint64_t id, const BackupFile& file,
                         std::string_view what) {
  return absl::DataLossError(
      Cat(store.PathOf(file), ": SSTable ", file.number, " of backup ", id, " ", what));
}

// Keeps the tables that are wanted, under their new names. The ids of those that are left out go to
// `*dropped`.
absl::Status ChooseTables(const BackupInfo& backup,
                          const std::map<std::string, std::string>& wanted,
                          std::map<std::string, std::string>* files, std::set<uint64_t>* dropped) {
  std::map<std::string, std::string> chosen;
  for (auto& [name, contents] : *files) {
    if (!SchemaStore::TableOf(name).has_value()) chosen[name] = contents;
  }
  for (const auto& [table, name] : wanted) {
    BT_RETURN_IF_ERROR(CheckTableName(name));
    if (!files->contains(SchemaStore::FileOf(table))) {
      return absl::NotFoundError(Cat("backup ", backup.id, " has no table ", Quoted(table),
                                     "; it has: ", Listed(backup.tables)));
    }
  }
  for (const std::string& table : backup.tables) {
    BT_ASSIGN_OR_RETURN(TableLayout layout,
                        TableLayout::Decode(files->at(SchemaStore::FileOf(table))));
    const auto found = wanted.find(table);
    if (found == wanted.end()) {
      dropped->insert(layout.table_id);
      continue;
    }
    layout.name = found->second;
    if (!chosen.emplace(SchemaStore::FileOf(layout.name), layout.Encode()).second) {
      return absl::AlreadyExistsError(Cat("two tables would be called ", Quoted(layout.name)));
    }
  }
  *files = std::move(chosen);
  return absl::OkStatus();
}

}  // namespace

class BackupEngine::Impl {
 public:
  explicit Impl(std::unique_ptr<BackupStore> opened) : store(std::move(opened)) {}

  LimitedMutex mutex;
  const std::unique_ptr<BackupStore> store ABSL_PT_GUARDED_BY(mutex);
};

BackupEngine::BackupEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BackupEngine::~BackupEngine() = default;

absl::StatusOr<std::unique_ptr<BackupEngine>> BackupEngine::Open(std::string_view directory,
                                                                 FileSystem* file_system) {
  BT_ASSIGN_OR_RETURN(
      std::unique_ptr<BackupStore> store,
      BackupStore::Open(file_system != nullptr ? file_system : FileSystem::Posix(), directory));
  return std::unique_ptr<BackupEngine>(new BackupEngine(std::make_unique<Impl>(std::move(store))));
}

absl::StatusOr<BackupInfo> BackupEngine::Create(Database* database,
                                                const CreateBackupOptions& options) {
  constexpr size_t kMostDescription = 4096;
  constexpr int kMostTries = 3;
  if (options.description.size() > kMostDescription) {
    return absl::InvalidArgumentError(Cat("the description of a backup has ",
                                          options.description.size(), " bytes: at most ",
                                          kMostDescription));
  }
  const CallOptions call{options.deadline, options.cancellation};
  const CallLimits limits{.deadline = options.deadline, .cancellation = options.cancellation};
  LimitedMutexLock lock(&impl_->mutex, &limits, "the backup");
  BT_RETURN_IF_ERROR(lock.status());
  BackupStore* const store = impl_->store.get();
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, store->Numbers());
  const uint64_t id = numbers.empty() ? 1 : numbers.back() + 1;
  BT_RETURN_IF_ERROR(store->RemoveUnfinished());
  for (int tries = 1;; ++tries) {
    BT_ASSIGN_OR_RETURN(BackupStore::Files known, store->ListFiles());
    BackupTarget target(store, std::move(known), options);
    absl::StatusOr<CopiedImage> image = DatabaseBackend::Of(database)->CopyTo(&target, call);
    if (absl::IsNotFound(image.status()) && tries < kMostTries) continue;
    BT_RETURN_IF_ERROR(image.status());
    BackupManifest& manifest = *target.manifest();
    manifest.time = image->now;
    manifest.sequence = image->sequence;
    manifest.description = options.description;
    manifest.service_files = std::move(image->files);
    BT_RETURN_IF_ERROR(store->SyncFiles());
    target.Finish();
    BT_RETURN_IF_ERROR(store->Write(id, manifest));
    return InfoOf(id, manifest);
  }
}

absl::StatusOr<std::vector<BackupInfo>> BackupEngine::List(const CallOptions& options) {
  const CallLimits limits{.deadline = options.deadline, .cancellation = options.cancellation};
  LimitedMutexLock lock(&impl_->mutex, &limits, "the list");
  BT_RETURN_IF_ERROR(lock.status());
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, impl_->store->Numbers());
  std::vector<BackupInfo> backups;
  for (const uint64_t number : numbers) {
    BT_ASSIGN_OR_RETURN(const BackupManifest manifest, impl_->store->Read(number));
    backups.push_back(InfoOf(number, manifest));
  }
  return backups;
}

absl::Status BackupEngine::Verify(uint64_t id, const CallOptions& options) {
  const CallLimits limits{.deadline = options.deadline, .cancellation = options.cancellation};
  LimitedMutexLock lock(&impl_->mutex, &limits, "the verification");
  BT_RETURN_IF_ERROR(lock.status());
  const BackupStore& store = *impl_->store;
  BT_ASSIGN_OR_RETURN(const BackupManifest manifest, store.Read(id));
  for (const BackupFile& file : manifest.files) {
    const absl::StatusOr<uint64_t> checksum =
        ChecksumOfFile(store.file_system(), store.PathOf(file), limits);
    if (absl::IsNotFound(checksum.status())) return DamagedFile(store, id, file, "is missing");
    BT_RETURN_IF_ERROR(checksum.status());
    if (*checksum != file.checksum) return DamagedFile(store, id, file, "is damaged");
  }
  return absl::OkStatus();
}

absl::Status BackupEngine::Delete(uint64_t id, const CallOptions& options) {
  const CallLimits limits{.deadline = options.deadline, .cancellation = options.cancellation};
  LimitedMutexLock lock(&impl_->mutex, &limits, "the deletion");
  BT_RETURN_IF_ERROR(lock.status());
  const absl::Status removed = impl_->store->Remove(id);
  if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  // Also what an earlier call has left.
  BT_RETURN_IF_ERROR(impl_->store->RemoveUnnamed());
  return removed;
}

absl::Status BackupEngine::DeleteOld(size_t keep, const CallOptions& options) {
  const CallLimits limits{.deadline = options.deadline, .cancellation = options.cancellation};
  LimitedMutexLock lock(&impl_->mutex, &limits, "the deletion");
  BT_RETURN_IF_ERROR(lock.status());
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, impl_->store->Numbers());
  for (size_t i = 0; i + keep < numbers.size(); ++i) {
    BT_RETURN_IF_ERROR(impl_->store->Remove(numbers[i]));
  }
  return impl_->store->RemoveUnnamed();
}

absl::Status BackupEngine::Restore(uint64_t id, std::string_view directory,
                                   const RestoreOptions& options) {
  constexpr size_t kBudget = 64 << 20;  // METADATA is written in it
  const CallLimits limits{.deadline = options.deadline, .cancellation = options.cancellation};
  FileSystem* const to_files =
      options.file_system != nullptr ? options.file_system : FileSystem::Posix();
  LimitedMutexLock lock(&impl_->mutex, &limits, "the restore");
  BT_RETURN_IF_ERROR(lock.status());
  const BackupStore& store = *impl_->store;
  BT_ASSIGN_OR_RETURN(BackupManifest manifest, store.Read(id));
  std::set<uint64_t> dropped;
  if (!options.tables.empty()) {
    BT_RETURN_IF_ERROR(
        ChooseTables(InfoOf(id, manifest), options.tables, &manifest.service_files, &dropped));
  }
  NewDatabase restored({to_files, Clock::System(), std::make_shared<MemoryBudget>(kBudget)},
                       directory);
  BT_RETURN_IF_ERROR(restored.Begin());
  std::set<uint64_t> wanted;
  for (BackupTablet& tablet : manifest.tablets) {
    BT_ASSIGN_OR_RETURN(const TabletId of_table, TabletOfMetadataRow(tablet.row));
    if (dropped.contains(of_table.table_id)) continue;
    restored.AddTablet(std::move(tablet.row), std::move(tablet.operations));
    wanted.merge(tablet.files);
  }
  for (const BackupFile& file : manifest.files) {
    restored.file_numbers()->AdvanceTo(file.number);
    if (!wanted.contains(file.number)) continue;
    const absl::StatusOr<uint64_t> checksum =
        CopyFile(store.file_system(), store.PathOf(file), to_files,
                 restored.directory().sstable(file.number), limits);
    if (absl::IsNotFound(checksum.status())) return DamagedFile(store, id, file, "is missing");
    BT_RETURN_IF_ERROR(checksum.status());
    if (*checksum != file.checksum) return DamagedFile(store, id, file, "is damaged");
  }
  BT_RETURN_IF_ERROR(limits.Check("the restore"));
  return restored.Finish(manifest.service_files, manifest.sequence);
}

}  // namespace bigtable
