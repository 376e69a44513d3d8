#include "server/admin/instances.h"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/admin/backups.h"
#include "server/admin/change_times.h"
#include "server/admin/clusters.h"
#include "server/admin/field_masks.h"
#include "server/admin/table_record.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

// The limits of Cloud Bigtable.
constexpr int kMaxLabels = 64;
constexpr size_t kMaxLabelSize = 127;

// Fills in what a new instance does not say, and what only the server says.
void Complete(const InstanceName& name, admin::Instance* instance) {
  instance->set_name(name.ToString());
  if (instance->display_name().empty()) instance->set_display_name(name.instance);
  instance->set_state(admin::Instance::READY);
  if (instance->type() == admin::Instance::TYPE_UNSPECIFIED) {
    instance->set_type(admin::Instance::PRODUCTION);
  }
  instance->clear_tags();  // input only
}

absl::Status CheckInstance(const admin::Instance& instance) {
  if (!admin::Instance::Type_IsValid(instance.type())) {
    return Invalid("the type of an instance must be PRODUCTION (1) or DEVELOPMENT (2), and is ",
                   static_cast<int>(instance.type()));
  }
  if (instance.labels_size() > kMaxLabels) {
    return Invalid("an instance must have at most ", kMaxLabels, " labels, and has ",
                   instance.labels_size());
  }
  for (const auto& [key, value] : instance.labels()) {
    if (!key.empty() && key.size() <= kMaxLabelSize && value.size() <= kMaxLabelSize) continue;
    return Invalid("the key of a label must be 1 to ", kMaxLabelSize,
                   " bytes, and the value at most as many, and they are ", Quoted(key), " and ",
                   Quoted(value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<google::longrunning::Operation> Instances::Create(
    const admin::CreateInstanceRequest& request) const {
  const auto request_time = TimestampNow();
  SERVER_ASSIGN_OR_RETURN(const std::string project, ParseProjectName(request.parent()));
  SERVER_RETURN_IF_ERROR(CheckInstanceId(request.instance_id()));
  const InstanceName name{project, request.instance_id()};
  SERVER_RETURN_IF_ERROR(CheckInstance(request.instance()));
  if (request.clusters().empty()) return Invalid("a new instance must have at least one cluster");
  std::vector<admin::Cluster> clusters;
  for (const auto& [id, cluster] : request.clusters()) {
    SERVER_ASSIGN_OR_RETURN(admin::Cluster completed, NewCluster({name, id}, cluster));
    clusters.push_back(std::move(completed));
  }
  admin::Instance instance = request.instance();
  Complete(name, &instance);
  *instance.mutable_create_time() = request_time;

  const std::lock_guard lock(parts_.catalogue->change_mutex());
  const absl::Status found = parts_.inventory.FindInstance(name).status();
  if (found.ok()) {
    return absl::AlreadyExistsError(Cat("Instance already exists: ", instance.name()));
  }
  if (!absl::IsNotFound(found)) return found;
  Catalogue::Change change(*parts_.catalogue);
  change.Put(instance);
  for (const admin::Cluster& cluster : clusters) change.Put(cluster);
  change.Put(DefaultAppProfile(name, clusters));
  SERVER_RETURN_IF_ERROR(parts_.catalogue->Apply(change));
  admin::CreateInstanceMetadata metadata;
  *metadata.mutable_original_request() = request;
  SetTimes(request_time, &metadata);
  return parts_.operations->Add(instance.name(), metadata, instance);
}

absl::StatusOr<admin::Instance> Instances::Get(const admin::GetInstanceRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const InstanceName name, ParseInstanceName(request.name()));
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known, parts_.inventory.FindInstance(name));
  return known.instance;
}

absl::StatusOr<admin::ListInstancesResponse> Instances::List(
    const admin::ListInstancesRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const std::string project, ParseProjectName(request.parent()));
  SERVER_ASSIGN_OR_RETURN(const auto instances, parts_.inventory.ListInstances(project));
  admin::ListInstancesResponse response;
  for (const KnownInstance& known : instances) *response.add_instances() = known.instance;
  return response;
}

absl::StatusOr<admin::Instance> Instances::Change(
    std::string_view name, absl::FunctionRef<absl::Status(admin::Instance*)> change) const {
  SERVER_ASSIGN_OR_RETURN(const InstanceName parsed, ParseInstanceName(name));
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(KnownInstance known, parts_.inventory.FindInstance(parsed));
  SERVER_RETURN_IF_ERROR(change(&known.instance));
  SERVER_RETURN_IF_ERROR(CheckInstance(known.instance));
  Complete(parsed, &known.instance);
  Catalogue::Change changed(*parts_.catalogue);
  PutIfImplicit(known, &changed);
  changed.Put(known.instance);
  SERVER_RETURN_IF_ERROR(parts_.catalogue->Apply(changed));
  return known.instance;
}

absl::StatusOr<admin::Instance> Instances::Update(const admin::Instance& request) const {
  return Change(request.name(), [&](admin::Instance* instance) {
    instance->set_display_name(request.display_name());
    if (request.type() != admin::Instance::TYPE_UNSPECIFIED) instance->set_type(request.type());
    return absl::OkStatus();
  });
}

absl::StatusOr<google::longrunning::Operation> Instances::UpdatePart(
    const admin::PartialUpdateInstanceRequest& request) const {
  const auto request_time = TimestampNow();
  SERVER_ASSIGN_OR_RETURN(const admin::Instance updated,
                          Change(request.instance().name(), [&](admin::Instance* instance) {
                            return UpdateFields(request.instance(), request.update_mask(),
                                                {"display_name", "type", "labels"}, instance);
                          }));
  admin::UpdateInstanceMetadata metadata;
  *metadata.mutable_original_request() = request;
  SetTimes(request_time, &metadata);
  return parts_.operations->Add(updated.name(), metadata, updated);
}

absl::Status Instances::Delete(const admin::DeleteInstanceRequest& request,
                               const CallOptions& options) const {
  SERVER_ASSIGN_OR_RETURN(const InstanceName name, ParseInstanceName(request.name()));
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known, parts_.inventory.FindInstance(name));
  SERVER_RETURN_IF_ERROR(CheckHasNoBackups(parts_, name.ToString()));
  SERVER_ASSIGN_OR_RETURN(const auto tables, parts_.inventory.ListTables(name));
  for (const KnownTable& table : tables) {
    SERVER_RETURN_IF_ERROR(parts_.inventory.CheckNotProtected(
        table.name, Cat("its instance ", name.ToString(), " cannot be deleted")));
  }
  for (const KnownTable& table : tables) {
    const absl::Status deleted = parts_.database->DeleteTable(table.engine_name, options);
    if (!deleted.ok() && !absl::IsNotFound(deleted)) return deleted;
    SERVER_RETURN_IF_ERROR(TableRecord::Remove(parts_.catalogue, table.name));
  }
  if (known.is_implicit) return absl::OkStatus();
  Catalogue::Change change(*parts_.catalogue);
  change.Erase(known.instance.name());
  for (const admin::Cluster& cluster : known.clusters) change.Erase(cluster.name());
  for (const admin::AppProfile& profile : known.app_profiles) change.Erase(profile.name());
  return parts_.catalogue->Apply(change);
}

}  // namespace bigtable::server
