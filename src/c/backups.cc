// Backups: BackupEngine.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/backup_engine.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::OptionsOf;
using bigtable::Return;
using bigtable::ReturnNone;
using bigtable::ToError;
using bigtable::View;

struct bigtable_backup_engine {
  std::unique_ptr<bigtable::BackupEngine> engine;
};

struct bigtable_backups {
  std::vector<bigtable::BackupInfo> backups;
};

namespace bigtable {
namespace {

// NULL: there are not so many backups.
const BackupInfo* BackupAt(const bigtable_backups* backups, size_t index) {
  return index < backups->backups.size() ? &backups->backups[index] : nullptr;
}

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_backup_engine_open(const char* directory, size_t directory_size,
                                            bigtable_backup_engine** engine) {
  BT_C_CHECK_NOT_NULL({"engine", engine});
  *engine = nullptr;
  BT_C_CHECK_NOT_NULL({"directory", directory, directory_size});
  absl::StatusOr<std::unique_ptr<bigtable::BackupEngine>> opened =
      bigtable::BackupEngine::Open(View(directory, directory_size));
  if (!opened.ok()) return ToError(opened.status());
  *engine = new bigtable_backup_engine{*std::move(opened)};
  return nullptr;
}
void bigtable_backup_engine_free(bigtable_backup_engine* engine) { delete engine; }

bigtable_error* bigtable_backup_engine_create(bigtable_backup_engine* engine,
                                              bigtable_database* database, const char* description,
                                              size_t description_size,
                                              const bigtable_call_options* options, uint64_t* id) {
  BT_C_CHECK_NOT_NULL({"engine", engine}, {"database", database},
                      {"description", description, description_size}, {"id", id});
  const bigtable::CallOptions call = OptionsOf(options);
  const absl::StatusOr<bigtable::BackupInfo> made = engine->engine->Create(
      database->database.get(), {.description = std::string(View(description, description_size)),
                                 .deadline = call.deadline,
                                 .cancellation = call.cancellation});
  if (!made.ok()) return ToError(made.status());
  *id = made->id;
  return nullptr;
}

bigtable_error* bigtable_backup_engine_list(bigtable_backup_engine* engine,
                                            bigtable_backups** backups) {
  BT_C_CHECK_NOT_NULL({"backups", backups});
  *backups = nullptr;
  BT_C_CHECK_NOT_NULL({"engine", engine});
  absl::StatusOr<std::vector<bigtable::BackupInfo>> listed = engine->engine->List();
  if (!listed.ok()) return ToError(listed.status());
  *backups = new bigtable_backups{*std::move(listed)};
  return nullptr;
}
void bigtable_backups_free(bigtable_backups* backups) { delete backups; }

size_t bigtable_backups_count(const bigtable_backups* backups) { return backups->backups.size(); }
uint64_t bigtable_backups_id(const bigtable_backups* backups, size_t index) {
  const bigtable::BackupInfo* const backup = bigtable::BackupAt(backups, index);
  return backup == nullptr ? 0 : backup->id;
}
int64_t bigtable_backups_time(const bigtable_backups* backups, size_t index) {
  const bigtable::BackupInfo* const backup = bigtable::BackupAt(backups, index);
  return backup == nullptr ? 0 : absl::ToUnixMicros(backup->time);
}
const char* bigtable_backups_description(const bigtable_backups* backups, size_t index,
                                         size_t* size) {
  const bigtable::BackupInfo* const backup = bigtable::BackupAt(backups, index);
  return backup == nullptr ? ReturnNone(size) : Return(backup->description, size);
}
uint64_t bigtable_backups_bytes(const bigtable_backups* backups, size_t index) {
  const bigtable::BackupInfo* const backup = bigtable::BackupAt(backups, index);
  return backup == nullptr ? 0 : backup->bytes;
}
uint64_t bigtable_backups_new_bytes(const bigtable_backups* backups, size_t index) {
  const bigtable::BackupInfo* const backup = bigtable::BackupAt(backups, index);
  return backup == nullptr ? 0 : backup->new_bytes;
}

bigtable_error* bigtable_backup_engine_verify(bigtable_backup_engine* engine, uint64_t id,
                                              const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"engine", engine});
  return ToError(engine->engine->Verify(id, OptionsOf(options)));
}

bigtable_error* bigtable_backup_engine_delete(bigtable_backup_engine* engine, uint64_t id) {
  BT_C_CHECK_NOT_NULL({"engine", engine});
  return ToError(engine->engine->Delete(id));
}

bigtable_error* bigtable_backup_engine_delete_old(bigtable_backup_engine* engine, size_t keep) {
  BT_C_CHECK_NOT_NULL({"engine", engine});
  return ToError(engine->engine->DeleteOld(keep));
}

bigtable_error* bigtable_backup_engine_restore(bigtable_backup_engine* engine, uint64_t id,
                                               const char* directory, size_t directory_size,
                                               const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"engine", engine}, {"directory", directory, directory_size});
  const bigtable::CallOptions call = OptionsOf(options);
  return ToError(
      engine->engine->Restore(id, View(directory, directory_size),
                              {.deadline = call.deadline, .cancellation = call.cancellation}));
}
