#include "server/data/data_service.h"

#include <utility>

#include "google/bigtable/v2/bigtable.pb.h"
#include "grpcpp/impl/rpc_method.h"
#include "grpcpp/impl/rpc_service_method.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/method_handler.h"
#include "grpcpp/support/status.h"

#include "server/convert/errors.h"
#include "server/data/client_configuration.h"
#include "server/data/mutate_rows_call.h"
#include "server/data/sample_row_keys.h"
#include "server/data/unary_call.h"

namespace bigtable::server {
namespace {

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

#define METHOD(name) "/google.bigtable.v2.Bigtable/" name

// A method that is not served: `what` is what the server does not have. A client sees no difference
// between a unary call and a stream that ends with an error.
RpcServiceMethod* Refused(const char* name, const char* what) {
  using Handler =
      grpc::internal::ServerStreamingHandler<grpc::Service, grpc::ByteBuffer, grpc::ByteBuffer>;
  const auto refuse = [what](grpc::Service*, grpc::ServerContext*, const grpc::ByteBuffer*,
                             grpc::ServerWriter<grpc::ByteBuffer>*) {
    return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, Cat("this server has no ", what));
  };
  return new RpcServiceMethod(name, RpcMethod::SERVER_STREAMING, new Handler(refuse, nullptr));
}

// The same for a method whose requests are a stream.
RpcServiceMethod* RefusedStream(const char* name, const char* what) {
  using Handler =
      grpc::internal::BidiStreamingHandler<grpc::Service, grpc::ByteBuffer, grpc::ByteBuffer>;
  const auto refuse = [what](grpc::Service*, grpc::ServerContext*,
                             grpc::ServerReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>*) {
    return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, Cat("this server has no ", what));
  };
  return new RpcServiceMethod(name, RpcMethod::BIDI_STREAMING, new Handler(refuse, nullptr));
}

}  // namespace

DataService::DataService(ServedTables* tables, ResponseParams* response_params,
                         ClientErrors* errors, const Authentication* authentication,
                         Monitor* monitor, Admission* admission,
                         std::unique_ptr<grpc::ServerCompletionQueue> queue, int most_threads,
                         size_t most_streams)
    : handlers_(tables, authentication, errors, monitor->rows()),
      response_params_(response_params),
      errors_(errors),
      monitor_(monitor),
      admission_(admission),
      queues_(std::move(queue), most_threads),
      streams_([this] { queues_.streams()->RunSomeEvent(); }),
      read_rows_parts_{tables, authentication, &streams_, monitor->rows(), most_streams} {
  AddStreams();
  AddUnary(METHOD("MutateRow"), Method::kMutateRow, &RowHandlers::MutateRow);
  AddUnary(METHOD("CheckAndMutateRow"), Method::kCheckAndMutateRow,
           &RowHandlers::CheckAndMutateRow);
  AddUnary(METHOD("ReadModifyWriteRow"), Method::kReadModifyWriteRow,
           &RowHandlers::ReadModifyWriteRow);
  AddUnary(METHOD("PingAndWarm"), Method::kPingAndWarm, &RowHandlers::PingAndWarm);
  // Its requests have no objects but for some mutations, which it counts itself.
  Add(METHOD("MutateRows"), Method::kMutateRows, nullptr, queues_.unary_calls(),
      [this](ServedMethod* served) {
        return std::make_unique<MutateRowsCall>(served, &handlers_);
      });
  Add(METHOD("GetClientConfiguration"), Method::kGetClientConfiguration,
      data::PingAndWarmRequest::descriptor(), queues_.unary_calls(), [this](ServedMethod* served) {
        return std::make_unique<ClientConfigurationCall>(served, &handlers_);
      });
  AddWhatIsNotServed();
}

absl::Status DataService::Start() {
  SERVER_RETURN_IF_ERROR(queues_.Start());
  for (const std::unique_ptr<ServedMethod>& method : methods_) method->Start();
  return absl::OkStatus();
}

void DataService::Add(const char* name, Method method,
                      const google::protobuf::Descriptor* request_type, EventQueue* events,
                      ServedMethod::Create create) {
  AddMethod(new RpcServiceMethod(name, RpcMethod::BIDI_STREAMING, nullptr));
  const int number = static_cast<int>(methods_.size());
  MarkMethodAsync(number);
  const auto accept = [this, number](grpc::ServerContext* context, ServedMethod::Writer* writer,
                                     grpc::CompletionQueue* event_queue,
                                     grpc::ServerCompletionQueue* requests, void* tag) {
    RequestAsyncBidiStreaming(number, context, writer, event_queue, requests, tag);
  };
  methods_.push_back(std::make_unique<ServedMethod>(
      &queues_, events, admission_, response_params_, errors_,
      MethodCounters{monitor_->calls(), method}, monitor_->slow_requests(), request_type, accept,
      std::move(create)));
}

template <typename Request, typename Response>
void DataService::AddUnary(const char* name, Method method,
                           absl::Status (RowHandlers::*handler)(const grpc::ServerContext&,
                                                                const Request&, Response*) const) {
  Add(name, method, Request::descriptor(), queues_.unary_calls(),
      [this, handler](ServedMethod* served) {
        return std::make_unique<UnaryCall<Request, Response>>(served, &handlers_, handler);
      });
}

void DataService::AddStreams() {
  Add(METHOD("ReadRows"), Method::kReadRows, data::ReadRowsRequest::descriptor(), queues_.streams(),
      [this](ServedMethod* served) {
        return std::make_unique<ReadRowsCall>(served, read_rows_parts_);
      });
  Add(METHOD("SampleRowKeys"), Method::kSampleRowKeys, data::SampleRowKeysRequest::descriptor(),
      queues_.streams(), [this](ServedMethod* served) {
        return std::make_unique<SampleRowKeysCall>(served, &handlers_);
      });
}

// After those that are served, which have the first numbers.
void DataService::AddWhatIsNotServed() {
  AddMethod(Refused(METHOD("GenerateInitialChangeStreamPartitions"), "change streams"));
  AddMethod(Refused(METHOD("ReadChangeStream"), "change streams"));
  AddMethod(Refused(METHOD("ExecuteQuery"), "queries in SQL"));
  AddMethod(Refused(METHOD("PrepareQuery"), "queries in SQL"));
  AddMethod(RefusedStream(METHOD("OpenTable"), "sessions"));
  AddMethod(RefusedStream(METHOD("OpenAuthorizedView"), "sessions"));
  AddMethod(RefusedStream(METHOD("OpenMaterializedView"), "sessions"));
}

}  // namespace bigtable::server
