#include "server/grpc_services/small_call.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/impl/codegen/server_callback_handlers.h"
#include "grpcpp/impl/rpc_method.h"
#include "grpcpp/impl/rpc_service_method.h"

#include "convert/status.h"
#include "server/calls/gzip.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

using Traits = grpc::SerializationTraits<google::protobuf::MessageLite>;

}  // namespace

// It is registered first: a request that is there at once is not received before that. Then it may
// be refused, after which nothing may be started.
void SmallCall::Receive() {
  admission_.ReceivesSmall(this);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_refused_) StartRead(&request_);
}

void SmallCall::OnReadDone(bool ok) {
  if (!admission_.ReceivedSmall(this)) return;  // Refuse ends it
  if (!ok) return NoRequest();
  if (const absl::Status status = Check(); !status.ok()) {
    request_.Clear();
    return Finish(convert::ToGrpcStatus(status));
  }
  Begin(request_);
}

// The last statement may end the call, and with it this object.
void SmallCall::Refuse(const absl::Status& status) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_refused_ = true;
  }
  Finish(convert::ToGrpcStatus(status));
}

// Decompresses the request, if it is compressed.
absl::Status SmallCall::Check() {
  const std::optional<uint64_t> unpacked = GzipSize(&request_);
  const uint64_t size = unpacked.value_or(request_.Length());
  if (size > kMostRequestBytes || request_.Length() > kMostRequestBytes) {
    return absl::ResourceExhaustedError(Cat("a request of this service must have at most ",
                                            kMostRequestBytes, " bytes, and this one has ",
                                            std::max<uint64_t>(size, request_.Length())));
  }
  return unpacked.has_value() ? Gunzip(size, &request_) : absl::OkStatus();
}

void SmallCall::NoRequest() {
  Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the client has gone, or has sent no request"));
}

absl::Status SmallCall::Parse(const grpc::ByteBuffer& bytes,
                              google::protobuf::MessageLite* request) {
  grpc::ByteBuffer read = bytes;  // of the same memory
  if (Traits::Deserialize(&read, request).ok()) return absl::OkStatus();
  return absl::InternalError(Cat("the request is not a ", request->GetTypeName()));
}

grpc::ByteBuffer SmallCall::Serialize(const google::protobuf::MessageLite& response) {
  grpc::ByteBuffer bytes;
  bool is_owned = false;
  Traits::Serialize(response, &bytes, &is_owned);
  return bytes;
}

void SmallCallService::Add(const char* name, std::function<SmallCall*()> create) {
  using grpc::internal::RpcMethod;
  using Handler = grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
  AddMethod(new grpc::internal::RpcServiceMethod(name, RpcMethod::BIDI_STREAMING, nullptr));
  const auto begin = [create = std::move(create)](grpc::CallbackServerContext*) {
    SmallCall* const call = create();
    call->Receive();
    return call;
  };
  MarkMethodRawCallback(methods_++, new Handler(begin));
}

}  // namespace bigtable::server
