// The status of a call as its client sees it.
//
// Codes are the same numbers in Abseil and in gRPC. A call that a quota of a rate has refused
// (RESOURCE_EXHAUSTED, RetryAfter in bigtable/quota.h), or the server itself for a while
// (UnavailableFor), has a google.rpc.RetryInfo with the time to wait, in the details of
// google.rpc.Status: clients wait that long before they try again.
//
// Pure functions.
#ifndef BIGTABLE_SERVER_CONVERT_STATUS_H_
#define BIGTABLE_SERVER_CONVERT_STATUS_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"

namespace bigtable::server {

// UNAVAILABLE, for about this long.
absl::Status UnavailableFor(absl::Duration wait, std::string_view message);

// Of a whole call. gRPC sends the details as the trailer "grpc-status-details-bin".
grpc::Status ToGrpcStatus(const absl::Status& status);

// Of an entry of a response, or of an operation.
google::rpc::Status ToRpcStatus(const absl::Status& status);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONVERT_STATUS_H_
