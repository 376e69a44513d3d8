#include "server/admin/clusters.h"

#include <algorithm>
#include <mutex>
#include <string>

#include "server/admin/backups.h"
#include "server/admin/change_times.h"
#include "server/admin/field_masks.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

constexpr int kMinCpuPercent = 10;
constexpr int kMaxCpuPercent = 80;

// projects/{project}/locations/{zone}
absl::Status CheckLocation(std::string_view project, std::string_view location) {
  const std::string prefix = Cat("projects/", project, "/locations/");
  const bool is_right = location.starts_with(prefix) && location.size() > prefix.size() &&
                        location.find('/', prefix.size()) == std::string_view::npos;
  if (is_right) return absl::OkStatus();
  return Invalid("the location of a cluster must be ", prefix, "{zone}, and is ", Quoted(location));
}

absl::Status CheckAutoscaling(const admin::Cluster::ClusterAutoscalingConfig& config) {
  const int least = config.autoscaling_limits().min_serve_nodes();
  const int most = config.autoscaling_limits().max_serve_nodes();
  if (least < 1 || most < least) {
    return Invalid(
        "autoscaling_limits must have a min_serve_nodes of at least 1, and at most "
        "max_serve_nodes, and have ",
        least, " and ", most);
  }
  const int percent = config.autoscaling_targets().cpu_utilization_percent();
  if (percent >= kMinCpuPercent && percent <= kMaxCpuPercent) return absl::OkStatus();
  return Invalid("cpu_utilization_percent must be from ", kMinCpuPercent, " to ", kMaxCpuPercent,
                 ", and is ", percent);
}

bool IsAutomatic(const admin::Cluster& cluster) {
  return cluster.cluster_config().has_cluster_autoscaling_config();
}

// The number of nodes follows from the limits of automatic scaling, if there is any.
absl::Status CheckScaling(admin::Cluster* cluster) {
  if (IsAutomatic(*cluster)) {
    const auto& config = cluster->cluster_config().cluster_autoscaling_config();
    SERVER_RETURN_IF_ERROR(CheckAutoscaling(config));
    cluster->set_serve_nodes(std::clamp(cluster->serve_nodes(),
                                        config.autoscaling_limits().min_serve_nodes(),
                                        config.autoscaling_limits().max_serve_nodes()));
    return absl::OkStatus();
  }
  const bool in_pairs = cluster->node_scaling_factor() == admin::Cluster::NODE_SCALING_FACTOR_2X;
  const int step = in_pairs ? 2 : 1;
  if (cluster->serve_nodes() >= step && cluster->serve_nodes() % step == 0) return absl::OkStatus();
  return Invalid("serve_nodes must be a positive multiple of ", step, ", and is ",
                 cluster->serve_nodes());
}

absl::Status BothScalingsError(int serve_nodes) {
  return Invalid(
      "a cluster must have either serve_nodes or cluster_autoscaling_config, and has "
      "both (serve_nodes ",
      serve_nodes, ")");
}

bool NamesField(const google::protobuf::FieldMask& mask, std::string_view field) {
  return std::any_of(mask.paths().begin(), mask.paths().end(),
                     [&](const std::string& path) { return IsOfField(path, field); });
}

// Automatic scaling is set, changed and ended by `cluster_config`; while a cluster has it, its
// serve_nodes are the server's to set, and ignored in updates. Fields that the mask does not name
// do not count.
absl::Status UpdateScaling(const admin::PartialUpdateClusterRequest& request,
                           admin::Cluster* cluster) {
  const bool names_nodes = NamesField(request.update_mask(), "serve_nodes");
  const bool names_config = NamesField(request.update_mask(), "cluster_config");
  const int nodes = request.cluster().serve_nodes();
  if (names_nodes && nodes != 0 && names_config && IsAutomatic(request.cluster())) {
    return BothScalingsError(nodes);
  }
  const bool was_automatic = IsAutomatic(*cluster);
  const int had_nodes = cluster->serve_nodes();
  SERVER_RETURN_IF_ERROR(UpdateFields(request.cluster(), request.update_mask(),
                                      {"serve_nodes", "cluster_config"}, cluster));
  if (IsAutomatic(*cluster)) {
    cluster->set_serve_nodes(had_nodes);
    return absl::OkStatus();
  }
  cluster->clear_cluster_config();  // it has nothing else
  if (!was_automatic || names_nodes) return absl::OkStatus();
  return Invalid(
      "an update that ends automatic scaling (cluster_config) must also set serve_nodes, and name "
      "it in the update_mask");
}

}  // namespace

absl::StatusOr<admin::Cluster> NewCluster(const ClusterName& name, const admin::Cluster& cluster) {
  SERVER_RETURN_IF_ERROR(CheckClusterId(name.cluster));
  SERVER_RETURN_IF_ERROR(CheckLocation(name.instance.project, cluster.location()));
  // Without a key, as cbt sends it, it means the encryption that there is without it.
  if (!cluster.encryption_config().kms_key_name().empty()) {
    return absl::UnimplementedError(
        "this server has no encryption with keys of the customer "
        "(encryption_config)");
  }
  const bool is_automatic = IsAutomatic(cluster);
  if (is_automatic && cluster.serve_nodes() != 0) return BothScalingsError(cluster.serve_nodes());
  admin::Cluster created = cluster;
  created.set_name(name.ToString());
  created.clear_encryption_config();
  created.set_state(admin::Cluster::READY);
  if (created.default_storage_type() == admin::STORAGE_TYPE_UNSPECIFIED) {
    created.set_default_storage_type(admin::SSD);
  }
  if (created.node_scaling_factor() == admin::Cluster::NODE_SCALING_FACTOR_UNSPECIFIED) {
    created.set_node_scaling_factor(admin::Cluster::NODE_SCALING_FACTOR_1X);
  }
  if (!is_automatic) {
    created.clear_cluster_config();  // it has nothing else
    if (created.serve_nodes() == 0) created.set_serve_nodes(1);
  }
  SERVER_RETURN_IF_ERROR(CheckScaling(&created));
  return created;
}

absl::StatusOr<google::longrunning::Operation> Clusters::Create(
    const admin::CreateClusterRequest& request) const {
  const auto request_time = TimestampNow();
  SERVER_ASSIGN_OR_RETURN(const InstanceName instance, ParseInstanceName(request.parent()));
  SERVER_ASSIGN_OR_RETURN(const admin::Cluster cluster,
                          NewCluster({instance, request.cluster_id()}, request.cluster()));
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known, parts_.inventory.FindInstance(instance));
  if (FindByName(known.clusters, cluster.name()) != nullptr) {
    return absl::AlreadyExistsError(Cat("Cluster already exists: ", cluster.name()));
  }
  Catalogue::Change change(*parts_.catalogue);
  PutIfImplicit(known, &change);
  change.Put(cluster);
  SERVER_RETURN_IF_ERROR(parts_.catalogue->Apply(change));
  admin::CreateClusterMetadata metadata;
  *metadata.mutable_original_request() = request;
  SetTimes(request_time, &metadata);
  return parts_.operations->Add(cluster.name(), metadata, cluster);
}

absl::StatusOr<admin::Cluster> Clusters::Get(const admin::GetClusterRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const ClusterName name, ParseClusterName(request.name()));
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known, parts_.inventory.FindInstance(name.instance));
  if (const auto* cluster = FindByName(known.clusters, request.name())) return *cluster;
  return NoSuchError("Cluster", request.name());
}

absl::StatusOr<admin::ListClustersResponse> Clusters::List(
    const admin::ListClustersRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const auto instances, parts_.inventory.InstancesOf(request.parent()));
  admin::ListClustersResponse response;
  for (const KnownInstance& known : instances) {
    for (const admin::Cluster& cluster : known.clusters) *response.add_clusters() = cluster;
  }
  return response;
}

absl::StatusOr<admin::Cluster> Clusters::Change(
    std::string_view name, absl::FunctionRef<absl::Status(admin::Cluster*)> change) const {
  SERVER_ASSIGN_OR_RETURN(const ClusterName parsed, ParseClusterName(name));
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known,
                          parts_.inventory.FindInstance(parsed.instance));
  const admin::Cluster* const found = FindByName(known.clusters, name);
  if (found == nullptr) return NoSuchError("Cluster", name);
  admin::Cluster cluster = *found;
  SERVER_RETURN_IF_ERROR(change(&cluster));
  SERVER_RETURN_IF_ERROR(CheckScaling(&cluster));
  Catalogue::Change changed(*parts_.catalogue);
  PutIfImplicit(known, &changed);
  changed.Put(cluster);
  SERVER_RETURN_IF_ERROR(parts_.catalogue->Apply(changed));
  return cluster;
}

absl::StatusOr<google::longrunning::Operation> Clusters::Update(
    const admin::Cluster& request) const {
  const auto request_time = TimestampNow();
  SERVER_ASSIGN_OR_RETURN(const admin::Cluster cluster,
                          Change(request.name(), [&](admin::Cluster* changed) {
                            // Those of automatic scaling are the server's to set.
                            if (!IsAutomatic(*changed)) {
                              changed->set_serve_nodes(request.serve_nodes());
                            }
                            return absl::OkStatus();
                          }));
  admin::UpdateClusterMetadata metadata;
  *metadata.mutable_original_request() = request;
  SetTimes(request_time, &metadata);
  return parts_.operations->Add(cluster.name(), metadata, cluster);
}

absl::StatusOr<google::longrunning::Operation> Clusters::UpdatePart(
    const admin::PartialUpdateClusterRequest& request) const {
  const auto request_time = TimestampNow();
  SERVER_ASSIGN_OR_RETURN(const admin::Cluster cluster,
                          Change(request.cluster().name(), [&](admin::Cluster* changed) {
                            return UpdateScaling(request, changed);
                          }));
  admin::PartialUpdateClusterMetadata metadata;
  *metadata.mutable_original_request() = request;
  SetTimes(request_time, &metadata);
  return parts_.operations->Add(cluster.name(), metadata, cluster);
}

absl::Status Clusters::Delete(const admin::DeleteClusterRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const ClusterName name, ParseClusterName(request.name()));
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known, parts_.inventory.FindInstance(name.instance));
  if (FindByName(known.clusters, request.name()) == nullptr) {
    return NoSuchError("Cluster", request.name());
  }
  if (known.clusters.size() == 1) {
    return absl::FailedPreconditionError(
        Cat("cluster ", request.name(), " is the last one of its instance, and cannot be deleted"));
  }
  for (const admin::AppProfile& profile : known.app_profiles) {
    const auto& any = profile.multi_cluster_routing_use_any().cluster_ids();
    const bool names_it = profile.single_cluster_routing().cluster_id() == name.cluster ||
                          std::find(any.begin(), any.end(), name.cluster) != any.end();
    if (!names_it) continue;
    return absl::FailedPreconditionError(Cat("cluster ", request.name(),
                                             " cannot be deleted, because app profile ",
                                             profile.name(), " routes to it"));
  }
  SERVER_RETURN_IF_ERROR(CheckHasNoBackups(parts_, request.name()));
  Catalogue::Change change(*parts_.catalogue);
  change.Erase(request.name());
  return parts_.catalogue->Apply(change);
}

}  // namespace bigtable::server
