// bigtable.server.Engine: what an operator needs and Google's API does not have. Administrators
// only.
//
//   Resume(google.protobuf.Empty) returns google.protobuf.Empty
//
// Resume is Database::Resume: after an error that has stopped writes, it lets them continue, or
// returns why it cannot. ABORTED: it is running already.
#ifndef BIGTABLE_SERVER_ADMIN_ENGINE_SERVICE_H_
#define BIGTABLE_SERVER_ADMIN_ENGINE_SERVICE_H_

#include "google/protobuf/empty.pb.h"
#include "grpcpp/impl/service_type.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"

#include "server/admin/resumption.h"
#include "server/calls/authentication.h"

namespace bigtable::server {

// Thread-safe.
class EngineService final : public grpc::Service {
 public:
  // Both outlive this.
  EngineService(Resumption* resumption, const Authentication* authentication);

  grpc::Status Resume(grpc::ServerContext* context, const google::protobuf::Empty* request,
                      google::protobuf::Empty* response);

 private:
  Resumption* const resumption_;
  const Authentication* const authentication_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_ENGINE_SERVICE_H_
