// google.bigtable.v2.Bigtable, with gRPC's synchronous interface: a call runs on a thread of its
// own from its request to its end.
//
// Measured, the synchronous interface takes the least CPU: a call that is run from a completion
// queue wakes another thread for each of its events. A stream whose client does not read costs a
// thread, which sleeps, and the message that it has not sent; what it holds of the database is
// released (streams.h).
//
// Not the generated class: ReadRows writes messages as bytes (convert/row_chunks.h).
#ifndef BIGTABLE_SERVER_DATA_DATA_SERVICE_H_
#define BIGTABLE_SERVER_DATA_DATA_SERVICE_H_

#include "absl/status/status.h"
#include "grpcpp/impl/service_type.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/status.h"
#include "grpcpp/support/sync_stream.h"

#include "server/calls/authentication.h"
#include "server/data/row_handlers.h"
#include "server/data/served_tables.h"
#include "server/data/streams.h"
#include "server/monitor/method.h"
#include "server/monitor/monitor.h"

namespace bigtable::server {

// Thread-safe.
class DataService final : public grpc::Service {
 public:
  // All outlive this.
  DataService(ServedTables* tables, const Authentication* authentication, Monitor* monitor);

  const Streams& streams() const { return streams_; }

 private:
  template <typename Request, typename Response>
  void AddUnary(const char* name, Method method,
                absl::Status (RowHandlers::*handler)(const grpc::ServerContext&, const Request&,
                                                     Response*) const);
  // The handler also says how many bytes of messages it has sent.
  template <typename Request, typename Response>
  void AddStreaming(const char* name, Method method,
                    absl::Status (*handler)(DataService*, grpc::ServerContext*, const Request&,
                                            grpc::ServerWriter<Response>*, size_t*));
  // A method that is not served: `what` is what the server does not have.
  template <typename Request, typename Response>
  void AddRefused(const char* name, const char* what);
  static absl::Status MutateRows(DataService* self, grpc::ServerContext* context,
                                 const grpc::ByteBuffer& request,
                                 grpc::ServerWriter<grpc::ByteBuffer>* writer, size_t* sent);
  void AddReads();
  void AddWhatIsNotServed();

  const RowHandlers handlers_;
  ServedTables* const tables_;
  const Authentication* const authentication_;
  Monitor* const monitor_;
  Streams streams_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_DATA_SERVICE_H_
