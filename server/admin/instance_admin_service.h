// google.bigtable.admin.v2.BigtableInstanceAdmin: instances, clusters and app profiles. All of them
// are served by the one database behind this server. So what a cluster or an app profile says, such
// as a number of nodes or a routing, is kept and returned, and has no effect.
#ifndef BIGTABLE_SERVER_ADMIN_INSTANCE_ADMIN_SERVICE_H_
#define BIGTABLE_SERVER_ADMIN_INSTANCE_ADMIN_SERVICE_H_

#include "google/bigtable/admin/v2/bigtable_instance_admin.grpc.pb.h"

#include "bigtable/database.h"

#include "server/admin/admin_parts.h"
#include "server/admin/answers.h"
#include "server/admin/app_profiles.h"
#include "server/admin/clusters.h"
#include "server/admin/instances.h"
#include "server/calls/authentication.h"
#include "server/text/resource_name.h"

namespace bigtable::server {

// Thread-safe. Changes are durable when a call returns, and made one at a time.
class InstanceAdminService final : public admin::BigtableInstanceAdmin::Service {
 public:
  // All outlive this.
  InstanceAdminService(Database* database, Catalogue* catalogue, OperationStore* operations,
                       const InstanceName& default_instance, const Authentication* authentication,
                       BackupEngine* backups)
      : parts_(database, catalogue, operations, default_instance, backups),
        authentication_(authentication) {}

  SERVER_METHOD(CreateInstance, admin::CreateInstanceRequest, google::longrunning::Operation,
                instances_.Create(*request))
  SERVER_READ_METHOD(GetInstance, admin::GetInstanceRequest, admin::Instance,
                     instances_.Get(*request))
  SERVER_READ_METHOD(ListInstances, admin::ListInstancesRequest, admin::ListInstancesResponse,
                     instances_.List(*request))
  SERVER_METHOD(UpdateInstance, admin::Instance, admin::Instance, instances_.Update(*request))
  SERVER_METHOD(PartialUpdateInstance, admin::PartialUpdateInstanceRequest,
                google::longrunning::Operation, instances_.UpdatePart(*request))
  SERVER_METHOD(DeleteInstance, admin::DeleteInstanceRequest, google::protobuf::Empty,
                instances_.Delete(*request, OptionsOf(*context)))

  SERVER_METHOD(CreateCluster, admin::CreateClusterRequest, google::longrunning::Operation,
                clusters_.Create(*request))
  SERVER_READ_METHOD(GetCluster, admin::GetClusterRequest, admin::Cluster, clusters_.Get(*request))
  SERVER_READ_METHOD(ListClusters, admin::ListClustersRequest, admin::ListClustersResponse,
                     clusters_.List(*request))
  SERVER_METHOD(UpdateCluster, admin::Cluster, google::longrunning::Operation,
                clusters_.Update(*request))
  SERVER_METHOD(PartialUpdateCluster, admin::PartialUpdateClusterRequest,
                google::longrunning::Operation, clusters_.UpdatePart(*request))
  SERVER_METHOD(DeleteCluster, admin::DeleteClusterRequest, google::protobuf::Empty,
                clusters_.Delete(*request))

  SERVER_METHOD(CreateAppProfile, admin::CreateAppProfileRequest, admin::AppProfile,
                app_profiles_.Create(*request))
  SERVER_READ_METHOD(GetAppProfile, admin::GetAppProfileRequest, admin::AppProfile,
                     app_profiles_.Get(*request))
  SERVER_READ_METHOD(ListAppProfiles, admin::ListAppProfilesRequest, admin::ListAppProfilesResponse,
                     app_profiles_.List(*request))
  SERVER_METHOD(UpdateAppProfile, admin::UpdateAppProfileRequest, google::longrunning::Operation,
                app_profiles_.Update(*request))
  SERVER_METHOD(DeleteAppProfile, admin::DeleteAppProfileRequest, google::protobuf::Empty,
                app_profiles_.Delete(*request))

  SERVER_NOT_SERVED(GetIamPolicy, google::iam::v1::GetIamPolicyRequest, google::iam::v1::Policy,
                    "access control by IAM")
  SERVER_NOT_SERVED(SetIamPolicy, google::iam::v1::SetIamPolicyRequest, google::iam::v1::Policy,
                    "access control by IAM")
  SERVER_NOT_SERVED(TestIamPermissions, google::iam::v1::TestIamPermissionsRequest,
                    google::iam::v1::TestIamPermissionsResponse, "access control by IAM")
  SERVER_NOT_SERVED(ListHotTablets, admin::ListHotTabletsRequest, admin::ListHotTabletsResponse,
                    "list of hot tablets")
  SERVER_NOT_SERVED(CreateLogicalView, admin::CreateLogicalViewRequest,
                    google::longrunning::Operation, "logical views")
  SERVER_NOT_SERVED(GetLogicalView, admin::GetLogicalViewRequest, admin::LogicalView,
                    "logical views")
  SERVER_NOT_SERVED(ListLogicalViews, admin::ListLogicalViewsRequest,
                    admin::ListLogicalViewsResponse, "logical views")
  SERVER_NOT_SERVED(UpdateLogicalView, admin::UpdateLogicalViewRequest,
                    google::longrunning::Operation, "logical views")
  SERVER_NOT_SERVED(DeleteLogicalView, admin::DeleteLogicalViewRequest, google::protobuf::Empty,
                    "logical views")
  SERVER_NOT_SERVED(CreateMaterializedView, admin::CreateMaterializedViewRequest,
                    google::longrunning::Operation, "materialized views")
  SERVER_NOT_SERVED(GetMaterializedView, admin::GetMaterializedViewRequest, admin::MaterializedView,
                    "materialized views")
  SERVER_NOT_SERVED(ListMaterializedViews, admin::ListMaterializedViewsRequest,
                    admin::ListMaterializedViewsResponse, "materialized views")
  SERVER_NOT_SERVED(UpdateMaterializedView, admin::UpdateMaterializedViewRequest,
                    google::longrunning::Operation, "materialized views")
  SERVER_NOT_SERVED(DeleteMaterializedView, admin::DeleteMaterializedViewRequest,
                    google::protobuf::Empty, "materialized views")

 private:
  const AdminParts parts_;
  const Authentication* const authentication_;
  Instances instances_{&parts_};
  Clusters clusters_{&parts_};
  AppProfiles app_profiles_{&parts_};
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_INSTANCE_ADMIN_SERVICE_H_
