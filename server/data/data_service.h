// google.bigtable.v2.Bigtable.
//
// Not the generated class: calls run on completion queues (served_call.h), and messages are bytes.
#ifndef BIGTABLE_SERVER_DATA_DATA_SERVICE_H_
#define BIGTABLE_SERVER_DATA_DATA_SERVICE_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/server_context.h"

#include "server/calls/authentication.h"
#include "server/calls/call_queues.h"
#include "server/data/change_streams.h"
#include "server/data/read_change_stream.h"
#include "server/data/read_rows.h"
#include "server/data/row_handlers.h"
#include "server/data/served_service.h"
#include "server/data/served_tables.h"
#include "server/data/streams.h"
#include "server/monitor/method.h"

namespace bigtable::server {

// Thread-safe.
class DataService final : public ServedService {
 public:
  // All pointers outlive this.
  DataService(const ServedParts& parts, ServedTables* tables, const Authentication* authentication,
              size_t most_streams, size_t most_change_streams);

  const Streams& streams() const { return streams_; }
  const ChangeStreams& change_streams() const { return change_streams_; }
  // The server ends, before the queues do: calls that would wait end.
  void Close() { change_streams_.Close(); }

 private:
  void Add(const char* name, Method method, const google::protobuf::Descriptor* request_type,
           EventQueue* events, ServedMethod::Create create);
  template <typename Request, typename Response>
  void AddUnary(const char* name, Method method,
                absl::Status (RowHandlers::*handler)(const grpc::ServerContext&, const Request&,
                                                     Response*) const);
  template <typename Request, typename Response>
  void AddList(const char* name, Method method,
               absl::Status (RowHandlers::*handler)(const grpc::ServerContext&, const Request&,
                                                    std::vector<Response>*) const);
  void AddStreams();
  void AddWhatIsNotServed();

  const RowHandlers handlers_;
  Streams streams_;
  const ReadRowsParts read_rows_parts_;
  ChangeStreams change_streams_;
  const ReadChangeStreamParts read_change_stream_parts_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_DATA_SERVICE_H_
