#include "server/admin/app_profiles.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "server/admin/app_profile_etag.h"
#include "server/admin/field_masks.h"
#include "server/admin/pages.h"
#include "server/text/errors.h"
#include "server/text/resource_name.h"

namespace bigtable::server {
namespace {

absl::Status CheckRouting(const KnownInstance& known, const admin::AppProfile& profile) {
  std::vector<std::string> ids;
  switch (profile.routing_policy_case()) {
    case admin::AppProfile::kSingleClusterRouting:
      ids.push_back(profile.single_cluster_routing().cluster_id());
      break;
    case admin::AppProfile::kMultiClusterRoutingUseAny: {
      const auto& any = profile.multi_cluster_routing_use_any().cluster_ids();
      ids.assign(any.begin(), any.end());
      break;
    }
    case admin::AppProfile::ROUTING_POLICY_NOT_SET:
      return Invalid(
          "an app profile must have a routing policy: single_cluster_routing or "
          "multi_cluster_routing_use_any");
  }
  for (const std::string& id : ids) {
    const std::string name = Cat(known.instance.name(), "/clusters/", id);
    if (FindByName(known.clusters, name) != nullptr) continue;
    return Invalid("an app profile must route to clusters of its instance, and ", name,
                   " does not exist");
  }
  return absl::OkStatus();
}

// Fills in what the profile does not say, and what only the server says.
void Complete(admin::AppProfile* profile) {
  if (profile->isolation_case() == admin::AppProfile::ISOLATION_NOT_SET) {
    profile->mutable_standard_isolation();
  }
  if (profile->has_standard_isolation() &&
      profile->standard_isolation().priority() == admin::AppProfile::PRIORITY_UNSPECIFIED) {
    profile->mutable_standard_isolation()->set_priority(admin::AppProfile::PRIORITY_HIGH);
  }
  SetEtag(profile);
}

}  // namespace

absl::StatusOr<admin::AppProfile> AppProfiles::Create(
    const admin::CreateAppProfileRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const InstanceName instance, ParseInstanceName(request.parent()));
  SERVER_RETURN_IF_ERROR(CheckAppProfileId(request.app_profile_id()));
  admin::AppProfile profile = request.app_profile();
  profile.set_name(AppProfileName{instance, request.app_profile_id()}.ToString());
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known, parts_.inventory.FindInstance(instance));
  if (FindByName(known.app_profiles, profile.name()) != nullptr) {
    return absl::AlreadyExistsError(Cat("App profile already exists: ", profile.name()));
  }
  SERVER_RETURN_IF_ERROR(CheckRouting(known, profile));
  Complete(&profile);
  Catalogue::Change change(*parts_.catalogue);
  PutIfImplicit(known, &change);
  change.Put(profile);
  SERVER_RETURN_IF_ERROR(parts_.catalogue->Apply(change));
  return profile;
}

absl::StatusOr<admin::AppProfile> AppProfiles::Get(
    const admin::GetAppProfileRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const AppProfileName name, ParseAppProfileName(request.name()));
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known, parts_.inventory.FindInstance(name.instance));
  if (const auto* profile = FindByName(known.app_profiles, request.name())) return *profile;
  return NoSuchError("App profile", request.name());
}

absl::StatusOr<admin::ListAppProfilesResponse> AppProfiles::List(
    const admin::ListAppProfilesRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const auto instances, parts_.inventory.InstancesOf(request.parent()));
  std::vector<admin::AppProfile> profiles;
  for (const KnownInstance& known : instances) {
    profiles.insert(profiles.end(), known.app_profiles.begin(), known.app_profiles.end());
  }
  const auto name_of = [](const admin::AppProfile& profile) { return profile.name(); };
  std::ranges::sort(profiles, {}, name_of);
  admin::ListAppProfilesResponse response;
  SERVER_RETURN_IF_ERROR(AddPage(
      profiles, request.page_size(), request.page_token(), name_of,
      [&](const admin::AppProfile& profile) { *response.add_app_profiles() = profile; },
      response.mutable_next_page_token()));
  return response;
}

absl::StatusOr<google::longrunning::Operation> AppProfiles::Update(
    const admin::UpdateAppProfileRequest& request) const {
  const admin::AppProfile& update = request.app_profile();
  SERVER_ASSIGN_OR_RETURN(const AppProfileName name, ParseAppProfileName(update.name()));
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known, parts_.inventory.FindInstance(name.instance));
  const admin::AppProfile* const found = FindByName(known.app_profiles, update.name());
  if (found == nullptr) return NoSuchError("App profile", update.name());
  if (!update.etag().empty() && update.etag() != found->etag()) {
    return absl::AbortedError(Cat("app profile ", update.name(), " has the etag ",
                                  Quoted(found->etag()), ", not ", Quoted(update.etag()),
                                  ": it was changed"));
  }
  admin::AppProfile profile = *found;
  if (request.update_mask().paths().empty()) {
    profile = update;
  } else {
    SERVER_RETURN_IF_ERROR(
        UpdateFields(update, request.update_mask(),
                     {"description", "multi_cluster_routing_use_any", "single_cluster_routing",
                      "priority", "standard_isolation", "data_boost_isolation_read_only"},
                     &profile));
  }
  SERVER_RETURN_IF_ERROR(CheckRouting(known, profile));
  Complete(&profile);
  Catalogue::Change change(*parts_.catalogue);
  PutIfImplicit(known, &change);
  change.Put(profile);
  SERVER_RETURN_IF_ERROR(parts_.catalogue->Apply(change));
  return parts_.operations->Add(profile.name(), admin::UpdateAppProfileMetadata(), profile);
}

absl::Status AppProfiles::Delete(const admin::DeleteAppProfileRequest& request) const {
  SERVER_ASSIGN_OR_RETURN(const AppProfileName name, ParseAppProfileName(request.name()));
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known, parts_.inventory.FindInstance(name.instance));
  if (FindByName(known.app_profiles, request.name()) == nullptr) {
    return NoSuchError("App profile", request.name());
  }
  Catalogue::Change change(*parts_.catalogue);
  PutIfImplicit(known, &change);
  change.Erase(request.name());
  return parts_.catalogue->Apply(change);
}

}  // namespace bigtable::server
