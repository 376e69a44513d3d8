// What the server keeps durably and the engine does not know: instances, clusters, app profiles,
// which tables are protected from deletion, and the form of garbage collection rules.
//
// It is the engine's table kCatalogueTable, which has one family, "resource". Version 1 of its
// format:
//
//   row                                     the value of "resource:", serialized
//   projects/P/instances/I                  Instance
//   projects/P/instances/I/clusters/C       Cluster
//   projects/P/instances/I/appProfiles/A    AppProfile
//   projects/P/instances/I/tables/T         Table, with its name, its deletion_protection, and the
//                                           gc_rule of those of its column_families of which the
//                                           engine has another form (table_record.h)
//
// The messages are those of google.bigtable.admin.v2. Each message has its name, which is the row.
// Tables that have neither, and instances that only exist because they have tables, have no row
// (inventory.h).
//
// Example: projects/p/instances/i/tables/t of a protected table has
//
//   0a 1f "projects/p/instances/i/tables/t" 48 01
#ifndef BIGTABLE_SERVER_ADMIN_CATALOGUE_H_
#define BIGTABLE_SERVER_ADMIN_CATALOGUE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"

#include "bigtable/database.h"
#include "bigtable/table.h"
#include "bigtable/write_batch.h"

#include "server/text/errors.h"

namespace bigtable::server {

// Thread-safe.
class Catalogue {
 public:
  // Changes of rows that are made together or not at all.
  class Change {
   public:
    explicit Change(const Catalogue& catalogue) : table_(catalogue.table_) {}

    // Creates or replaces the resource, which has its name.
    template <typename Resource>
    void Put(const Resource& resource) {
      PutBytes(resource.name(), resource.SerializeAsString());
    }
    void Erase(std::string_view name);

   private:
    friend class Catalogue;
    void PutBytes(std::string_view name, const std::string& bytes);

    Table* table_;
    WriteBatch batch_;
  };

  // Opens the catalogue of the database, which outlives it, after creating it if there is none.
  static absl::StatusOr<std::unique_ptr<Catalogue>> Open(Database* database);
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  // Null: there is no such row. DATA_LOSS: it does not have a Resource.
  template <typename Resource>
  absl::StatusOr<std::optional<Resource>> Find(const std::string& name) const {
    SERVER_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, FindBytes(name));
    std::optional<Resource> resource;
    if (bytes.has_value()) SERVER_RETURN_IF_ERROR(Parse(name, *bytes, &resource.emplace()));
    return resource;
  }

  // The resources whose names are `parent`, a slash, `collection`, a slash and an id, in the order
  // of their names.
  template <typename Resource>
  absl::StatusOr<std::vector<Resource>> List(std::string_view parent,
                                             std::string_view collection) const {
    SERVER_ASSIGN_OR_RETURN(const auto rows, ListBytes(Cat(parent, "/", collection, "/")));
    std::vector<Resource> resources(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      SERVER_RETURN_IF_ERROR(Parse(rows[i].first, rows[i].second, &resources[i]));
    }
    return resources;
  }

  // Makes the change durable.
  absl::Status Apply(const Change& change);
  // How many changes were made, or tried, since it was opened: what was read before the last one
  // may be outdated.
  uint64_t changes() const { return changes_.load(); }

  // Held by a call from its first check until it has made its change, here and in the engine, so
  // that changes of resources are made one at a time.
  std::mutex& change_mutex() { return change_mutex_; }

 private:
  using NamedBytes = std::pair<std::string, std::string>;

  Catalogue(Database* database, Table* table) : database_(database), table_(table) {}
  absl::StatusOr<std::optional<std::string>> FindBytes(const std::string& name) const;
  // Of the rows that begin with `prefix` and have no slash after it.
  absl::StatusOr<std::vector<NamedBytes>> ListBytes(const std::string& prefix) const;
  static absl::Status Parse(const std::string& name, const std::string& bytes,
                            google::protobuf::MessageLite* resource);

  Database* const database_;
  Table* const table_;
  std::atomic<uint64_t> changes_{0};
  std::mutex change_mutex_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_CATALOGUE_H_
