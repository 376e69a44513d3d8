// google.bigtable.v2.Bigtable.
//
// Not the generated class: calls run on completion queues (served_call.h), and messages are bytes.
#ifndef BIGTABLE_SERVER_DATA_DATA_SERVICE_H_
#define BIGTABLE_SERVER_DATA_DATA_SERVICE_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/impl/service_type.h"

#include "server/calls/admission.h"
#include "server/calls/authentication.h"
#include "server/calls/call_queues.h"
#include "server/calls/client_errors.h"
#include "server/data/read_rows.h"
#include "server/data/response_params.h"
#include "server/data/row_handlers.h"
#include "server/data/served_call.h"
#include "server/data/served_tables.h"
#include "server/data/streams.h"
#include "server/monitor/method.h"
#include "server/monitor/monitor.h"

namespace bigtable::server {

// Thread-safe.
class DataService final : public grpc::Service {
 public:
  // All pointers outlive this. The queue is the server's; for `most_threads` see CallQueues.
  DataService(ServedTables* tables, ResponseParams* response_params, ClientErrors* errors,
              const Authentication* authentication, Monitor* monitor, Admission* admission,
              std::unique_ptr<grpc::ServerCompletionQueue> queue, int most_threads,
              size_t most_streams);

  ~DataService() { Shutdown(); }
  DataService(const DataService&) = delete;
  DataService& operator=(const DataService&) = delete;

  // Begins to take calls. The server has started. ResourceExhausted: the system has no thread.
  absl::Status Start();
  // Waits until the calls have ended. The server was shut down.
  void Shutdown() { queues_.Shutdown(); }

  const Streams& streams() const { return streams_; }

 private:
  void Add(const char* name, Method method, const google::protobuf::Descriptor* request_type,
           EventQueue* events, ServedMethod::Create create);
  template <typename Request, typename Response>
  void AddUnary(const char* name, Method method,
                absl::Status (RowHandlers::*handler)(const grpc::ServerContext&, const Request&,
                                                     Response*) const);
  void AddStreams();
  void AddWhatIsNotServed();

  const RowHandlers handlers_;
  ResponseParams* const response_params_;
  ClientErrors* const errors_;
  Monitor* const monitor_;
  Admission* const admission_;
  CallQueues queues_;
  Streams streams_;
  const ReadRowsParts read_rows_parts_;
  std::vector<std::unique_ptr<ServedMethod>> methods_;  // gRPC knows them by these numbers
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_DATA_SERVICE_H_
