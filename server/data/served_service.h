// A service of gRPC whose methods are ServedMethods: so memory is looked at before their requests
// are received, whatever the method.
//
// Set up by one thread.
#ifndef BIGTABLE_SERVER_DATA_SERVED_SERVICE_H_
#define BIGTABLE_SERVER_DATA_SERVED_SERVICE_H_

#include <memory>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "grpcpp/impl/service_type.h"

#include "server/calls/admission.h"
#include "server/calls/call_queues.h"
#include "server/calls/client_errors.h"
#include "server/data/response_params.h"
#include "server/data/served_call.h"
#include "server/monitor/method.h"
#include "server/monitor/monitor.h"

namespace bigtable::server {

// What all calls use. All outlive the services.
struct ServedParts {
  CallQueues* queues = nullptr;
  Admission* admission = nullptr;
  ResponseParams* response_params = nullptr;
  ClientErrors* errors = nullptr;
  Monitor* monitor = nullptr;
};

class ServedService : public grpc::Service {
 public:
  ServedService(const ServedService&) = delete;
  ServedService& operator=(const ServedService&) = delete;

  // Begins to take calls. The server and the queues have started.
  void StartMethods();

  ~ServedService() override = default;

 protected:
  explicit ServedService(const ServedParts& parts) : parts_(parts) {}

  // Before methods of other kinds. `name` is kept: "/package.Service/Method". `events` is one of
  // the queues' own; `request_type` is that of ServedMethod; `accepting` calls of the method wait
  // for requests at a time.
  void Add(const char* name, Method method, const google::protobuf::Descriptor* request_type,
           EventQueue* events, int accepting, ServedMethod::Create create);

  const ServedParts parts_;

 private:
  std::vector<std::unique_ptr<ServedMethod>> methods_;  // gRPC knows them by these numbers
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_SERVED_SERVICE_H_
