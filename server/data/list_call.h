// SampleRowKeys: a stream of the ends of tablets, all known before the first is sent.
#ifndef BIGTABLE_SERVER_DATA_SAMPLE_ROW_KEYS_H_
#define BIGTABLE_SERVER_DATA_SAMPLE_ROW_KEYS_H_

#include <cstddef>
#include <vector>

#include "google/bigtable/v2/bigtable.pb.h"
#include "grpcpp/support/byte_buffer.h"

#include "server/data/row_handlers.h"
#include "server/data/served_call.h"

namespace bigtable::server {

class SampleRowKeysCall final : public ServedCall {
 public:
  // The handlers outlive the call.
  SampleRowKeysCall(ServedMethod* method, const RowHandlers* handlers)
      : ServedCall(method), handlers_(handlers) {}

 private:
  Step Begin(grpc::ByteBuffer* request) override;
  Step Continue(bool is_there) override;

  const RowHandlers* const handlers_;
  std::vector<data::SampleRowKeysResponse> responses_;
  size_t sent_ = 0;  // of them
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_SAMPLE_ROW_KEYS_H_
