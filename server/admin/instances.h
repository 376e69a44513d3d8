// The methods of instances. Each takes its request, and returns its response or an error.
#ifndef BIGTABLE_SERVER_ADMIN_INSTANCES_H_
#define BIGTABLE_SERVER_ADMIN_INSTANCES_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/bigtable_instance_admin.pb.h"
#include "google/longrunning/operations.pb.h"

#include "bigtable/call_options.h"

#include "server/admin/admin_parts.h"

namespace bigtable::server {

// Thread-safe.
class Instances {
 public:
  // The parts outlive this.
  explicit Instances(const AdminParts* parts) : parts_(*parts) {}

  // With its clusters, and the app profile "default". ALREADY_EXISTS: also if the instance exists
  // because it has tables.
  absl::StatusOr<google::longrunning::Operation> Create(
      const admin::CreateInstanceRequest& request) const;
  absl::StatusOr<admin::Instance> Get(const admin::GetInstanceRequest& request) const;
  absl::StatusOr<admin::ListInstancesResponse> List(
      const admin::ListInstancesRequest& request) const;
  // Only the display name and the type.
  absl::StatusOr<admin::Instance> Update(const admin::Instance& request) const;
  absl::StatusOr<google::longrunning::Operation> UpdatePart(
      const admin::PartialUpdateInstanceRequest& request) const;
  // Deletes its tables, one after another, and then the rest of it. FAILED_PRECONDITION: a table is
  // protected. After another error some tables may be deleted; the call can be made again.
  absl::Status Delete(const admin::DeleteInstanceRequest& request,
                      const CallOptions& options) const;

 private:
  // Replaces the instance by the result of `change`.
  absl::StatusOr<admin::Instance> Change(
      std::string_view name, absl::FunctionRef<absl::Status(admin::Instance*)> change) const;

  const AdminParts& parts_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_INSTANCES_H_
