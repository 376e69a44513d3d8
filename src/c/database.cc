#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/prometheus.h"

#include "c/arguments.h"
#include "c/family.h"
#include "c/handles.h"

using bigtable::OptionsOf;
using bigtable::ToError;
using bigtable::View;

namespace bigtable {
namespace {

CreateTableOptions CreationOf(const bigtable_schema* schema, const bigtable_call_options* options) {
  const CallOptions call = OptionsOf(options);
  return {.split_rows = schema->split_rows,
          .deadline = call.deadline,
          .cancellation = call.cancellation};
}

bigtable_error* ReturnTable(const absl::StatusOr<Table*>& opened, bigtable_table** table) {
  if (!opened.ok()) return ToError(opened.status());
  *table = ToC(*opened);
  return nullptr;
}

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_database_open(const char* path, size_t path_size,
                                       const bigtable_options* options,
                                       bigtable_database** database) {
  BT_C_CHECK_NOT_NULL({"database", database});
  *database = nullptr;
  BT_C_CHECK_NOT_NULL({"path", path, path_size});
  absl::StatusOr<std::unique_ptr<bigtable::Database>> opened = bigtable::Database::Open(
      View(path, path_size), options == nullptr ? bigtable::DatabaseOptions() : options->options);
  if (!opened.ok()) return ToError(opened.status());
  *database = new bigtable_database{*std::move(opened)};
  return nullptr;
}

bigtable_error* bigtable_database_close(bigtable_database* database) {
  BT_C_CHECK_NOT_NULL({"database", database});
  return ToError(database->database->Close());
}

void bigtable_database_free(bigtable_database* database) { delete database; }

bigtable_error* bigtable_database_create_table(bigtable_database* database, const char* name,
                                               size_t name_size, const bigtable_schema* schema,
                                               const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"name", name, name_size}, {"schema", schema});
  return ToError(database->database->CreateTable(View(name, name_size), schema->schema,
                                                 bigtable::CreationOf(schema, options)));
}

bigtable_error* bigtable_database_delete_table(bigtable_database* database, const char* name,
                                               size_t name_size,
                                               const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"name", name, name_size});
  return ToError(database->database->DeleteTable(View(name, name_size), OptionsOf(options)));
}

bigtable_error* bigtable_database_open_table(bigtable_database* database, const char* name,
                                             size_t name_size, bigtable_table** table) {
  BT_C_CHECK_NOT_NULL({"table", table});
  *table = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database}, {"name", name, name_size});
  return bigtable::ReturnTable(database->database->OpenTable(View(name, name_size)), table);
}

bigtable_error* bigtable_database_open_or_create_table(bigtable_database* database,
                                                       const char* name, size_t name_size,
                                                       const bigtable_schema* schema,
                                                       const bigtable_call_options* options,
                                                       bigtable_table** table) {
  BT_C_CHECK_NOT_NULL({"table", table});
  *table = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database}, {"name", name, name_size}, {"schema", schema});
  return bigtable::ReturnTable(
      database->database->OpenOrCreateTable(View(name, name_size), schema->schema,
                                            bigtable::CreationOf(schema, options)),
      table);
}

bigtable_error* bigtable_database_list_tables(bigtable_database* database,
                                              bigtable_string_list** names) {
  BT_C_CHECK_NOT_NULL({"names", names});
  *names = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database});
  absl::StatusOr<std::vector<std::string>> tables = database->database->ListTables();
  if (!tables.ok()) return ToError(tables.status());
  *names = new bigtable_string_list{*std::move(tables)};
  return nullptr;
}

bigtable_error* bigtable_database_add_family(bigtable_database* database, const char* table,
                                             size_t table_size, const char* name, size_t name_size,
                                             const char* group, size_t group_size,
                                             const bigtable_gc_rule* rule,
                                             const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size},
                      {"name", name, name_size}, {"group", group, group_size});
  return ToError(database->database->AddFamily(View(table, table_size), View(name, name_size),
                                               bigtable::FamilyOf(View(group, group_size), rule),
                                               OptionsOf(options)));
}

bigtable_error* bigtable_database_add_schema_family(bigtable_database* database, const char* table,
                                                    size_t table_size, const char* name,
                                                    size_t name_size, const bigtable_schema* schema,
                                                    const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size},
                      {"name", name, name_size}, {"schema", schema});
  const auto family = bigtable::FindFamily(schema, View(name, name_size));
  if (!family.ok()) return ToError(family.status());
  return ToError(database->database->AddFamily(View(table, table_size), View(name, name_size),
                                               **family, OptionsOf(options)));
}

bigtable_error* bigtable_database_drop_family(bigtable_database* database, const char* table,
                                              size_t table_size, const char* name, size_t name_size,
                                              const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size},
                      {"name", name, name_size});
  return ToError(database->database->DropFamily(View(table, table_size), View(name, name_size),
                                                OptionsOf(options)));
}

bigtable_error* bigtable_database_set_gc_rule(bigtable_database* database, const char* table,
                                              size_t table_size, const char* family,
                                              size_t family_size, const bigtable_gc_rule* rule,
                                              const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size},
                      {"family", family, family_size});
  return ToError(
      database->database->UpdateFamily(View(table, table_size), View(family, family_size),
                                       {.gc = bigtable::RuleOf(rule)}, OptionsOf(options)));
}

bigtable_error* bigtable_database_checkpoint(bigtable_database* database, const char* directory,
                                             size_t directory_size,
                                             const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"directory", directory, directory_size});
  return ToError(
      database->database->Checkpoint(View(directory, directory_size), OptionsOf(options)));
}

bigtable_error* bigtable_database_flush(bigtable_database* database, const char* table,
                                        size_t table_size, const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size});
  return ToError(database->database->Flush(View(table, table_size), OptionsOf(options)));
}

bigtable_error* bigtable_database_compact(bigtable_database* database, const char* table,
                                          size_t table_size, const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size});
  return ToError(database->database->Compact(View(table, table_size), OptionsOf(options)));
}

bigtable_error* bigtable_database_wait_until_quiet(bigtable_database* database,
                                                   const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database});
  return ToError(database->database->WaitUntilQuiet(OptionsOf(options)));
}

bigtable_error* bigtable_database_pause_compactions(bigtable_database* database) {
  BT_C_CHECK_NOT_NULL({"database", database});
  database->database->PauseCompactions();
  return nullptr;
}

bigtable_error* bigtable_database_continue_compactions(bigtable_database* database) {
  BT_C_CHECK_NOT_NULL({"database", database});
  database->database->ContinueCompactions();
  return nullptr;
}

bigtable_error* bigtable_database_cancel_compactions(bigtable_database* database) {
  BT_C_CHECK_NOT_NULL({"database", database});
  database->database->CancelCompactions();
  return nullptr;
}

bigtable_error* bigtable_database_resume(bigtable_database* database) {
  BT_C_CHECK_NOT_NULL({"database", database});
  return ToError(database->database->Resume());
}

bigtable_error* bigtable_database_resume_within(bigtable_database* database,
                                                const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database});
  return ToError(database->database->Resume(OptionsOf(options)));
}

bigtable_error* bigtable_database_refresh(bigtable_database* database,
                                          const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database});
  return ToError(database->database->Refresh(OptionsOf(options)));
}

bigtable_error* bigtable_database_get_statistics(bigtable_database* database,
                                                 bigtable_string** text) {
  BT_C_CHECK_NOT_NULL({"text", text});
  *text = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database});
  *text = new bigtable_string{bigtable::ToPrometheusText(database->database->Statistics())};
  return nullptr;
}

bigtable_error* bigtable_database_take_snapshot(bigtable_database* database,
                                                bigtable_snapshot** snapshot) {
  BT_C_CHECK_NOT_NULL({"snapshot", snapshot});
  *snapshot = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database});
  absl::StatusOr<std::shared_ptr<const bigtable::Snapshot>> taken =
      database->database->TakeSnapshot();
  if (!taken.ok()) return ToError(taken.status());
  *snapshot = new bigtable_snapshot{*std::move(taken)};
  return nullptr;
}

uint64_t bigtable_snapshot_sequence(const bigtable_snapshot* snapshot) {
  return snapshot->snapshot->sequence();
}
void bigtable_snapshot_free(bigtable_snapshot* snapshot) { delete snapshot; }
