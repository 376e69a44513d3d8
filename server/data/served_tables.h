// The tables that the server has opened, by their full names.
//
// Thread-safe. Cost of a call for a table that was used before: a shared lock and a lookup.
#ifndef BIGTABLE_SERVER_DATA_SERVED_TABLES_H_
#define BIGTABLE_SERVER_DATA_SERVED_TABLES_H_

#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/database.h"
#include "bigtable/table.h"

#include "server/text/resource_name.h"

namespace bigtable::server {

class ServedTables {
 public:
  // The database outlives this.
  ServedTables(Database* database, InstanceName default_instance)
      : database_(database), default_instance_(std::move(default_instance)) {}
  ServedTables(const ServedTables&) = delete;
  ServedTables& operator=(const ServedTables&) = delete;

  Database* database() const { return database_; }

  // The table projects/P/instances/I/tables/T in the name of the caller. INVALID_ARGUMENT: not such
  // a name. NOT_FOUND, with this name in the message.
  absl::StatusOr<Table*> Open(std::string_view name, const std::optional<std::string>& caller);

  // The same, although it was opened before: another table if that was deleted and created again.
  absl::StatusOr<Table*> OpenAgain(std::string_view name, const std::optional<std::string>& caller);
  // Calls `use` with the table and returns what it returns, an absl::Status. If that is NotFound
  // because the table was deleted and created again, calls it once more with the new one.
  template <typename Use>
  absl::Status With(std::string_view name, const std::optional<std::string>& caller,
                    const Use& use) {
    const absl::StatusOr<Table*> table = Open(name, caller);
    if (!table.ok()) return table.status();
    absl::Status status = use(*table);
    if (!absl::IsNotFound(status)) [[likely]]
      return status;
    const absl::StatusOr<Table*> again = OpenAgain(name, caller);
    if (!again.ok()) return again.status();
    if (*again == *table) return status;
    return use(*again);
  }

 private:
  // A caller, if any, is behind a byte that is in no name.
  using Key = std::string;
  static Key KeyOf(std::string_view name, const std::string& caller);

  Database* const database_;
  const InstanceName default_instance_;
  std::shared_mutex mutex_;
  absl::flat_hash_map<Key, Table*> tables_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_SERVED_TABLES_H_
