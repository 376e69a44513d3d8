#include "server/admin/inventory.h"

#include <algorithm>
#include <map>

#include "google/bigtable/admin/v2/table.pb.h"

#include "server/admin/app_profile_etag.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

KnownInstance ImplicitInstance(const InstanceName& name) {
  KnownInstance known;
  known.is_implicit = true;
  known.instance.set_name(name.ToString());
  known.instance.set_display_name(name.instance);
  known.instance.set_state(admin::Instance::READY);
  known.instance.set_type(admin::Instance::PRODUCTION);
  admin::Cluster& cluster = known.clusters.emplace_back();
  cluster.set_name(ClusterName{name, Cat(name.instance, "-c1")}.ToString());
  cluster.set_location(Cat("projects/", name.project, "/locations/local"));
  cluster.set_state(admin::Cluster::READY);
  cluster.set_serve_nodes(1);
  cluster.set_default_storage_type(admin::SSD);
  known.app_profiles.push_back(DefaultAppProfile(name, known.clusters));
  return known;
}

}  // namespace

absl::StatusOr<KnownInstance> Inventory::FindInstance(const InstanceName& name) const {
  const std::string text = name.ToString();
  SERVER_ASSIGN_OR_RETURN(auto instance, catalogue_->Find<admin::Instance>(text));
  if (!instance.has_value()) {
    SERVER_ASSIGN_OR_RETURN(const std::vector<KnownTable> tables, ListTables(name));
    if (tables.empty()) return NoSuchError("Instance", text);
    return ImplicitInstance(name);
  }
  KnownInstance known;
  known.instance = *std::move(instance);
  SERVER_ASSIGN_OR_RETURN(known.clusters, catalogue_->List<admin::Cluster>(text, "clusters"));
  SERVER_ASSIGN_OR_RETURN(known.app_profiles,
                          catalogue_->List<admin::AppProfile>(text, "appProfiles"));
  return known;
}

absl::StatusOr<std::vector<KnownInstance>> Inventory::ListInstances(
    std::string_view project) const {
  std::map<std::string, KnownInstance> found;
  SERVER_ASSIGN_OR_RETURN(const std::vector<KnownTable> tables, AllTables());
  for (const KnownTable& table : tables) {
    const InstanceName& instance = table.name.instance;
    if (instance.project == project) found[instance.ToString()] = ImplicitInstance(instance);
  }
  SERVER_ASSIGN_OR_RETURN(const auto created, catalogue_->List<admin::Instance>(
                                                  Cat("projects/", project), "instances"));
  for (const admin::Instance& instance : created) {
    SERVER_ASSIGN_OR_RETURN(const InstanceName name, ParseInstanceName(instance.name()));
    absl::StatusOr<KnownInstance> known = FindInstance(name);
    if (absl::IsNotFound(known.status())) continue;  // it was deleted just now
    SERVER_RETURN_IF_ERROR(known.status());
    found[instance.name()] = *std::move(known);
  }
  std::vector<KnownInstance> listed;
  for (auto& [name, known] : found) listed.push_back(std::move(known));
  return listed;
}

absl::StatusOr<std::vector<KnownInstance>> Inventory::InstancesOf(std::string_view name) const {
  SERVER_ASSIGN_OR_RETURN(const InstanceName parsed, ParseInstanceName(name));
  if (parsed.instance == "-") return ListInstances(parsed.project);
  SERVER_ASSIGN_OR_RETURN(KnownInstance known, FindInstance(parsed));
  std::vector<KnownInstance> listed;
  listed.push_back(std::move(known));
  return listed;
}

absl::StatusOr<KnownTable> Inventory::FindTable(std::string_view name) const {
  KnownTable table;
  SERVER_ASSIGN_OR_RETURN(table.name, ParseTableName(name));
  SERVER_ASSIGN_OR_RETURN(table.engine_name, EngineTableName(table.name, default_instance_));
  SERVER_ASSIGN_OR_RETURN(const std::vector<std::string> names, database_->ListTables());
  if (std::binary_search(names.begin(), names.end(), table.engine_name)) return table;
  return NoSuchError("Table", name);
}

absl::StatusOr<std::vector<KnownTable>> Inventory::AllTables() const {
  SERVER_ASSIGN_OR_RETURN(const std::vector<std::string> names, database_->ListTables());
  std::vector<KnownTable> tables;
  for (const std::string& name : names) {
    std::optional<TableName> table = TableOfEngine(name, default_instance_);
    if (table.has_value()) tables.push_back({*std::move(table), name});
  }
  return tables;
}

absl::StatusOr<std::vector<KnownTable>> Inventory::ListTables(const InstanceName& instance) const {
  SERVER_ASSIGN_OR_RETURN(std::vector<KnownTable> tables, AllTables());
  std::erase_if(tables, [&](const KnownTable& table) { return table.name.instance != instance; });
  return tables;  // sorted: their names in the engine have the same beginning, if any
}

absl::StatusOr<bool> Inventory::IsProtected(const TableName& table) const {
  SERVER_ASSIGN_OR_RETURN(const auto found, catalogue_->Find<admin::Table>(table.ToString()));
  return found.has_value() && found->deletion_protection();
}

absl::Status Inventory::CheckNotProtected(const TableName& table, std::string_view what) const {
  SERVER_ASSIGN_OR_RETURN(const bool is_protected, IsProtected(table));
  if (!is_protected) return absl::OkStatus();
  return absl::FailedPreconditionError(Cat("table ", table.ToString(),
                                           " is protected from deletion (deletion_protection), so ",
                                           what, "; UpdateTable can end the protection"));
}

void PutIfImplicit(const KnownInstance& known, Catalogue::Change* change) {
  if (!known.is_implicit) return;
  change->Put(known.instance);
  for (const admin::Cluster& cluster : known.clusters) change->Put(cluster);
  for (const admin::AppProfile& profile : known.app_profiles) change->Put(profile);
}

admin::AppProfile DefaultAppProfile(const InstanceName& instance,
                                    const std::vector<admin::Cluster>& clusters) {
  admin::AppProfile profile;
  profile.set_name(AppProfileName{instance, "default"}.ToString());
  if (clusters.size() == 1) {
    const std::string& cluster = clusters[0].name();
    auto* const routing = profile.mutable_single_cluster_routing();
    routing->set_cluster_id(cluster.substr(cluster.rfind('/') + 1));
    routing->set_allow_transactional_writes(true);
  } else {
    profile.mutable_multi_cluster_routing_use_any();
  }
  profile.mutable_standard_isolation()->set_priority(admin::AppProfile::PRIORITY_HIGH);
  SetEtag(&profile);
  return profile;
}

absl::Status NoSuchError(std::string_view what, std::string_view name) {
  return absl::NotFoundError(Cat(what, " not found: ", name));
}

}  // namespace bigtable::server
