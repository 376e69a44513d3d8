// Statuses of gRPC and google.rpc.Status as the library's. Pure functions.
#ifndef BIGTABLE_REMOTE_CONVERT_STATUS_H_
#define BIGTABLE_REMOTE_CONVERT_STATUS_H_

#include "absl/status/status.h"

#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"

namespace bigtable::remote {

// With the delay of google.rpc.RetryInfo, if there is one: see bigtable::RetryAfter.
absl::Status ToStatus(const grpc::Status& status);
absl::Status ToStatus(const google::rpc::Status& status);

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_CONVERT_STATUS_H_
