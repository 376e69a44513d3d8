// What a handler knows of the call beside its request.
#ifndef BIGTABLE_SERVER_CALLS_CALL_INFO_H_
#define BIGTABLE_SERVER_CALLS_CALL_INFO_H_

#include <optional>
#include <string>

#include "absl/time/time.h"

#include "grpcpp/server_context.h"

namespace bigtable::server {

struct CallInfo {
  absl::Time deadline = absl::InfiniteFuture();
  // In whose name the call is made; null: the program's, which may do everything.
  std::optional<std::string> caller = std::nullopt;
};

// The client's deadline, by the wall clock.
absl::Time DeadlineOf(const grpc::ServerContextBase& context);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_CALL_INFO_H_
