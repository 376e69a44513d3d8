#include "server/admin/engine_service.h"

#include "absl/status/status.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/impl/rpc_method.h"
#include "grpcpp/impl/rpc_service_method.h"
#include "grpcpp/support/method_handler.h"

#include "convert/status.h"

namespace bigtable::server {
namespace {

using google::protobuf::Empty;
using google::protobuf::MessageLite;
using grpc::internal::RpcMethod;

}  // namespace

// Without a description in protobuf's language: the messages are empty.
EngineService::EngineService(Resumption* resumption, const Authentication* authentication)
    : resumption_(resumption), authentication_(authentication) {
  using Handler =
      grpc::internal::RpcMethodHandler<EngineService, Empty, Empty, MessageLite, MessageLite>;
  AddMethod(new grpc::internal::RpcServiceMethod("/bigtable.server.Engine/Resume",
                                                 RpcMethod::NORMAL_RPC,
                                                 new Handler(&EngineService::Resume, this)));
}

grpc::Status EngineService::Resume(grpc::ServerContext* context, const Empty*, Empty*) {
  const absl::Status may = authentication_->CheckAdministrator(*context);
  return convert::ToGrpcStatus(may.ok() ? resumption_->Run() : may);
}

}  // namespace bigtable::server
