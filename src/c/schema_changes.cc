// The schema of a table, and changes of it.
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/schema.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::OptionsOf;
using bigtable::ToError;
using bigtable::View;

bigtable_error* bigtable_database_get_schema(bigtable_database* database, const char* table,
                                             size_t table_size, bigtable_schema** schema) {
  BT_C_CHECK_NOT_NULL({"schema", schema});
  *schema = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size});
  absl::StatusOr<bigtable::TableSchema> found =
      database->database->GetSchema(View(table, table_size));
  if (!found.ok()) return ToError(found.status());
  *schema = new bigtable_schema{*std::move(found), {}};
  return nullptr;
}

bigtable_error* bigtable_database_set_family_compaction_filter(
    bigtable_database* database, const char* table, size_t table_size, const char* family,
    size_t family_size, const char* name, size_t name_size, const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size},
                      {"family", family, family_size}, {"name", name, name_size});
  return ToError(database->database->UpdateFamily(
      View(table, table_size), View(family, family_size),
      {.compaction_filter = std::string(View(name, name_size))}, OptionsOf(options)));
}

bigtable_error* bigtable_database_set_locality_group(bigtable_database* database, const char* table,
                                                     size_t table_size, const char* name,
                                                     size_t name_size,
                                                     const bigtable_locality_group* group,
                                                     const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size},
                      {"name", name, name_size}, {"group", group});
  return ToError(database->database->SetLocalityGroup(
      View(table, table_size), View(name, name_size), group->group, OptionsOf(options)));
}

bigtable_error* bigtable_database_set_split_rule(bigtable_database* database, const char* table,
                                                 size_t table_size, uint64_t tablet_size,
                                                 uint64_t merge_size, size_t prefix_length,
                                                 const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size});
  const bigtable::SplitRule rule{
      .tablet_size = tablet_size, .merge_size = merge_size, .prefix_length = prefix_length};
  return ToError(
      database->database->SetSplitRule(View(table, table_size), rule, OptionsOf(options)));
}

bigtable_error* bigtable_database_set_change_stream(bigtable_database* database, const char* table,
                                                    size_t table_size, int64_t retention_micros,
                                                    uint64_t max_bytes,
                                                    const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size});
  const bigtable::ChangeStreamRule rule{.retention = absl::Microseconds(retention_micros),
                                        .max_bytes = max_bytes};
  return ToError(
      database->database->SetChangeStream(View(table, table_size), rule, OptionsOf(options)));
}

bigtable_error* bigtable_database_set_observers(bigtable_database* database, const char* table,
                                                size_t table_size, const bigtable_schema* schema,
                                                const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size}, {"schema", schema});
  return ToError(database->database->SetObservers(View(table, table_size), schema->schema.observers,
                                                  OptionsOf(options)));
}
