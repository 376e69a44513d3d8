// The methods of clusters. Each takes its request, and returns its response or an error.
#ifndef BIGTABLE_SERVER_ADMIN_CLUSTERS_H_
#define BIGTABLE_SERVER_ADMIN_CLUSTERS_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/bigtable_instance_admin.pb.h"
#include "google/longrunning/operations.pb.h"

#include "server/admin/admin_parts.h"
#include "server/text/resource_name.h"

namespace bigtable::server {

// Thread-safe.
class Clusters {
 public:
  // The parts outlive this.
  explicit Clusters(const AdminParts* parts) : parts_(*parts) {}

  absl::StatusOr<google::longrunning::Operation> Create(
      const admin::CreateClusterRequest& request) const;
  absl::StatusOr<admin::Cluster> Get(const admin::GetClusterRequest& request) const;
  absl::StatusOr<admin::ListClustersResponse> List(const admin::ListClustersRequest& request) const;
  // Only the number of nodes, and not even that of a cluster that is scaled automatically.
  absl::StatusOr<google::longrunning::Operation> Update(const admin::Cluster& request) const;
  absl::StatusOr<google::longrunning::Operation> UpdatePart(
      const admin::PartialUpdateClusterRequest& request) const;
  // FAILED_PRECONDITION: it is the last one of its instance, or an app profile names it.
  absl::Status Delete(const admin::DeleteClusterRequest& request) const;

 private:
  // Replaces the cluster by the result of `change`.
  absl::StatusOr<admin::Cluster> Change(
      std::string_view name, absl::FunctionRef<absl::Status(admin::Cluster*)> change) const;

  const AdminParts& parts_;
};

// A new cluster, with what the request does not say, and what only the server says.
// INVALID_ARGUMENT: the id, the location, or the scaling.
absl::StatusOr<admin::Cluster> NewCluster(const ClusterName& name, const admin::Cluster& cluster);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_CLUSTERS_H_
