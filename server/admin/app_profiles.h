// The methods of app profiles. Each takes its request, and returns its response or an error.
#ifndef BIGTABLE_SERVER_ADMIN_APP_PROFILES_H_
#define BIGTABLE_SERVER_ADMIN_APP_PROFILES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/bigtable_instance_admin.pb.h"
#include "google/longrunning/operations.pb.h"

#include "server/admin/admin_parts.h"

namespace bigtable::server {

// Thread-safe.
class AppProfiles {
 public:
  // The parts outlive this.
  explicit AppProfiles(const AdminParts* parts) : parts_(*parts) {}

  // INVALID_ARGUMENT: it has no routing, or routes to a cluster that its instance does not have.
  absl::StatusOr<admin::AppProfile> Create(const admin::CreateAppProfileRequest& request) const;
  absl::StatusOr<admin::AppProfile> Get(const admin::GetAppProfileRequest& request) const;
  absl::StatusOr<admin::ListAppProfilesResponse> List(
      const admin::ListAppProfilesRequest& request) const;
  // ABORTED: the request has an etag, and the profile has another one.
  absl::StatusOr<google::longrunning::Operation> Update(
      const admin::UpdateAppProfileRequest& request) const;
  absl::Status Delete(const admin::DeleteAppProfileRequest& request) const;

 private:
  const AdminParts& parts_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_APP_PROFILES_H_
