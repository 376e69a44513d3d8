#include "bigtable/backup_engine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/clock.h"
#include "bigtable/memory_budget.h"

#include "backend/database_backend.h"
#include "backend/option_limits.h"
#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "base/mutex.h"
#include "base/status.h"
#include "base/strings.h"
#include "master/schema_store.h"
#include "metadata/metadata_format.h"
#include "schema/schema_checks.h"
#include "schema/table_layout.h"
#include "transfer/backup_store.h"
#include "transfer/backup_target.h"
#include "transfer/image_copy.h"
#include "transfer/new_database.h"
#include "transfer/table_restore.h"

namespace bigtable {
namespace {

constexpr size_t kMostDescription = 4096;

absl::Status CheckDescription(std::string_view description) {
  if (description.size() <= kMostDescription) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the description of a backup has ", description.size(),
                                        " bytes: at most ", kMostDescription));
}

// As descriptions have times.
absl::Time WholeMicros(absl::Time time) {
  return time == absl::InfiniteFuture() ? time : absl::FromUnixMicros(absl::ToUnixMicros(time));
}

absl::Status Change(const BackupChanges& changes, BackupManifest* manifest) {
  if (changes.description.has_value()) {
    BT_RETURN_IF_ERROR(CheckDescription(*changes.description));
    manifest->description = *changes.description;
  }
  if (changes.expire_time.has_value()) manifest->expire_time = WholeMicros(*changes.expire_time);
  return absl::OkStatus();
}

BackupInfo InfoOf(uint64_t id, const BackupManifest& manifest) {
  BackupInfo info{.id = id,
                  .time = manifest.time,
                  .description = manifest.description,
                  .files = manifest.files.size(),
                  .new_files = manifest.new_files,
                  .new_bytes = manifest.new_bytes,
                  .expire_time = manifest.expire_time};
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

// Copies files of a backup out of the store, and compares them with their checksums.
class CheckedCopy {
 public:
  using Progress = std::function<void(uint64_t files, uint64_t copied_bytes)>;

  // The arguments outlive this.
  CheckedCopy(const BackupStore& store, uint64_t id, const Progress& on_progress)
      : store_(store), id_(id), on_progress_(on_progress) {}

  absl::Status Copy(const BackupFile& file, FileSystem* files, const std::string& path,
                    const CallLimits& limits) {
    const absl::StatusOr<uint64_t> checksum =
        CopyFile(store_.file_system(), store_.PathOf(file), files, path, limits);
    if (absl::IsNotFound(checksum.status())) return DamagedFile(store_, id_, file, "is missing");
    BT_RETURN_IF_ERROR(checksum.status());
    if (*checksum != file.checksum) return DamagedFile(store_, id_, file, "is damaged");
    ++files_;
    bytes_ += file.size;
    if (on_progress_ != nullptr) on_progress_(files_, bytes_);
    return absl::OkStatus();
  }

 private:
  const BackupStore& store_;
  const uint64_t id_;
  const Progress& on_progress_;
  uint64_t files_ = 0;
  uint64_t bytes_ = 0;
};

absl::Status NoTableIn(const BackupInfo& backup, std::string_view table) {
  return absl::NotFoundError(Cat("backup ", backup.id, " has no table ", Quoted(table),
                                 "; it has: ", Listed(backup.tables)));
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
    if (!files->contains(SchemaStore::FileOf(table))) return NoTableIn(backup, table);
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

// The table, under the name that it has in the backup.
absl::StatusOr<RestoredTable> TableOf(uint64_t id, const BackupManifest& manifest,
                                      std::string_view table) {
  const auto schema = manifest.service_files.find(SchemaStore::FileOf(table));
  if (schema == manifest.service_files.end()) return NoTableIn(InfoOf(id, manifest), table);
  RestoredTable restored;
  BT_ASSIGN_OR_RETURN(restored.layout, TableLayout::Decode(schema->second));
  for (const BackupTablet& tablet : manifest.tablets) {
    BT_ASSIGN_OR_RETURN(const TabletId tablet_id, TabletOfMetadataRow(tablet.row));
    if (tablet_id.table_id != restored.layout.table_id) continue;
    BT_ASSIGN_OR_RETURN(TabletState state, DecodeTablet(tablet_id, tablet.operations));
    restored.tablets.push_back(std::move(state));
  }
  return restored;
}

}  // namespace

class BackupEngine::Impl {
 public:
  explicit Impl(std::unique_ptr<BackupStore> opened) : store(std::move(opened)) {}

  // Decodes a description once.
  absl::StatusOr<BackupInfo> Describe(uint64_t id) {
    {
      MutexLock lock(&known_mutex);
      if (const auto found = known.find(id); found != known.end() && store->Has(id)) {
        return found->second;
      }
    }
    BT_ASSIGN_OR_RETURN(const BackupManifest manifest, store->Read(id));
    BackupInfo info = InfoOf(id, manifest);
    MutexLock lock(&known_mutex);
    known.try_emplace(id, info);  // one that was written meanwhile is newer
    return info;
  }
  // With `mutex` held, as all that follow.
  absl::StatusOr<BackupInfo> Write(uint64_t id, const BackupManifest& manifest) {
    {
      MutexLock lock(&known_mutex);
      known.erase(id);
    }
    BT_RETURN_IF_ERROR(store->Write(id, manifest));
    BackupInfo info = InfoOf(id, manifest);
    MutexLock lock(&known_mutex);
    known[id] = info;
    return info;
  }
  absl::Status Remove(uint64_t id) {
    may_have_unnamed = true;
    BT_RETURN_IF_ERROR(store->Remove(id));
    MutexLock lock(&known_mutex);
    known.erase(id);
    return absl::OkStatus();
  }
  absl::Status RemoveUnnamed() {
    BT_RETURN_IF_ERROR(store->RemoveUnnamed());
    may_have_unnamed = false;
    return absl::OkStatus();
  }
  // A number that no backup has had since this engine was opened.
  absl::StatusOr<uint64_t> NextId() {
    BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, store->Numbers());
    if (!numbers.empty()) last_id = std::max(last_id, numbers.back());
    return ++last_id;
  }

  LimitedMutex mutex;  // held by each call but those that read descriptions
  const std::unique_ptr<BackupStore> store;
  uint64_t last_id = 0;
  bool may_have_unnamed = true;  // files that no backup has

  Mutex known_mutex;  // after `mutex`
  std::map<uint64_t, BackupInfo> known ABSL_GUARDED_BY(known_mutex);
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
  constexpr int kMostTries = 3;
  BT_RETURN_IF_ERROR(CheckDescription(options.description));
  const CallOptions call{options.deadline, options.cancellation};
  const CallLimits limits{.deadline = options.deadline, .cancellation = options.cancellation};
  LimitedMutexLock lock(&impl_->mutex, &limits, "the backup");
  BT_RETURN_IF_ERROR(lock.status());
  BackupStore* const store = impl_->store.get();
  BT_ASSIGN_OR_RETURN(const uint64_t id, impl_->NextId());
  BT_RETURN_IF_ERROR(store->RemoveUnfinished());
  const BackupTarget::Options of_target{options.tables, options.on_progress};
  for (int tries = 1;; ++tries) {
    BT_ASSIGN_OR_RETURN(const BackupStore::Files known, store->ListFiles());
    BackupTarget target(store, known, of_target);
    absl::StatusOr<CopiedImage> image = DatabaseBackend::Of(database)->CopyTo(&target, call);
    if (absl::IsNotFound(image.status()) && tries < kMostTries) continue;
    BT_RETURN_IF_ERROR(image.status());
    BackupManifest manifest = target.Describe(*std::move(image));
    manifest.description = options.description;
    manifest.time = WholeMicros(manifest.time);
    manifest.expire_time = WholeMicros(options.expire_time);
    BT_RETURN_IF_ERROR(store->SyncFiles());
    target.Finish();
    return impl_->Write(id, manifest);
  }
}

absl::StatusOr<BackupInfo> BackupEngine::Get(uint64_t id, const CallOptions& options) {
  BT_RETURN_IF_ERROR(LimitsOf(options).Check());
  return impl_->Describe(id);
}

absl::StatusOr<std::vector<BackupInfo>> BackupEngine::List(const CallOptions& options,
                                                           std::vector<uint64_t>* unreadable) {
  if (unreadable != nullptr) unreadable->clear();
  BT_RETURN_IF_ERROR(LimitsOf(options).Check());
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, impl_->store->Numbers());
  std::vector<BackupInfo> backups;
  for (const uint64_t number : numbers) {
    absl::StatusOr<BackupInfo> info = impl_->Describe(number);
    if (absl::IsNotFound(info.status())) continue;  // it was deleted meanwhile
    if (!info.ok() && unreadable != nullptr) {
      unreadable->push_back(number);
      continue;
    }
    BT_RETURN_IF_ERROR(info.status());
    backups.push_back(*std::move(info));
  }
  return backups;
}

absl::Status BackupEngine::Update(uint64_t id, const BackupChanges& changes,
                                  const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  LimitedMutexLock lock(&impl_->mutex, &limits, "the update");
  BT_RETURN_IF_ERROR(lock.status());
  BT_ASSIGN_OR_RETURN(BackupManifest manifest, impl_->store->Read(id));
  BT_RETURN_IF_ERROR(Change(changes, &manifest));
  return impl_->Write(id, manifest).status();
}

absl::StatusOr<BackupInfo> BackupEngine::Copy(uint64_t id, const BackupChanges& changes,
                                              const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  LimitedMutexLock lock(&impl_->mutex, &limits, "the copy");
  BT_RETURN_IF_ERROR(lock.status());
  BT_ASSIGN_OR_RETURN(BackupManifest manifest, impl_->store->Read(id));
  BT_RETURN_IF_ERROR(Change(changes, &manifest));
  manifest.new_files = 0;
  manifest.new_bytes = 0;
  BT_ASSIGN_OR_RETURN(const uint64_t copy, impl_->NextId());
  return impl_->Write(copy, manifest);
}

absl::Status BackupEngine::Verify(uint64_t id, const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
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
  const CallLimits limits = LimitsOf(options);
  LimitedMutexLock lock(&impl_->mutex, &limits, "the deletion");
  BT_RETURN_IF_ERROR(lock.status());
  const absl::Status removed = impl_->Remove(id);
  if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  // Also what an earlier call has left.
  BT_RETURN_IF_ERROR(impl_->RemoveUnnamed());
  return removed;
}

absl::Status BackupEngine::DeleteOld(size_t keep, const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  LimitedMutexLock lock(&impl_->mutex, &limits, "the deletion");
  BT_RETURN_IF_ERROR(lock.status());
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, impl_->store->Numbers());
  for (size_t i = 0; i + keep < numbers.size(); ++i) {
    BT_RETURN_IF_ERROR(impl_->Remove(numbers[i]));
  }
  return impl_->RemoveUnnamed();
}

absl::StatusOr<size_t> BackupEngine::DeleteExpired(absl::Time now, const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  LimitedMutexLock lock(&impl_->mutex, &limits, "the deletion");
  BT_RETURN_IF_ERROR(lock.status());
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, impl_->store->Numbers());
  size_t deleted = 0;
  absl::Status failed;  // does not keep the others
  for (const uint64_t number : numbers) {
    const absl::StatusOr<BackupInfo> info = impl_->Describe(number);
    if (!info.ok() || info->expire_time > now) {
      failed.Update(info.status());
      continue;
    }
    const absl::Status removed = impl_->Remove(number);
    failed.Update(removed);
    deleted += removed.ok() ? 1 : 0;
  }
  if (impl_->may_have_unnamed) failed.Update(impl_->RemoveUnnamed());
  if (!failed.ok()) return failed;
  return deleted;
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
  CheckedCopy copy(store, id, options.on_progress);
  for (const BackupFile& file : manifest.files) {
    restored.file_numbers()->AdvanceTo(file.number);
    if (!wanted.contains(file.number)) continue;
    BT_RETURN_IF_ERROR(
        copy.Copy(file, to_files, restored.directory().sstable(file.number), limits));
  }
  BT_RETURN_IF_ERROR(limits.Check("the restore"));
  return restored.Finish(manifest.service_files, manifest.sequence);
}

absl::Status BackupEngine::RestoreTable(uint64_t id, std::string_view table, Database* database,
                                        std::string_view name, const RestoreTableOptions& options) {
  const CallOptions call{options.deadline, options.cancellation};
  const CallLimits limits = LimitsOf(call);
  BT_RETURN_IF_ERROR(CheckTableName(name));
  LimitedMutexLock lock(&impl_->mutex, &limits, "the restore");
  BT_RETURN_IF_ERROR(lock.status());
  const BackupStore& store = *impl_->store;
  BT_ASSIGN_OR_RETURN(const BackupManifest manifest, store.Read(id));
  BT_ASSIGN_OR_RETURN(RestoredTable restored, TableOf(id, manifest, table));
  restored.layout.name = name;
  std::map<uint64_t, const BackupFile*> files;
  for (const BackupFile& file : manifest.files) files[file.number] = &file;
  CheckedCopy copy(store, id, options.on_progress);
  const auto copy_numbered = [&](uint64_t number, FileSystem* to_files, const std::string& path,
                                 const CallLimits& of_copy) -> absl::Status {
    const auto file = files.find(number);
    if (file != files.end()) return copy.Copy(*file->second, to_files, path, of_copy);
    return absl::DataLossError(Cat("backup ", id, " does not have SSTable ", number));
  };
  return DatabaseBackend::Of(database)->RestoreTable(std::move(restored), copy_numbered, call);
}

}  // namespace bigtable
