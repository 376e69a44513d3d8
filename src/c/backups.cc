// Backups: BackupEngine.
#include <cstdint>
#include <functional>
#include <map>
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

struct bigtable_backup_options {
  bigtable::BackupChanges changes;
  std::map<std::string, std::string> tables;  // with their names after a restore
  std::function<void(uint64_t files, uint64_t copied_bytes)> on_progress;
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

const bigtable_backup_options& OrNone(const bigtable_backup_options* options) {
  static const auto* const none = new bigtable_backup_options;
  return options != nullptr ? *options : *none;
}

CreateBackupOptions ToCreate(const bigtable_backup_options* options,
                             const bigtable_call_options* call) {
  const bigtable_backup_options& given = OrNone(options);
  const CallOptions limits = OptionsOf(call);
  CreateBackupOptions create{.description = given.changes.description.value_or(""),
                             .on_progress = given.on_progress,
                             .deadline = limits.deadline,
                             .cancellation = limits.cancellation};
  if (given.changes.expire_time.has_value()) create.expire_time = *given.changes.expire_time;
  for (const auto& [table, _] : given.tables) create.tables.push_back(table);
  return create;
}

absl::Time ToTime(int64_t micros) {
  return micros == INT64_MAX ? absl::InfiniteFuture() : absl::FromUnixMicros(micros);
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

bigtable_backup_options* bigtable_backup_options_new() { return new bigtable_backup_options; }
void bigtable_backup_options_free(bigtable_backup_options* options) { delete options; }
bigtable_error* bigtable_backup_options_set_description(bigtable_backup_options* options,
                                                        const char* description,
                                                        size_t description_size) {
  BT_C_CHECK_NOT_NULL({"options", options}, {"description", description, description_size});
  options->changes.description = View(description, description_size);
  return nullptr;
}
bigtable_error* bigtable_backup_options_set_expire_time(bigtable_backup_options* options,
                                                        int64_t time) {
  BT_C_CHECK_NOT_NULL({"options", options});
  options->changes.expire_time = bigtable::ToTime(time);
  return nullptr;
}
bigtable_error* bigtable_backup_options_add_table(bigtable_backup_options* options,
                                                  const char* table, size_t table_size,
                                                  const char* name, size_t name_size) {
  BT_C_CHECK_NOT_NULL({"options", options}, {"table", table, table_size});
  const std::string of_backup(View(table, table_size));
  options->tables[of_backup] = name == nullptr ? of_backup : std::string(View(name, name_size));
  return nullptr;
}
bigtable_error* bigtable_backup_options_set_progress(bigtable_backup_options* options,
                                                     bigtable_progress_function function,
                                                     void* context) {
  BT_C_CHECK_NOT_NULL({"options", options});
  options->on_progress = nullptr;
  if (function == nullptr) return nullptr;
  options->on_progress = [function, context](uint64_t files, uint64_t copied_bytes) {
    function(context, files, copied_bytes);
  };
  return nullptr;
}

bigtable_error* bigtable_backup_engine_create_with(bigtable_backup_engine* engine,
                                                   bigtable_database* database,
                                                   const bigtable_backup_options* options,
                                                   const bigtable_call_options* call,
                                                   uint64_t* id) {
  BT_C_CHECK_NOT_NULL({"engine", engine}, {"database", database}, {"id", id});
  const absl::StatusOr<bigtable::BackupInfo> made =
      engine->engine->Create(database->database.get(), bigtable::ToCreate(options, call));
  if (!made.ok()) return ToError(made.status());
  *id = made->id;
  return nullptr;
}

bigtable_error* bigtable_backup_engine_update(bigtable_backup_engine* engine, uint64_t id,
                                              const bigtable_backup_options* options,
                                              const bigtable_call_options* call) {
  BT_C_CHECK_NOT_NULL({"engine", engine});
  return ToError(engine->engine->Update(id, bigtable::OrNone(options).changes, OptionsOf(call)));
}

bigtable_error* bigtable_backup_engine_copy(bigtable_backup_engine* engine, uint64_t id,
                                            const bigtable_backup_options* options,
                                            const bigtable_call_options* call, uint64_t* copy) {
  BT_C_CHECK_NOT_NULL({"engine", engine}, {"copy", copy});
  const absl::StatusOr<bigtable::BackupInfo> made =
      engine->engine->Copy(id, bigtable::OrNone(options).changes, OptionsOf(call));
  if (!made.ok()) return ToError(made.status());
  *copy = made->id;
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
int64_t bigtable_backups_expire_time(const bigtable_backups* backups, size_t index) {
  const bigtable::BackupInfo* const backup = bigtable::BackupAt(backups, index);
  return backup == nullptr ? INT64_MAX : absl::ToUnixMicros(backup->expire_time);
}
size_t bigtable_backups_table_count(const bigtable_backups* backups, size_t index) {
  const bigtable::BackupInfo* const backup = bigtable::BackupAt(backups, index);
  return backup == nullptr ? 0 : backup->tables.size();
}
const char* bigtable_backups_table(const bigtable_backups* backups, size_t index, size_t table,
                                   size_t* size) {
  const bigtable::BackupInfo* const backup = bigtable::BackupAt(backups, index);
  const bool is_there = backup != nullptr && table < backup->tables.size();
  return is_there ? Return(backup->tables[table], size) : ReturnNone(size);
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

bigtable_error* bigtable_backup_engine_delete_expired(bigtable_backup_engine* engine, int64_t now,
                                                      size_t* deleted) {
  BT_C_CHECK_NOT_NULL({"engine", engine});
  const absl::StatusOr<size_t> count = engine->engine->DeleteExpired(bigtable::ToTime(now));
  if (!count.ok()) return ToError(count.status());
  if (deleted != nullptr) *deleted = *count;
  return nullptr;
}

bigtable_error* bigtable_backup_engine_restore_with(bigtable_backup_engine* engine, uint64_t id,
                                                    const char* directory, size_t directory_size,
                                                    const bigtable_backup_options* options,
                                                    const bigtable_call_options* call) {
  BT_C_CHECK_NOT_NULL({"engine", engine}, {"directory", directory, directory_size});
  const bigtable::CallOptions limits = OptionsOf(call);
  const bigtable_backup_options& given = bigtable::OrNone(options);
  return ToError(engine->engine->Restore(id, View(directory, directory_size),
                                         {.tables = given.tables,
                                          .on_progress = given.on_progress,
                                          .deadline = limits.deadline,
                                          .cancellation = limits.cancellation}));
}

bigtable_error* bigtable_backup_engine_restore_table(bigtable_backup_engine* engine, uint64_t id,
                                                     const char* table, size_t table_size,
                                                     bigtable_database* database, const char* name,
                                                     size_t name_size,
                                                     const bigtable_backup_options* options,
                                                     const bigtable_call_options* call) {
  BT_C_CHECK_NOT_NULL({"engine", engine}, {"table", table, table_size}, {"database", database},
                      {"name", name, name_size});
  const bigtable::CallOptions limits = OptionsOf(call);
  return ToError(engine->engine->RestoreTable(id, View(table, table_size), database->database.get(),
                                              View(name, name_size),
                                              {.on_progress = bigtable::OrNone(options).on_progress,
                                               .deadline = limits.deadline,
                                               .cancellation = limits.cancellation}));
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
