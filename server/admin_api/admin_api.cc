#include "server/admin_api/admin_api.h"

namespace bigtable::server {
namespace {

// There are few such calls, so one of each method waits for its request.
constexpr int kAcceptingCalls = 1;

template <typename Served>
class AdminService : public ServedService {
 protected:
  AdminService(const ServedParts& parts, Served* service, AdminTurns* turns, const AdminLog* log)
      : ServedService(parts), service_(service), turns_(*turns), log_(log) {}

  template <typename Of, typename Request, typename Response>
  void Add(const char* name,
           grpc::Status (Of::*handler)(grpc::ServerContext*, const Request*, Response*)) {
    ServedService::Add(name, Method::kAdmin, Request::descriptor(), parts_.queues->unary_calls(),
                       kAcceptingCalls, [this, name, handler](ServedMethod* method) {
                         return std::make_unique<AdminCall<Served, Request, Response>>(
                             method, name, service_, handler, &turns_, log_);
                       });
  }

 private:
  Served* const service_;
  AdminTurns& turns_;
  const AdminLog* const log_;
};

class TableApi final : public AdminService<TableAdminService> {
 public:
  TableApi(const ServedParts& parts, TableAdminService* service, AdminTurns* turns,
           const AdminLog* log)
      : AdminService(parts, service, turns, log) {
#define ADMIN_METHOD(name) \
  Add("/google.bigtable.admin.v2.BigtableTableAdmin/" #name, &TableAdminService::name)
    ADMIN_METHOD(CreateTable);
    ADMIN_METHOD(ListTables);
    ADMIN_METHOD(GetTable);
    ADMIN_METHOD(UpdateTable);
    ADMIN_METHOD(DeleteTable);
    ADMIN_METHOD(ModifyColumnFamilies);
    ADMIN_METHOD(DropRowRange);
    ADMIN_METHOD(GenerateConsistencyToken);
    ADMIN_METHOD(CheckConsistency);
    ADMIN_METHOD(CreateTableFromSnapshot);
    ADMIN_METHOD(UndeleteTable);
    ADMIN_METHOD(SnapshotTable);
    ADMIN_METHOD(GetSnapshot);
    ADMIN_METHOD(ListSnapshots);
    ADMIN_METHOD(DeleteSnapshot);
    ADMIN_METHOD(CreateBackup);
    ADMIN_METHOD(GetBackup);
    ADMIN_METHOD(UpdateBackup);
    ADMIN_METHOD(DeleteBackup);
    ADMIN_METHOD(ListBackups);
    ADMIN_METHOD(RestoreTable);
    ADMIN_METHOD(CopyBackup);
    ADMIN_METHOD(GetIamPolicy);
    ADMIN_METHOD(SetIamPolicy);
    ADMIN_METHOD(TestIamPermissions);
    ADMIN_METHOD(CreateAuthorizedView);
    ADMIN_METHOD(GetAuthorizedView);
    ADMIN_METHOD(ListAuthorizedViews);
    ADMIN_METHOD(UpdateAuthorizedView);
    ADMIN_METHOD(DeleteAuthorizedView);
    ADMIN_METHOD(CreateSchemaBundle);
    ADMIN_METHOD(GetSchemaBundle);
    ADMIN_METHOD(ListSchemaBundles);
    ADMIN_METHOD(UpdateSchemaBundle);
    ADMIN_METHOD(DeleteSchemaBundle);
#undef ADMIN_METHOD
  }
};

class InstanceApi final : public AdminService<InstanceAdminService> {
 public:
  InstanceApi(const ServedParts& parts, InstanceAdminService* service, AdminTurns* turns,
              const AdminLog* log)
      : AdminService(parts, service, turns, log) {
#define ADMIN_METHOD(name) \
  Add("/google.bigtable.admin.v2.BigtableInstanceAdmin/" #name, &InstanceAdminService::name)
    ADMIN_METHOD(CreateInstance);
    ADMIN_METHOD(GetInstance);
    ADMIN_METHOD(ListInstances);
    ADMIN_METHOD(UpdateInstance);
    ADMIN_METHOD(PartialUpdateInstance);
    ADMIN_METHOD(DeleteInstance);
    ADMIN_METHOD(CreateCluster);
    ADMIN_METHOD(GetCluster);
    ADMIN_METHOD(ListClusters);
    ADMIN_METHOD(UpdateCluster);
    ADMIN_METHOD(PartialUpdateCluster);
    ADMIN_METHOD(DeleteCluster);
    ADMIN_METHOD(CreateAppProfile);
    ADMIN_METHOD(GetAppProfile);
    ADMIN_METHOD(ListAppProfiles);
    ADMIN_METHOD(UpdateAppProfile);
    ADMIN_METHOD(DeleteAppProfile);
    ADMIN_METHOD(GetIamPolicy);
    ADMIN_METHOD(SetIamPolicy);
    ADMIN_METHOD(TestIamPermissions);
    ADMIN_METHOD(ListHotTablets);
    ADMIN_METHOD(CreateLogicalView);
    ADMIN_METHOD(GetLogicalView);
    ADMIN_METHOD(ListLogicalViews);
    ADMIN_METHOD(UpdateLogicalView);
    ADMIN_METHOD(DeleteLogicalView);
    ADMIN_METHOD(CreateMaterializedView);
    ADMIN_METHOD(GetMaterializedView);
    ADMIN_METHOD(ListMaterializedViews);
    ADMIN_METHOD(UpdateMaterializedView);
    ADMIN_METHOD(DeleteMaterializedView);
#undef ADMIN_METHOD
  }
};

class OperationsApi final : public AdminService<OperationsService> {
 public:
  OperationsApi(const ServedParts& parts, OperationsService* service, AdminTurns* turns,
                const AdminLog* log)
      : AdminService(parts, service, turns, log) {
#define ADMIN_METHOD(name) Add("/google.longrunning.Operations/" #name, &OperationsService::name)
    ADMIN_METHOD(ListOperations);
    ADMIN_METHOD(GetOperation);
    ADMIN_METHOD(DeleteOperation);
    ADMIN_METHOD(CancelOperation);
    ADMIN_METHOD(WaitOperation);
#undef ADMIN_METHOD
  }
};

class EngineApi final : public AdminService<EngineService> {
 public:
  EngineApi(const ServedParts& parts, EngineService* service, AdminTurns* turns,
            const AdminLog* log)
      : AdminService(parts, service, turns, log) {
    Add("/bigtable.server.Engine/Resume", &EngineService::Resume);
  }
};

}  // namespace

AdminApi::AdminApi(const ServedParts& parts, const Services& services, int most_running,
                   const AdminLog& log)
    : turns_(most_running), log_(log) {
  services_.push_back(std::make_unique<TableApi>(parts, services.tables, &turns_, &log_));
  services_.push_back(std::make_unique<InstanceApi>(parts, services.instances, &turns_, &log_));
  services_.push_back(std::make_unique<OperationsApi>(parts, services.operations, &turns_, &log_));
  services_.push_back(std::make_unique<EngineApi>(parts, services.engine, &turns_, &log_));
}

void AdminApi::Register(grpc::ServerBuilder* builder) {
  for (const std::unique_ptr<ServedService>& service : services_) {
    builder->RegisterService(service.get());
  }
}

void AdminApi::Start() {
  for (const std::unique_ptr<ServedService>& service : services_) service->StartMethods();
}

}  // namespace bigtable::server
