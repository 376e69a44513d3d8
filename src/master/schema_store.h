// The schemas of all tables. Each is a small file of the lock service, "schema/NAME", with the
// encoding of its TableLayout (tablet/table_layout.h). Writing the file makes the creation of a
// table, or a change of its schema, take effect. Removing it deletes the table.
#ifndef BIGTABLE_MASTER_SCHEMA_STORE_H_
#define BIGTABLE_MASTER_SCHEMA_STORE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "lockservice/lock_service.h"
#include "tablet/table_layout.h"

namespace bigtable {

// Thread-safe. Nothing is written once the session is lost.
class SchemaStore {
 public:
  // `session` outlives this.
  explicit SchemaStore(LockSession* session) : session_(session) {}

  // The names of all tables, sorted.
  absl::StatusOr<std::vector<std::string>> Tables() const;
  // NotFound, with the names of the existing tables; DataLoss.
  absl::StatusOr<TableLayout> Read(std::string_view table) const;
  // Whether a table with this name and this id exists.
  absl::StatusOr<bool> Has(std::string_view table, uint64_t table_id) const;
  absl::StatusOr<std::vector<TableLayout>> ReadAll() const;
  // FailedPrecondition names table, locality group and policy if a table needs a compaction policy
  // that is not registered. Schemas that cannot be read are left to those who need them.
  absl::Status CheckPolicies() const;
  absl::Status Write(const TableLayout& layout);
  absl::Status Remove(std::string_view table);

 private:
  absl::StatusOr<TableLayout> ReadFile(const std::string& table) const;

  LockSession* const session_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_SCHEMA_STORE_H_
