// A call with one request and one response, whose method is one of RowHandlers.
#ifndef BIGTABLE_SERVER_DATA_UNARY_CALL_H_
#define BIGTABLE_SERVER_DATA_UNARY_CALL_H_

#include <array>
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/arena.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"

#include "server/data/row_handlers.h"
#include "server/data/served_call.h"

namespace bigtable::server {

template <typename Request, typename Response>
class UnaryCall final : public ServedCall {
 public:
  using Handler = absl::Status (RowHandlers::*)(const grpc::ServerContext&, const Request&,
                                                Response*) const;

  // The handlers outlive the call.
  UnaryCall(ServedMethod* method, const RowHandlers* handlers, Handler handler)
      : ServedCall(method), handlers_(handlers), handler_(handler) {}

 private:
  static const std::string& ResourceOf(const data::PingAndWarmRequest& request) {
    return request.name();
  }
  template <typename OfTable>
  static const std::string& ResourceOf(const OfTable& request) {
    return request.table_name();
  }

  Step Begin(grpc::ByteBuffer* bytes) override {
    alignas(std::max_align_t) std::array<char, 2048> block;  // enough for most
    google::protobuf::Arena arena(block.data(), block.size());
    auto* const request = google::protobuf::Arena::CreateMessage<Request>(&arena);
    auto* const response = google::protobuf::Arena::CreateMessage<Response>(&arena);
    absl::Status status = Parse(bytes, request);
    if (status.ok()) {
      status = (handlers_->*handler_)(context(), *request, response);
      SetResource(ResourceOf(*request), status.ok());
    }
    return status.ok() ? End(status, Serialize(*response)) : End(status);
  }

  const RowHandlers* const handlers_;
  const Handler handler_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_UNARY_CALL_H_
