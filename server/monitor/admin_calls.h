// Counts the calls of the admin services and of operations, which gRPC runs by itself.
#ifndef BIGTABLE_SERVER_MONITOR_ADMIN_CALLS_H_
#define BIGTABLE_SERVER_MONITOR_ADMIN_CALLS_H_

#include <memory>

#include "grpcpp/support/server_interceptor.h"
#include "server/monitor/call_counters.h"

namespace bigtable::server {

// For ServerBuilder. The counters outlive the server. Calls of other services are not intercepted.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> CountAdminCalls(
    CallCounters* counters);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_ADMIN_CALLS_H_
