// What there is: the instances of the catalogue with their clusters and app profiles, and those
// that exist because the engine has tables of them.
#ifndef BIGTABLE_SERVER_ADMIN_INVENTORY_H_
#define BIGTABLE_SERVER_ADMIN_INVENTORY_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/instance.pb.h"

#include "bigtable/database.h"

#include "server/admin/catalogue.h"
#include "server/text/resource_name.h"

namespace bigtable::server {

namespace admin = google::bigtable::admin::v2;

// A table, as requests name it and as the engine does.
struct KnownTable {
  TableName name;
  std::string engine_name;
};

// An instance and what belongs to it, in the order of the names. Plain value.
struct KnownInstance {
  admin::Instance instance;
  std::vector<admin::Cluster> clusters;
  std::vector<admin::AppProfile> app_profiles;
  // Nobody has created it: it exists because it has tables, and the catalogue has nothing of it. It
  // has one cluster, "<instance>-c1" in the zone "local", and the app profile "default".
  bool is_implicit = false;
};

// Thread-safe. Reads what it returns anew each time.
class Inventory {
 public:
  // Both outlive this.
  Inventory(Database* database, Catalogue* catalogue, InstanceName default_instance)
      : database_(database),
        catalogue_(catalogue),
        default_instance_(std::move(default_instance)) {}

  // NOT_FOUND: nobody has created the instance, and it has no tables.
  absl::StatusOr<KnownInstance> FindInstance(const InstanceName& name) const;
  // In the order of their names.
  absl::StatusOr<std::vector<KnownInstance>> ListInstances(std::string_view project) const;

  // The instance with this name, or all of the project if its id is "-".
  absl::StatusOr<std::vector<KnownInstance>> InstancesOf(std::string_view name) const;

  // INVALID_ARGUMENT: the name does not fit. NOT_FOUND: the engine has no such table.
  absl::StatusOr<KnownTable> FindTable(std::string_view name) const;
  // In the order of their ids; none if there is no such instance.
  absl::StatusOr<std::vector<KnownTable>> ListTables(const InstanceName& instance) const;
  absl::StatusOr<bool> IsProtected(const TableName& table) const;
  // FAILED_PRECONDITION: the table is protected, so `what` cannot be done.
  absl::Status CheckNotProtected(const TableName& table, std::string_view what) const;

  const InstanceName& default_instance() const { return default_instance_; }

 private:
  absl::StatusOr<std::vector<KnownTable>> AllTables() const;

  Database* const database_;
  Catalogue* const catalogue_;
  const InstanceName default_instance_;
};

// Puts all of an implicit instance into the catalogue, so that a part of it can be changed.
void PutIfImplicit(const KnownInstance& known, Catalogue::Change* change);

// The app profile "default" of an instance with these clusters, which every new instance has.
admin::AppProfile DefaultAppProfile(const InstanceName& instance,
                                    const std::vector<admin::Cluster>& clusters);

// Null: there is none with this name.
template <typename Resource>
const Resource* FindByName(const std::vector<Resource>& resources, std::string_view name) {
  for (const Resource& resource : resources) {
    if (resource.name() == name) return &resource;
  }
  return nullptr;
}

// The error of a name that nothing has; `what` is "Table" or the like.
absl::Status NoSuchError(std::string_view what, std::string_view name);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_INVENTORY_H_
