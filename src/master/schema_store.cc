#include "master/schema_store.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "tablet/schema_checks.h"

namespace bigtable {
namespace {

constexpr std::string_view kDirectory = "schema";

std::string FileOf(std::string_view table) { return Cat(kDirectory, "/", table); }

}  // namespace

absl::StatusOr<TableLayout> SchemaStore::ReadFile(const std::string& table) const {
  BT_ASSIGN_OR_RETURN(const LockServiceFile file, session_->Read(FileOf(table)));
  absl::StatusOr<TableLayout> layout = TableLayout::Decode(file.contents);
  if (!layout.ok()) {
    return absl::Status(layout.status().code(), Cat("the schema of table ", Quoted(table), ": ",
                                                    ToStd(layout.status().message())));
  }
  if (layout->name != table) {
    return absl::DataLossError(
        Cat("the schema of table ", Quoted(table), " is that of ", Quoted(layout->name)));
  }
  return layout;
}

absl::StatusOr<std::vector<std::string>> SchemaStore::Tables() const {
  return session_->List(kDirectory);
}

absl::StatusOr<TableLayout> SchemaStore::Read(std::string_view table) const {
  // Checked against the list first, because an invalid table name would be an invalid file name
  // too.
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> tables, Tables());
  if (std::binary_search(tables.begin(), tables.end(), table)) {
    absl::StatusOr<TableLayout> layout = ReadFile(std::string(table));
    if (!absl::IsNotFound(layout.status())) return layout;  // or it was deleted meanwhile
  }
  return absl::NotFoundError(
      Cat("there is no table ", Quoted(table), "; there are: ", Listed(tables)));
}

absl::StatusOr<bool> SchemaStore::Has(std::string_view table, uint64_t table_id) const {
  const absl::StatusOr<TableLayout> layout = ReadFile(std::string(table));
  if (absl::IsNotFound(layout.status())) return false;
  BT_RETURN_IF_ERROR(layout.status());
  return layout->table_id == table_id;
}

absl::StatusOr<std::vector<TableLayout>> SchemaStore::ReadAll() const {
  std::vector<TableLayout> layouts;
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> tables, Tables());
  for (const std::string& table : tables) {
    BT_ASSIGN_OR_RETURN(TableLayout layout, ReadFile(table));
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

absl::Status SchemaStore::CheckPolicies() const {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> tables, Tables());
  for (const std::string& table : tables) {
    const absl::StatusOr<TableLayout> layout = ReadFile(table);
    if (!layout.ok()) continue;
    for (const GroupLayout& group : layout->groups) {
      const absl::Status known = CheckPolicyIsKnown(group.name, group.options);
      if (known.ok()) continue;
      return absl::FailedPreconditionError(
          Cat("table ", Quoted(table), ", ", ToStd(known.message()),
              "; register it before the database is opened, or open the database read-only"));
    }
  }
  return absl::OkStatus();
}

absl::Status SchemaStore::Write(const TableLayout& layout) {
  return session_->Write(FileOf(layout.name), layout.Encode()).status();
}

absl::Status SchemaStore::Remove(std::string_view table) { return session_->Remove(FileOf(table)); }

}  // namespace bigtable
