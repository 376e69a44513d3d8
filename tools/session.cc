#include "tools/session.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/file_system.h"

#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {
namespace {

// The file without which there is no database.
constexpr char kRoot[] = "/lockservice/root";

absl::Status NoneNamed() {
  return UsageError(Cat("no database is named: give --directory DIR or --server HOST:PORT, or set ",
                        kDirectoryVariable, " or ", kServerVariable));
}

}  // namespace

Timestamp Session::Now() const {
  const absl::Time now = absl::Now();
  return Timestamp(options_.location.is_server() ? absl::ToUnixMillis(now) * 1000
                                                 : absl::ToUnixMicros(now));
}

absl::StatusOr<Database*> Session::OpenToRead() {
  absl::StatusOr<Database*> opened = Open({.read_only = true});
  if (!absl::IsFailedPrecondition(opened.status()) || options_.location.is_server()) return opened;
  // A program has it open for writing: as it is now.
  return OpenToFollow();
}

absl::StatusOr<Database*> Session::OpenToFollow() {
  return Open({.follow = true, .follow_interval = absl::InfiniteDuration()});
}

absl::StatusOr<Database*> Session::OpenToWrite() { return Open({.create_if_missing = false}); }

absl::StatusOr<Database*> Session::OpenOrCreate() { return Open({}); }

absl::StatusOr<Database*> Session::Open(const DatabaseOptions& options) {
  absl::StatusOr<std::unique_ptr<Database>> database =
      options_.location.is_server() ? ConnectTo(options_.location, quiet() ? nullptr : err_)
                                    : OpenDirectory(options);
  if (!database.ok()) return database.status();
  database_ = *std::move(database);
  return database_.get();
}

absl::StatusOr<std::unique_ptr<Database>> Session::OpenDirectory(
    const DatabaseOptions& options) const {
  if (directory().empty()) return NoneNamed();
  const bool may_create = options.create_if_missing && !options.read_only;
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(directory(), options);
  if (absl::IsNotFound(database.status()) && !may_create) return NoDatabase();
  return database;
}

absl::Status Session::CheckDirectory() const {
  if (directory().empty()) return NoneNamed();
  FileSystem* const files = FileSystem::Posix();
  return files->FileExists(directory() + kRoot) ? absl::OkStatus() : NoDatabase();
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
  if (hint.empty()) hint = Cat("; it has ", Listed(names));
  return absl::NotFoundError(Cat("table ", Quoted(table), " has no family ", Quoted(family), hint));
}

absl::Status Session::Close(absl::Status status) {
  if (database_ == nullptr) return status;
  const absl::Status closed = database_->Close();
  database_ = nullptr;
  if (status.ok()) return closed;
  if (!options_.location.is_server()) return status;
  const std::string message = MessageOf(status);
  const auto says = [&](std::string_view text) { return message.find(text) != message.npos; };
  const bool is_of_connection = absl::IsUnavailable(status) || absl::IsUnauthenticated(status) ||
                                says("failed to connect") || says("RemoteOptions::");
  if (!is_of_connection) return status;
  // Nothing was done there, so which server it was is what matters.
  return absl::Status(status.code(), Cat("server ", options_.location.ServerName(), ": ",
                                         WithNamesOfOptions(message)));
}

}  // namespace bigtable::tools
