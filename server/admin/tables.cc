#include "server/admin/tables.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bigtable/options.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"
#include "bigtable/table.h"

#include "convert/limits.h"
#include "convert/schema.h"
#include "server/admin/change_times.h"
#include "server/admin/column_families.h"
#include "server/admin/field_masks.h"
#include "server/admin/pages.h"
#include "server/admin/table_record.h"
#include "server/admin/table_views.h"
#include "server/text/errors.h"
#include "server/text/resource_name.h"

namespace bigtable::server {
namespace {

// What Cloud Bigtable's tables have, and these have not.
struct UnservedField {
  std::string_view field;
  std::string_view what;
};
constexpr UnservedField kUnservedFields[] = {
    {"automated_backup_policy", "automated backups"},
    {"row_key_schema", "schemas of row keys"},
};

absl::Status UnservedError(const UnservedField& unserved) {
  return absl::UnimplementedError(
      Cat("this server has no ", unserved.what, " (", unserved.field, ")"));
}

absl::Status CheckNewTable(const admin::Table& table) {
  for (const UnservedField& unserved : kUnservedFields) {
    const auto* const field = table.GetDescriptor()->FindFieldByName(std::string(unserved.field));
    if (table.GetReflection()->HasField(table, field)) return UnservedError(unserved);
  }
  if (table.granularity() != admin::Table::TIMESTAMP_GRANULARITY_UNSPECIFIED &&
      table.granularity() != admin::Table::MILLIS) {
    return Invalid("the granularity of a table must be MILLIS (1), and is ",
                   static_cast<int>(table.granularity()));
  }
  if (table.column_families_size() > convert::kMaxFamilies) {
    return Invalid("a table must have at most ", convert::kMaxFamilies,
                   " column families, and has ", table.column_families_size());
  }
  return absl::OkStatus();
}

absl::StatusOr<TableSchema> SchemaOf(const admin::Table& table) {
  TableSchema schema;
  if (table.has_change_stream_config()) {
    SERVER_ASSIGN_OR_RETURN(schema.changes,
                            convert::ToChangeStreamRule(table.change_stream_config()));
  }
  for (const auto& [name, family] : table.column_families()) {
    SERVER_ASSIGN_OR_RETURN(schema.families[name], NewFamily(name, family));
  }
  return schema;
}

TableRecord RecordOf(const TableName& name, const admin::Table& table) {
  TableRecord record(name);
  record.SetProtected(table.deletion_protection());
  for (const auto& [id, family] : table.column_families()) record.SetRule(id, family.gc_rule());
  return record;
}

absl::Status CheckUpdateMask(const google::protobuf::FieldMask& mask) {
  for (const std::string& path : mask.paths()) {
    for (const UnservedField& unserved : kUnservedFields) {
      if (IsOfField(path, unserved.field)) return UnservedError(unserved);
    }
    if (IsOfField(path, "column_families")) {
      return absl::UnimplementedError(
          "UpdateTable does not change column_families; ModifyColumnFamilies does");
    }
  }
  return absl::OkStatus();
}

// Sets those of the table that the mask names.
absl::Status UpdateChangeable(const admin::UpdateTableRequest& request, admin::Table* table) {
  return UpdateFields(request.table(), request.update_mask(),
                      {"deletion_protection", "change_stream_config"}, table);
}

// The rule that the engine is to have when the table is to have this configuration. What the
// configuration has not is left as it is.
absl::StatusOr<ChangeStreamRule> UpdatedRule(const admin::Table& table, ChangeStreamRule rule) {
  if (!table.has_change_stream_config()) return ChangeStreamRule();
  SERVER_ASSIGN_OR_RETURN(const ChangeStreamRule given,
                          convert::ToChangeStreamRule(table.change_stream_config()));
  rule.retention = given.retention;
  return rule;
}

}  // namespace

absl::StatusOr<admin::Table> Tables::Create(const admin::CreateTableRequest& request,
                                            const CallOptions& options) const {
  SERVER_ASSIGN_OR_RETURN(const InstanceName instance, ParseInstanceName(request.parent()));
  SERVER_RETURN_IF_ERROR(CheckTableId(request.table_id()));
  KnownTable known{{instance, request.table_id()}, ""};
  SERVER_ASSIGN_OR_RETURN(known.engine_name,
                          EngineTableName(known.name, parts_.inventory.default_instance()));
  SERVER_RETURN_IF_ERROR(CheckNewTable(request.table()));
  SERVER_ASSIGN_OR_RETURN(const TableSchema schema, SchemaOf(request.table()));
  CreateTableOptions create;
  create.deadline = options.deadline;
  for (const auto& split : request.initial_splits()) create.split_rows.push_back(split.key());

  const std::lock_guard lock(parts_.catalogue->change_mutex());
  const std::string name = known.name.ToString();
  const absl::Status found = parts_.inventory.FindTable(name).status();
  if (found.ok()) return absl::AlreadyExistsError(Cat("Table already exists: ", name));
  if (!absl::IsNotFound(found)) return found;
  // Before the table: it is protected as soon as it exists.
  SERVER_ASSIGN_OR_RETURN(const TableRecord old, TableRecord::Read(*parts_.catalogue, known.name));
  const TableRecord record = RecordOf(known.name, request.table());
  if (!(record == old)) SERVER_RETURN_IF_ERROR(record.Store(parts_.catalogue));
  const absl::Status created = parts_.database->CreateTable(known.engine_name, schema, create);
  if (created.ok()) return ShowTable(parts_, known, admin::Table::SCHEMA_VIEW);
  // A table that exists in spite of the error keeps its record. If there is none, and this fails,
  // the next table of the name sets its own.
  if (absl::IsNotFound(parts_.inventory.FindTable(name).status())) {
    old.Store(parts_.catalogue).IgnoreError();
  }
  return created;
}

absl::StatusOr<admin::ListTablesResponse> Tables::List(
    const admin::ListTablesRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const InstanceName instance, ParseInstanceName(request.parent()));
  SERVER_ASSIGN_OR_RETURN(const auto tables, parts_.inventory.ListTables(instance));
  const admin::Table::View view =
      request.view() == admin::Table::VIEW_UNSPECIFIED ? admin::Table::NAME_ONLY : request.view();
  std::vector<KnownTable> page;
  admin::ListTablesResponse response;
  SERVER_RETURN_IF_ERROR(AddPage(
      tables, request.page_size(), request.page_token(),
      [](const KnownTable& table) { return table.name.table; },
      [&](const KnownTable& table) { page.push_back(table); }, response.mutable_next_page_token()));
  SERVER_ASSIGN_OR_RETURN(std::vector<admin::Table> shown, ShowTables(parts_, page, view));
  for (admin::Table& table : shown) *response.add_tables() = std::move(table);
  return response;
}

absl::StatusOr<admin::Table> Tables::Get(const admin::GetTableRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const KnownTable known, parts_.inventory.FindTable(request.name()));
  return ShowTable(parts_, known,
                   request.view() == admin::Table::VIEW_UNSPECIFIED ? admin::Table::SCHEMA_VIEW
                                                                    : request.view());
}

absl::StatusOr<google::longrunning::Operation> Tables::Update(
    const admin::UpdateTableRequest& request, const CallOptions& options) const {
  admin::UpdateTableMetadata metadata;
  metadata.set_name(request.table().name());
  *metadata.mutable_start_time() = TimestampNow();
  SERVER_RETURN_IF_ERROR(CheckUpdateMask(request.update_mask()));
  admin::Table checked;
  SERVER_RETURN_IF_ERROR(UpdateChangeable(request, &checked));
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(const KnownTable known,
                          parts_.inventory.FindTable(request.table().name()));
  SERVER_ASSIGN_OR_RETURN(TableRecord record, TableRecord::Read(*parts_.catalogue, known.name));
  SERVER_ASSIGN_OR_RETURN(admin::Table table, ShowTable(parts_, known, admin::Table::SCHEMA_VIEW));
  SERVER_RETURN_IF_ERROR(UpdateChangeable(request, &table));
  SERVER_ASSIGN_OR_RETURN(const TableSchema schema, parts_.database->GetSchema(known.engine_name));
  SERVER_ASSIGN_OR_RETURN(const ChangeStreamRule rule, UpdatedRule(table, schema.changes));
  if (!(rule == schema.changes)) {
    SERVER_RETURN_IF_ERROR(parts_.database->SetChangeStream(known.engine_name, rule, options));
  }
  if (record.is_protected() != table.deletion_protection()) {
    record.SetProtected(table.deletion_protection());
    SERVER_RETURN_IF_ERROR(record.Store(parts_.catalogue));
  }
  SERVER_ASSIGN_OR_RETURN(table, ShowTable(parts_, known, admin::Table::SCHEMA_VIEW));
  *metadata.mutable_end_time() = TimestampNow();
  return parts_.operations->Add(table.name(), metadata, table);
}

absl::Status Tables::Delete(const admin::DeleteTableRequest& request,
                            const CallOptions& options) const {
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(const KnownTable known, parts_.inventory.FindTable(request.name()));
  SERVER_RETURN_IF_ERROR(parts_.inventory.CheckNotProtected(known.name, "it cannot be deleted"));
  SERVER_RETURN_IF_ERROR(parts_.database->DeleteTable(known.engine_name, options));
  return TableRecord::Remove(parts_.catalogue, known.name);
}

absl::Status Tables::DropRows(const admin::DropRowRangeRequest& request,
                              const CallOptions& options) const {
  RowRange rows = RowRange::All();
  switch (request.target_case()) {
    case admin::DropRowRangeRequest::kRowKeyPrefix:
      if (request.row_key_prefix().empty()) {
        return Invalid(
            "row_key_prefix must not be empty; delete_all_data_from_table drops all "
            "rows");
      }
      rows = RowRange::Prefix(request.row_key_prefix());
      break;
    case admin::DropRowRangeRequest::kDeleteAllDataFromTable:
      break;
    case admin::DropRowRangeRequest::TARGET_NOT_SET:
      return Invalid("DropRowRange must have a row_key_prefix or delete_all_data_from_table");
  }
  SERVER_ASSIGN_OR_RETURN(const KnownTable known, parts_.inventory.FindTable(request.name()));
  const bool is_nothing =
      request.has_delete_all_data_from_table() && !request.delete_all_data_from_table();
  if (is_nothing) return absl::OkStatus();
  SERVER_ASSIGN_OR_RETURN(Table* const table, parts_.database->OpenTable(known.engine_name));
  return table->DropRowRange(rows, options);
}

}  // namespace bigtable::server
