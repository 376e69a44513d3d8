#include "tools/session.h"

#include <utility>

#include "bigtable/file_system.h"

#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {

absl::StatusOr<Database*> Session::OpenToRead() { return Open({.read_only = true}); }

absl::StatusOr<Database*> Session::OpenToWrite() {
  // The engine would leave its lock file in a directory of something else.
  FileSystem* const files = FileSystem::Posix();
  if (!directory().empty() && !files->FileExists(directory() + "/LOCK") &&
      !files->FileExists(directory() + "/lockservice")) {
    return NoDatabase();
  }
  return Open({.create_if_missing = false});
}

absl::StatusOr<Database*> Session::OpenOrCreate() { return Open({}); }

absl::StatusOr<Database*> Session::Open(const DatabaseOptions& options) {
  if (directory().empty()) {
    return UsageError("no database is named: give --directory DIR, or set BIGTABLE_DIRECTORY");
  }
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(directory(), options);
  if (absl::IsNotFound(database.status()) && !(options.create_if_missing && !options.read_only)) {
    return NoDatabase();
  }
  if (!database.ok()) return database.status();
  database_ = *std::move(database);
  return database_.get();
}

absl::Status Session::NoDatabase() const {
  return absl::NotFoundError(Cat("there is no database in the directory ", Quoted(directory()),
                                 "; `bigtable createtable` creates one"));
}

absl::Status Session::WithNames(absl::Status status, std::string_view table) {
  if (!absl::IsNotFound(status)) return status;
  const absl::StatusOr<std::vector<std::string>> names = database_->ListTables();
  if (!names.ok()) return status;
  if (names->empty()) {
    return absl::NotFoundError(Cat("no table ", Quoted(table), ": the database has no tables"));
  }
  std::string hint = DidYouMean(table, *names);
  if (hint.empty()) hint = "; `bigtable ls` lists the tables";
  return absl::NotFoundError(Cat("no table ", Quoted(table), hint));
}

absl::StatusOr<Table*> Session::OpenTable(std::string_view name) {
  absl::StatusOr<Table*> table = database_->OpenTable(name);
  if (!table.ok()) return WithNames(table.status(), name);
  return table;
}

absl::StatusOr<TableSchema> Session::GetSchema(std::string_view table) {
  absl::StatusOr<TableSchema> schema = database_->GetSchema(table);
  if (!schema.ok()) return WithNames(schema.status(), table);
  return schema;
}

absl::Status Session::CheckFamily(std::string_view table, const TableSchema& schema,
                                  std::string_view family) {
  if (schema.families.contains(family)) return absl::OkStatus();
  std::vector<std::string> names;
  for (const auto& [name, unused] : schema.families) names.push_back(name);
  if (names.empty()) {
    return absl::NotFoundError(
        Cat("table ", Quoted(table), " has no families; `bigtable createfamily` adds one"));
  }
  std::string hint = DidYouMean(family, names);
  if (hint.empty()) hint = Cat("; it has ", Join(names, ", "));
  return absl::NotFoundError(Cat("table ", Quoted(table), " has no family ", Quoted(family), hint));
}

absl::Status Session::Close(absl::Status status) {
  if (database_ == nullptr) return status;
  const absl::Status closed = database_->Close();
  database_ = nullptr;
  return status.ok() ? closed : status;
}

}  // namespace bigtable::tools
