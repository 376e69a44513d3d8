// The schemas of all tables. Each is a small file of the lock service, "schema/NAME", with the
// encoding of its TableLayout (schema/table_layout.h). Writing the file makes the creation of a
// table, or a change of its schema, take effect. Removing it deletes the table.
#ifndef BIGTABLE_MASTER_SCHEMA_STORE_H_
#define BIGTABLE_MASTER_SCHEMA_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "lockservice/lock_service.h"
#include "schema/table_layout.h"

namespace bigtable {

// The error for the name of a table that does not exist. It names other tables, which helps who has
// mistyped the name, but not thousands of them. Any thread.
//
// `tables`: all tables that exist, in the order of their names; `name_of` is as in Listed().
template <typename Tables, typename NameOf = std::identity>
absl::Status NoTableError(std::string_view table, const Tables& tables, NameOf name_of = {}) {
  constexpr size_t kMostNamed = 20;
  std::vector<std::string> named;
  for (const auto& other : tables) {
    if (named.size() == kMostNamed) break;
    named.emplace_back(std::invoke(name_of, other));
  }
  std::string others = Listed(named);
  if (named.size() < tables.size()) {
    others = Cat(tables.size(), " tables, the first of which are ", others);
  }
  return absl::NotFoundError(Cat("there is no table ", Quoted(table), "; there are: ", others));
}

// Thread-safe. Nothing is written once the session is lost.
class SchemaStore {
 public:
  static constexpr std::string_view kDirectory = "schema";
  // The file of a table; and the table of a file, nullopt if it is another kind of file.
  static std::string FileOf(std::string_view table);
  static std::optional<std::string_view> TableOf(std::string_view file);

  // `session` outlives this, and nobody else takes its events.
  explicit SchemaStore(LockSession* session) : session_(session) {}

  // The limits end a wait for writes of the lock service.

  // The names of all tables, sorted.
  absl::StatusOr<std::vector<std::string>> Tables(const CallLimits& limits = {}) const;
  // NotFound, with names of existing tables; DataLoss. The cost does not depend on the number of
  // tables: the file comes from the session's cache, which is never stale, and is decoded once.
  absl::StatusOr<std::shared_ptr<const TableLayout>> Read(std::string_view table,
                                                          const CallLimits& limits = {}) const;
  // The same; null if there is no such table.
  absl::StatusOr<std::shared_ptr<const TableLayout>> Find(std::string_view table,
                                                          const CallLimits& limits = {}) const;
  // Whether a table with this name and this id exists.
  absl::StatusOr<bool> Has(std::string_view table, uint64_t table_id,
                           const CallLimits& limits = {}) const;
  absl::StatusOr<std::vector<TableLayout>> ReadAll() const;
  // FailedPrecondition names table, locality group and policy if a table needs a compaction policy
  // that is not registered. Schemas that cannot be read are left to those who need them.
  absl::Status CheckPolicies() const;
  absl::Status Write(const TableLayout& layout, const CallLimits& limits = {});
  absl::Status Remove(std::string_view table);

 private:
  struct Known {
    Generation generation = kNoFile;
    std::shared_ptr<const TableLayout> layout;
  };

  absl::StatusOr<std::shared_ptr<const TableLayout>> ReadFile(std::string_view table,
                                                              const CallLimits& limits) const;
  absl::Status NoTable(std::string_view table, const CallLimits& limits) const;
  // The names of all tables, listed again only if a table was created or deleted meanwhile.
  absl::StatusOr<std::shared_ptr<const std::vector<std::string>>> KnownNames(
      const CallLimits& limits) const;

  LockSession* const session_;
  mutable Mutex mutex_;
  // Decoded schemas, by the names of tables.
  mutable absl::flat_hash_map<std::string, Known> known_ ABSL_GUARDED_BY(mutex_);
  mutable LimitedMutex names_mutex_;  // held while they are listed
  mutable bool watches_ ABSL_GUARDED_BY(names_mutex_) = false;
  mutable std::shared_ptr<const std::vector<std::string>> names_ ABSL_GUARDED_BY(names_mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_SCHEMA_STORE_H_
