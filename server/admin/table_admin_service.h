// google.bigtable.admin.v2.BigtableTableAdmin: tables, their column families, and backups.
#ifndef BIGTABLE_SERVER_ADMIN_TABLE_ADMIN_SERVICE_H_
#define BIGTABLE_SERVER_ADMIN_TABLE_ADMIN_SERVICE_H_

#include <utility>

#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"

#include "bigtable/database.h"

#include "server/admin/admin_parts.h"
#include "server/admin/answers.h"
#include "server/admin/backups.h"
#include "server/admin/column_families.h"
#include "server/admin/consistency.h"
#include "server/admin/tables.h"
#include "server/calls/authentication.h"
#include "server/text/resource_name.h"

namespace bigtable::server {

// Thread-safe. Changes are durable when a call returns, and made one at a time.
class TableAdminService final : public admin::BigtableTableAdmin::Service {
 public:
  // All outlive this. `backups`: null if the server keeps none; `to_client` as of Backups.
  TableAdminService(Database* database, Catalogue* catalogue, OperationStore* operations,
                    const InstanceName& default_instance, const Authentication* authentication,
                    BackupEngine* backups, Backups::ToClient to_client)
      : parts_(database, catalogue, operations, default_instance, backups),
        authentication_(authentication),
        backups_(&parts_, std::move(to_client)) {}

  // Ends the operations that run: before the database is closed.
  void EndOperations() { backups_.End(); }

  SERVER_METHOD(CreateTable, admin::CreateTableRequest, admin::Table,
                tables_.Create(*request, OptionsOf(*context)))
  SERVER_READ_METHOD(ListTables, admin::ListTablesRequest, admin::ListTablesResponse,
                     tables_.List(*request))
  SERVER_READ_METHOD(GetTable, admin::GetTableRequest, admin::Table, tables_.Get(*request))
  SERVER_METHOD(UpdateTable, admin::UpdateTableRequest, google::longrunning::Operation,
                tables_.Update(*request, OptionsOf(*context)))
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

  SERVER_METHOD(CreateBackup, admin::CreateBackupRequest, google::longrunning::Operation,
                backups_.Create(*request))
  SERVER_READ_METHOD(GetBackup, admin::GetBackupRequest, admin::Backup, backups_.Get(*request))
  SERVER_READ_METHOD(ListBackups, admin::ListBackupsRequest, admin::ListBackupsResponse,
                     backups_.List(*request))
  SERVER_METHOD(UpdateBackup, admin::UpdateBackupRequest, admin::Backup,
                backups_.Update(*request, OptionsOf(*context)))
  SERVER_METHOD(DeleteBackup, admin::DeleteBackupRequest, google::protobuf::Empty,
                backups_.Delete(*request, OptionsOf(*context)))
  SERVER_METHOD(RestoreTable, admin::RestoreTableRequest, google::longrunning::Operation,
                backups_.Restore(*request))
  SERVER_METHOD(CopyBackup, admin::CopyBackupRequest, google::longrunning::Operation,
                backups_.Copy(*request))

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
  Backups backups_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_TABLE_ADMIN_SERVICE_H_
