// What a response, or a missing one, means for a client (rpc/data_service.h).
#ifndef BIGTABLE_RPC_ANSWER_H_
#define BIGTABLE_RPC_ANSWER_H_

#include "absl/status/status.h"

#include "base/strings.h"
#include "rpc/data_service.h"

namespace bigtable {

// The message or its response was lost: it is unknown whether the request was carried out.
inline bool IsLost(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

// Internal if the response does not match the request.
inline absl::Status CheckAnswer(const MutateRequest& request, const MutateResponse& response) {
  if (response.verdict != MutateResponse::Verdict::kDone) return absl::OkStatus();
  if (response.statuses.size() == request.mutations.size()) return absl::OkStatus();
  return absl::InternalError(Cat("server ", request.server, " has answered for ",
                                 response.statuses.size(), " mutations of ",
                                 request.mutations.size()));
}

}  // namespace bigtable

#endif  // BIGTABLE_RPC_ANSWER_H_
