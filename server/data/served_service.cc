#include "server/data/served_service.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "grpcpp/impl/rpc_method.h"
#include "grpcpp/impl/rpc_service_method.h"

namespace bigtable::server {

void ServedService::StartMethods() {
  for (const std::unique_ptr<ServedMethod>& method : methods_) method->Start();
}

void ServedService::Add(const char* name, Method method,
                        const google::protobuf::Descriptor* request_type, EventQueue* events,
                        int accepting, ServedMethod::Create create) {
  using grpc::internal::RpcMethod;
  AddMethod(new grpc::internal::RpcServiceMethod(name, RpcMethod::BIDI_STREAMING, nullptr));
  const int number = static_cast<int>(methods_.size());
  MarkMethodAsync(number);
  const auto accept = [this, number](grpc::ServerContext* context, ServedMethod::Writer* writer,
                                     grpc::CompletionQueue* event_queue,
                                     grpc::ServerCompletionQueue* requests, void* tag) {
    RequestAsyncBidiStreaming(number, context, writer, event_queue, requests, tag);
  };
  const std::string_view logged =
      method == Method::kAdmin ? name : kMethodNames[static_cast<size_t>(method)];
  methods_.push_back(std::make_unique<ServedMethod>(
      parts_.queues, events, parts_.admission, parts_.response_params, parts_.errors,
      MethodCounters{parts_.monitor->calls(), method}, parts_.monitor->slow_requests(), logged,
      request_type, accepting, accept, std::move(create)));
}

}  // namespace bigtable::server
