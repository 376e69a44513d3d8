#include "server/data/served_tables.h"

#include <mutex>

#include "absl/strings/string_view.h"

#include "server/text/errors.h"

namespace bigtable::server {
namespace {

// Requests may be for any number of tables, which were opened and deleted.
constexpr size_t kMostTables = 10'000;

}  // namespace

ServedTables::Key ServedTables::KeyOf(std::string_view name, const std::string& caller) {
  Key key;
  key.reserve(name.size() + 1 + caller.size());
  key.append(name).push_back('\0');
  return key.append(caller);
}

absl::StatusOr<Table*> ServedTables::Open(std::string_view name,
                                          const std::optional<std::string>& caller) {
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const auto found = caller.has_value()
                           ? tables_.find(KeyOf(name, *caller))
                           : tables_.find(absl::string_view(name.data(), name.size()));
    if (found != tables_.end()) return found->second;
  }
  return OpenAgain(name, caller);
}

absl::StatusOr<Table*> ServedTables::OpenAgain(std::string_view name,
                                               const std::optional<std::string>& caller) {
  SERVER_ASSIGN_OR_RETURN(const TableName table, ParseTableName(name));
  SERVER_ASSIGN_OR_RETURN(const std::string engine_name, EngineTableName(table, default_instance_));
  absl::StatusOr<Table*> opened = database_->OpenTable(engine_name, {.caller = caller});
  if (absl::IsNotFound(opened.status())) {
    opened = absl::NotFoundError(Cat("Table not found: ", name));
  }
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  const Key key = caller.has_value() ? KeyOf(name, *caller) : Key(name);
  if (!opened.ok()) {
    tables_.erase(key);
    return opened;
  }
  if (tables_.size() >= kMostTables) tables_.clear();
  tables_[key] = *opened;
  return opened;
}

}  // namespace bigtable::server
