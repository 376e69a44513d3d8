// google.longrunning.Operations: what became of the operations that admin calls have returned.
#ifndef BIGTABLE_SERVER_ADMIN_OPERATIONS_SERVICE_H_
#define BIGTABLE_SERVER_ADMIN_OPERATIONS_SERVICE_H_

#include <chrono>

#include "absl/status/statusor.h"
#include "google/longrunning/operations.grpc.pb.h"

#include "server/admin/answers.h"
#include "server/admin/operation_store.h"
#include "server/calls/authentication.h"

namespace bigtable::server {

namespace longrunning = google::longrunning;

// Thread-safe.
class OperationsService final : public longrunning::Operations::Service {
 public:
  // Both outlive this.
  OperationsService(OperationStore* operations, const Authentication* authentication)
      : operations_(operations), authentication_(authentication) {}

  SERVER_METHOD(ListOperations, longrunning::ListOperationsRequest,
                longrunning::ListOperationsResponse, List(*request))
  SERVER_METHOD(GetOperation, longrunning::GetOperationRequest, longrunning::Operation,
                operations_->Get(request->name()))
  SERVER_METHOD(DeleteOperation, longrunning::DeleteOperationRequest, google::protobuf::Empty,
                operations_->Erase(request->name()))
  SERVER_METHOD(CancelOperation, longrunning::CancelOperationRequest, google::protobuf::Empty,
                operations_->Cancel(request->name()))
  SERVER_METHOD(WaitOperation, longrunning::WaitOperationRequest, longrunning::Operation,
                Wait(*request, TimeLeft(*context)))

 private:
  absl::StatusOr<longrunning::ListOperationsResponse> List(
      const longrunning::ListOperationsRequest& request) const;
  // For as long as the request says, `most` and some seconds, since it takes a thread: the client
  // asks again.
  absl::StatusOr<longrunning::Operation> Wait(const longrunning::WaitOperationRequest& request,
                                              std::chrono::nanoseconds most) const;

  OperationStore* const operations_;
  const Authentication* const authentication_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_OPERATIONS_SERVICE_H_
