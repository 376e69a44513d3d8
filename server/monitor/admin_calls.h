// Counts the calls of the admin services, of operations and of the engine, which gRPC runs by
// itself, logs those that are there to change something, and shortens their errors for clients.
#ifndef BIGTABLE_SERVER_MONITOR_ADMIN_CALLS_H_
#define BIGTABLE_SERVER_MONITOR_ADMIN_CALLS_H_

#include <memory>

#include "grpcpp/support/server_interceptor.h"

#include "server/calls/authentication.h"
#include "server/calls/client_errors.h"
#include "server/monitor/call_counters.h"
#include "server/monitor/json_log.h"

namespace bigtable::server {

// For ServerBuilder. The arguments outlive the server; `log` may be null. Calls of other services
// are not intercepted.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> WatchAdminCalls(
    CallCounters* counters, const Authentication* authentication, ClientErrors* errors,
    JsonLog* log);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_ADMIN_CALLS_H_
