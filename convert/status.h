// The status of a call as its client sees it, and as the client takes it.
//
// Codes are the same numbers in Abseil and in gRPC, but for one: a call for which the system had no
// space on disk, no descriptor or no memory (bigtable/system_shortage.h) is UNAVAILABLE, because
// Google's clients try that again. Such a call, one that a quota of a rate has refused
// (RESOURCE_EXHAUSTED, RetryAfter in bigtable/quota.h), and one that the server itself refuses for
// a while (UnavailableFor) have a google.rpc.RetryInfo with the time to wait, in the details of
// google.rpc.Status: clients wait that long before they try again.
//
// Pure functions.
#ifndef BIGTABLE_CONVERT_STATUS_H_
#define BIGTABLE_CONVERT_STATUS_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"

namespace bigtable::convert {

// UNAVAILABLE, for about this long.
absl::Status UnavailableFor(absl::Duration wait, std::string_view message);

// Of a whole call. gRPC sends the details as the trailer "grpc-status-details-bin".
grpc::Status ToGrpcStatus(const absl::Status& status);

// Of an entry of a response, or of an operation.
google::rpc::Status ToRpcStatus(const absl::Status& status);

// The other way. The time to wait of a google.rpc.RetryInfo becomes that of RetryAfter. A code that
// is none is UNKNOWN.
absl::Status ToStatus(const grpc::Status& status);
absl::Status ToStatus(const google::rpc::Status& status);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_STATUS_H_
