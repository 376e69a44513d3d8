// google.bigtable.admin.v2.BigtableTableAdmin: tables and their column families.
#ifndef BIGTABLE_SERVER_ADMIN_TABLE_ADMIN_SERVICE_H_
#define BIGTABLE_SERVER_ADMIN_TABLE_ADMIN_SERVICE_H_

#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"

#include "bigtable/database.h"

#include "server/admin/admin_parts.h"
#include "server/admin/answers.h"
#include "server/admin/column_families.h"
#include "server/admin/consistency.h"
#include "server/admin/tables.h"
#include "server/calls/authentication.h"
#include "server/text/resource_name.h"

namespace bigtable::server {

// Thread-safe. Changes are durable when a call returns, and made one at a time.
class TableAdminService final : public admin::BigtableTableAdmin::Service {
 public:
  // All outlive this.
  TableAdminService(Database* database, Catalogue* catalogue, OperationStore* operations,
                    const InstanceName& default_instance, const Authentication* authentication)
      : parts_(database, catalogue, operations, default_instance),
        authentication_(authentication) {}

  SERVER_METHOD(CreateTable, admin::CreateTableRequest, admin::Table,
                tables_.Create(*request, OptionsOf(*context)))
  SERVER_READ_METHOD(ListTables, admin::ListTablesRequest, admin::ListTablesResponse,
                     tables_.List(*request))
  SERVER_READ_METHOD(GetTable, admin::GetTableRequest, admin::Table, tables_.Get(*request))
  SERVER_METHOD(UpdateTable, admin::UpdateTableRequest, google::longrunning::Operation,
                tables_.Update(*request))
  SERVER_METHOD(DeleteTable, admin::DeleteTableRequest, google::protobuf::Empty,
                tables_.Delete(*request, OptionsOf(*context)))
  SERVER_METHOD(ModifyColumnFamilies, admin::ModifyColumnFamiliesRequest, admin::Table,
                families_.Modify(*request, OptionsOf(*context)))
  SERVER_METHOD(DropRowRange, admin::DropRowRangeRequest, google::protobuf::Empty,
                tables_.DropRows(*request, OptionsOf(*context)))
  SERVER_READ_METHOD(GenerateConsistencyToken, admin::GenerateConsistencyTokenRequest,
                     admin::GenerateConsistencyTokenResponse, consistency_.Generate(*request))
  SERVER_READ_METHOD(CheckConsistency, admin::CheckConsistencyRequest,
                     admin::CheckConsistencyResponse, consistency_.Check(*request))

  SERVER_NOT_SERVED(CreateTableFromSnapshot, admin::CreateTableFromSnapshotRequest,
                    google::longrunning::Operation, "snapshots of tables")
  SERVER_NOT_SERVED(UndeleteTable, admin::UndeleteTableRequest, google::longrunning::Operation,
                    "deleted tables that can be restored")
  SERVER_NOT_SERVED(SnapshotTable, admin::SnapshotTableRequest, google::longrunning::Operation,
                    "snapshots of tables")
  SERVER_NOT_SERVED(GetSnapshot, admin::GetSnapshotRequest, admin::Snapshot, "snapshots of tables")
  SERVER_NOT_SERVED(ListSnapshots, admin::ListSnapshotsRequest, admin::ListSnapshotsResponse,
                    "snapshots of tables")
  SERVER_NOT_SERVED(DeleteSnapshot, admin::DeleteSnapshotRequest, google::protobuf::Empty,
                    "snapshots of tables")
  SERVER_NOT_SERVED(CreateBackup, admin::CreateBackupRequest, google::longrunning::Operation,
                    "backups")
  SERVER_NOT_SERVED(GetBackup, admin::GetBackupRequest, admin::Backup, "backups")
  SERVER_NOT_SERVED(UpdateBackup, admin::UpdateBackupRequest, admin::Backup, "backups")
  SERVER_NOT_SERVED(DeleteBackup, admin::DeleteBackupRequest, google::protobuf::Empty, "backups")
  SERVER_NOT_SERVED(ListBackups, admin::ListBackupsRequest, admin::ListBackupsResponse, "backups")
  SERVER_NOT_SERVED(RestoreTable, admin::RestoreTableRequest, google::longrunning::Operation,
                    "backups")
  SERVER_NOT_SERVED(CopyBackup, admin::CopyBackupRequest, google::longrunning::Operation, "backups")
  SERVER_NOT_SERVED(GetIamPolicy, google::iam::v1::GetIamPolicyRequest, google::iam::v1::Policy,
                    "access control by IAM")
  SERVER_NOT_SERVED(SetIamPolicy, google::iam::v1::SetIamPolicyRequest, google::iam::v1::Policy,
                    "access control by IAM")
  SERVER_NOT_SERVED(TestIamPermissions, google::iam::v1::TestIamPermissionsRequest,
                    google::iam::v1::TestIamPermissionsResponse, "access control by IAM")
  SERVER_NOT_SERVED(CreateAuthorizedView, admin::CreateAuthorizedViewRequest,
                    google::longrunning::Operation, "authorized views")
  SERVER_NOT_SERVED(GetAuthorizedView, admin::GetAuthorizedViewRequest, admin::AuthorizedView,
                    "authorized views")
  SERVER_NOT_SERVED(ListAuthorizedViews, admin::ListAuthorizedViewsRequest,
                    admin::ListAuthorizedViewsResponse, "authorized views")
  SERVER_NOT_SERVED(UpdateAuthorizedView, admin::UpdateAuthorizedViewRequest,
                    google::longrunning::Operation, "authorized views")
  SERVER_NOT_SERVED(DeleteAuthorizedView, admin::DeleteAuthorizedViewRequest,
                    google::protobuf::Empty, "authorized views")
  SERVER_NOT_SERVED(CreateSchemaBundle, admin::CreateSchemaBundleRequest,
                    google::longrunning::Operation, "schema bundles")
  SERVER_NOT_SERVED(GetSchemaBundle, admin::GetSchemaBundleRequest, admin::SchemaBundle,
                    "schema bundles")
  SERVER_NOT_SERVED(ListSchemaBundles, admin::ListSchemaBundlesRequest,
                    admin::ListSchemaBundlesResponse, "schema bundles")
  SERVER_NOT_SERVED(UpdateSchemaBundle, admin::UpdateSchemaBundleRequest,
                    google::longrunning::Operation, "schema bundles")
  SERVER_NOT_SERVED(DeleteSchemaBundle, admin::DeleteSchemaBundleRequest, google::protobuf::Empty,
                    "schema bundles")

 private:
  const AdminParts parts_;
  const Authentication* const authentication_;
  Tables tables_{&parts_};
  ColumnFamilies families_{&parts_};
  Consistency consistency_{&parts_};
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_TABLE_ADMIN_SERVICE_H_
