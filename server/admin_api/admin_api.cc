#include "server/admin_api/admin_api.h"

#include "absl/types/span.h"
#include "google/protobuf/descriptor.h"

namespace bigtable::server {
namespace {

// There are few such calls, so one of each method waits for its request.
constexpr int kAcceptingCalls = 1;

// What a call of any method needs.
template <typename Served>
struct Callee {
  Served* service;
  AdminTurns* turns;
  const AdminLog* log;
};

// A method of a service, as the tables below have it.
template <typename Served>
struct AdminMethod {
  const char* name;  // "/package.Service/Method"
  const google::protobuf::Descriptor* (*request_type)();
  std::unique_ptr<ServedCall> (*new_call)(ServedMethod* method, const char* name,
                                          const Callee<Served>& callee);
};

template <typename Of, typename Request, typename Response>
using Handler = grpc::Status (Of::*)(grpc::ServerContext*, const Request*, Response*);

// The other types follow from the method, which the service may have from a base class.
template <typename Served, auto kHandler, typename Of, typename Request, typename Response>
constexpr AdminMethod<Served> MethodOf(const char* name, Handler<Of, Request, Response>) {
  return {.name = name,
          .request_type = &Request::descriptor,
          .new_call = [](ServedMethod* method, const char* called,
                         const Callee<Served>& callee) -> std::unique_ptr<ServedCall> {
            return std::make_unique<AdminCall<Served, Request, Response>>(
                method, called, callee.service, kHandler, callee.turns, callee.log);
          }};
}

#define METHOD(package, Service, name) \
  MethodOf<Service, &Service::name>("/" package "/" #name, &Service::name)

#define TABLE_METHOD(name) \
  METHOD("google.bigtable.admin.v2.BigtableTableAdmin", TableAdminService, name)
constexpr AdminMethod<TableAdminService> kTableMethods[] = {
    TABLE_METHOD(CreateTable),
    TABLE_METHOD(ListTables),
    TABLE_METHOD(GetTable),
    TABLE_METHOD(UpdateTable),
    TABLE_METHOD(DeleteTable),
    TABLE_METHOD(ModifyColumnFamilies),
    TABLE_METHOD(DropRowRange),
    TABLE_METHOD(GenerateConsistencyToken),
    TABLE_METHOD(CheckConsistency),
    TABLE_METHOD(CreateTableFromSnapshot),
    TABLE_METHOD(UndeleteTable),
    TABLE_METHOD(SnapshotTable),
    TABLE_METHOD(GetSnapshot),
    TABLE_METHOD(ListSnapshots),
    TABLE_METHOD(DeleteSnapshot),
    TABLE_METHOD(CreateBackup),
    TABLE_METHOD(GetBackup),
    TABLE_METHOD(UpdateBackup),
    TABLE_METHOD(DeleteBackup),
    TABLE_METHOD(ListBackups),
    TABLE_METHOD(RestoreTable),
    TABLE_METHOD(CopyBackup),
    TABLE_METHOD(GetIamPolicy),
    TABLE_METHOD(SetIamPolicy),
    TABLE_METHOD(TestIamPermissions),
    TABLE_METHOD(CreateAuthorizedView),
    TABLE_METHOD(GetAuthorizedView),
    TABLE_METHOD(ListAuthorizedViews),
    TABLE_METHOD(UpdateAuthorizedView),
    TABLE_METHOD(DeleteAuthorizedView),
    TABLE_METHOD(CreateSchemaBundle),
    TABLE_METHOD(GetSchemaBundle),
    TABLE_METHOD(ListSchemaBundles),
    TABLE_METHOD(UpdateSchemaBundle),
    TABLE_METHOD(DeleteSchemaBundle),
};

#define INSTANCE_METHOD(name) \
  METHOD("google.bigtable.admin.v2.BigtableInstanceAdmin", InstanceAdminService, name)
constexpr AdminMethod<InstanceAdminService> kInstanceMethods[] = {
    INSTANCE_METHOD(CreateInstance),         INSTANCE_METHOD(GetInstance),
    INSTANCE_METHOD(ListInstances),          INSTANCE_METHOD(UpdateInstance),
    INSTANCE_METHOD(PartialUpdateInstance),  INSTANCE_METHOD(DeleteInstance),
    INSTANCE_METHOD(CreateCluster),          INSTANCE_METHOD(GetCluster),
    INSTANCE_METHOD(ListClusters),           INSTANCE_METHOD(UpdateCluster),
    INSTANCE_METHOD(PartialUpdateCluster),   INSTANCE_METHOD(DeleteCluster),
    INSTANCE_METHOD(CreateAppProfile),       INSTANCE_METHOD(GetAppProfile),
    INSTANCE_METHOD(ListAppProfiles),        INSTANCE_METHOD(UpdateAppProfile),
    INSTANCE_METHOD(DeleteAppProfile),       INSTANCE_METHOD(GetIamPolicy),
    INSTANCE_METHOD(SetIamPolicy),           INSTANCE_METHOD(TestIamPermissions),
    INSTANCE_METHOD(ListHotTablets),         INSTANCE_METHOD(CreateLogicalView),
    INSTANCE_METHOD(GetLogicalView),         INSTANCE_METHOD(ListLogicalViews),
    INSTANCE_METHOD(UpdateLogicalView),      INSTANCE_METHOD(DeleteLogicalView),
    INSTANCE_METHOD(CreateMaterializedView), INSTANCE_METHOD(GetMaterializedView),
    INSTANCE_METHOD(ListMaterializedViews),  INSTANCE_METHOD(UpdateMaterializedView),
    INSTANCE_METHOD(DeleteMaterializedView),
};

#define OPERATIONS_METHOD(name) METHOD("google.longrunning.Operations", OperationsService, name)
constexpr AdminMethod<OperationsService> kOperationsMethods[] = {
    OPERATIONS_METHOD(ListOperations),  OPERATIONS_METHOD(GetOperation),
    OPERATIONS_METHOD(DeleteOperation), OPERATIONS_METHOD(CancelOperation),
    OPERATIONS_METHOD(WaitOperation),
};

constexpr AdminMethod<EngineService> kEngineMethods[] = {
    METHOD("bigtable.server.Engine", EngineService, Resume),
};

#undef OPERATIONS_METHOD
#undef INSTANCE_METHOD
#undef TABLE_METHOD
#undef METHOD

template <typename Served>
class AdminService final : public ServedService {
 public:
  AdminService(const ServedParts& parts, const Callee<Served>& callee,
               absl::Span<const AdminMethod<Served>> methods)
      : ServedService(parts), callee_(callee) {
    for (const AdminMethod<Served>& each : methods) {
      Add(each.name, Method::kAdmin, each.request_type(), parts_.queues->unary_calls(),
          kAcceptingCalls, [this, &each](ServedMethod* method) {
            return each.new_call(method, each.name, callee_);
          });
    }
  }

 private:
  const Callee<Served> callee_;
};

}  // namespace

AdminApi::AdminApi(const ServedParts& parts, const Services& services, int most_running,
                   const AdminLog& log)
    : turns_(most_running), log_(log) {
  const auto add = [&]<typename Served, size_t kCount>(
                       Served* service, const AdminMethod<Served>(&methods)[kCount]) {
    services_.push_back(std::make_unique<AdminService<Served>>(
        parts, Callee<Served>{.service = service, .turns = &turns_, .log = &log_}, methods));
  };
  add(services.tables, kTableMethods);
  add(services.instances, kInstanceMethods);
  add(services.operations, kOperationsMethods);
  add(services.engine, kEngineMethods);
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
