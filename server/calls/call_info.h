// What gRPC knows of a call beside its request.
#ifndef BIGTABLE_SERVER_CALLS_CALL_INFO_H_
#define BIGTABLE_SERVER_CALLS_CALL_INFO_H_

#include <chrono>

#include "absl/time/time.h"
#include "grpcpp/server_context.h"

namespace bigtable::server {

// The client's deadline, by the wall clock.
absl::Time DeadlineOf(const grpc::ServerContextBase& context);

// Until then, by the clock that cannot be set. Negative: it has passed.
std::chrono::nanoseconds TimeLeft(const grpc::ServerContextBase& context);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_CALL_INFO_H_
