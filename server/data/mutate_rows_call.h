// MutateRows: to the client a stream, of one message. Its messages are not parsed into objects
// (convert/mutate_rows.h).
#ifndef BIGTABLE_SERVER_DATA_MUTATE_ROWS_CALL_H_
#define BIGTABLE_SERVER_DATA_MUTATE_ROWS_CALL_H_

#include <string>

#include "absl/status/status.h"
#include "grpcpp/support/byte_buffer.h"

#include "server/data/row_handlers.h"
#include "server/data/served_call.h"

namespace bigtable::server {

class MutateRowsCall final : public ServedCall {
 public:
  // The handlers outlive the call.
  MutateRowsCall(ServedMethod* method, const RowHandlers* handlers)
      : ServedCall(method), handlers_(handlers) {}

 private:
  Step Begin(grpc::ByteBuffer* request) override;
  absl::Status Apply(const grpc::ByteBuffer& request, std::string* table_name,
                     std::string* response) const;

  const RowHandlers* const handlers_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_MUTATE_ROWS_CALL_H_
