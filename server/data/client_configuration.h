// GetClientConfiguration, by which newer clients of Cloud Bigtable ask how to send their requests:
// by the methods that are served here, or by sessions, which are not. The answer is that no request
// is for a session, and that the client need not ask again.
//
// The API definitions that the server is built with lack the method and its messages, so these are
// read and written by their numbers (google/bigtable/v2/session.proto).
#ifndef BIGTABLE_SERVER_DATA_CLIENT_CONFIGURATION_H_
#define BIGTABLE_SERVER_DATA_CLIENT_CONFIGURATION_H_

#include "grpcpp/support/byte_buffer.h"

#include "server/data/row_handlers.h"
#include "server/data/served_call.h"

namespace bigtable::server {

class ClientConfigurationCall final : public ServedCall {
 public:
  // The handlers outlive the call.
  ClientConfigurationCall(ServedMethod* method, const RowHandlers* handlers)
      : ServedCall(method), handlers_(handlers) {}

 private:
  Step Begin(grpc::ByteBuffer* bytes) override;

  const RowHandlers* const handlers_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_CLIENT_CONFIGURATION_H_
