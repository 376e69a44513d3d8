#include "server/admin/operations_service.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"

#include "server/admin/pages.h"
#include "server/text/errors.h"

namespace bigtable::server {

absl::StatusOr<longrunning::ListOperationsResponse> OperationsService::List(
    const longrunning::ListOperationsRequest& request) const {
  if (!request.filter().empty() || request.return_partial_success()) {
    return absl::UnimplementedError(
        "ListOperations has neither filters (filter) nor partial results (return_partial_success)");
  }
  longrunning::ListOperationsResponse response;
  SERVER_RETURN_IF_ERROR(AddPage(
      operations_->List(request.name()), request.page_size(), request.page_token(),
      // All ids have the same length, so they are in the order of the operations.
      [](const longrunning::Operation& operation) {
        return operation.name().substr(operation.name().rfind('/') + 1);
      },
      [&](const longrunning::Operation& operation) { *response.add_operations() = operation; },
      response.mutable_next_page_token()));
  return response;
}

absl::StatusOr<longrunning::Operation> OperationsService::Wait(
    const longrunning::WaitOperationRequest& request, std::chrono::nanoseconds most) const {
  constexpr std::chrono::nanoseconds kMost = std::chrono::seconds(5);
  most = std::min(most, kMost);
  if (request.has_timeout() && request.timeout().seconds() < kMost / std::chrono::seconds(1)) {
    most = std::min(most, std::chrono::seconds(request.timeout().seconds()) +
                              std::chrono::nanoseconds(request.timeout().nanos()));
  }
  return operations_->Wait(request.name(), most);
}

}  // namespace bigtable::server
