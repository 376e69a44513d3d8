// A stream of responses that are all known before the first is sent, and are made by one of
// RowHandlers: SampleRowKeys, GenerateInitialChangeStreamPartitions.
#ifndef BIGTABLE_SERVER_DATA_LIST_CALL_H_
#define BIGTABLE_SERVER_DATA_LIST_CALL_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"

#include "server/data/row_handlers.h"
#include "server/data/served_call.h"

namespace bigtable::server {

template <typename Request, typename Response>
class ListCall final : public ServedCall {
 public:
  using Handler = absl::Status (RowHandlers::*)(const grpc::ServerContext&, const Request&,
                                                std::vector<Response>*) const;

  // The handlers outlive the call. There is at least one response.
  ListCall(ServedMethod* method, const RowHandlers* handlers, Handler handler)
      : ServedCall(method), handlers_(handlers), handler_(handler) {}

 private:
  Step Begin(grpc::ByteBuffer* bytes) override {
    Request request;
    absl::Status status = Parse(bytes, &request);
    if (status.ok()) {
      status = (handlers_->*handler_)(context(), request, &responses_);
      SetResource(request.table_name(), status.ok());
    }
    if (!status.ok()) return End(status);
    return Continue(true);
  }

  Step Continue(bool is_there) override {
    if (!is_there) return End(absl::CancelledError("the client has gone"));
    if (sent_ == responses_.size()) return End(absl::OkStatus());
    const grpc::ByteBuffer message = Serialize(responses_[sent_]);
    return ++sent_ == responses_.size() ? End(absl::OkStatus(), message) : Send(message);
  }

  const RowHandlers* const handlers_;
  const Handler handler_;
  std::vector<Response> responses_;
  size_t sent_ = 0;  // of them
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_LIST_CALL_H_
