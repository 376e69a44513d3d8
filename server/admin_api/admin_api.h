// The admin services, operations and the engine as gRPC has them: their methods are served as those
// of the data API are (data/served_service.h), so their requests are counted and refused with them.
#ifndef BIGTABLE_SERVER_ADMIN_API_ADMIN_API_H_
#define BIGTABLE_SERVER_ADMIN_API_ADMIN_API_H_

#include <memory>
#include <vector>

#include "grpcpp/server_builder.h"

#include "server/admin/engine_service.h"
#include "server/admin/instance_admin_service.h"
#include "server/admin/operations_service.h"
#include "server/admin/table_admin_service.h"
#include "server/admin_api/admin_call.h"
#include "server/data/served_service.h"

namespace bigtable::server {

// Set up by one thread.
class AdminApi {
 public:
  struct Services {
    TableAdminService* tables = nullptr;
    InstanceAdminService* instances = nullptr;
    OperationsService* operations = nullptr;
    EngineService* engine = nullptr;
  };

  // All outlive this. At most `most_running` calls run at a time.
  AdminApi(const ServedParts& parts, const Services& services, int most_running,
           const AdminLog& log);
  AdminApi(const AdminApi&) = delete;
  AdminApi& operator=(const AdminApi&) = delete;

  void Register(grpc::ServerBuilder* builder);
  // Begins to take calls. The server and the queues have started.
  void Start();

 private:
  AdminTurns turns_;
  const AdminLog log_;
  std::vector<std::unique_ptr<ServedService>> services_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_API_ADMIN_API_H_
