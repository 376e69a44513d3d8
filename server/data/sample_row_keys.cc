#include "server/data/sample_row_keys.h"

#include "absl/status/status.h"

namespace bigtable::server {

ServedCall::Step SampleRowKeysCall::Begin(grpc::ByteBuffer* request_bytes) {
  data::SampleRowKeysRequest request;
  absl::Status status = Parse(request_bytes, &request);
  if (status.ok()) {
    status = handlers_->SampleRowKeys(context(), request, &responses_);
    SetResource(request.table_name(), status.ok());
  }
  if (!status.ok()) return End(status);
  return Continue(true);
}

ServedCall::Step SampleRowKeysCall::Continue(bool is_there) {
  if (!is_there) return End(absl::CancelledError("the client has gone"));
  if (sent_ == responses_.size()) return End(absl::OkStatus());
  const grpc::ByteBuffer message = Serialize(responses_[sent_]);
  return ++sent_ == responses_.size() ? End(absl::OkStatus(), message) : Send(message);
}

}  // namespace bigtable::server
