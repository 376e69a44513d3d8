#include "server/data/data_service.h"

#include <utility>

#include "google/bigtable/v2/bigtable.pb.h"
#include "grpcpp/impl/rpc_method.h"
#include "grpcpp/impl/rpc_service_method.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/method_handler.h"
#include "grpcpp/support/status.h"

#include "server/data/client_configuration.h"
#include "server/data/list_call.h"
#include "server/data/mutate_rows_call.h"
#include "server/data/unary_call.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

#define METHOD(name) "/google.bigtable.v2.Bigtable/" name

// A method that is not served: `what` is what the server does not have. A client sees no difference
// between a unary call and a stream that ends with an error. To gRPC it is one: so the request is
// not received.
RpcServiceMethod* Refused(const char* name, const char* what) {
  using Handler =
      grpc::internal::BidiStreamingHandler<grpc::Service, grpc::ByteBuffer, grpc::ByteBuffer>;
  const auto refuse = [what](grpc::Service*, grpc::ServerContext*,
                             grpc::ServerReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>*) {
    return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, Cat("this server has no ", what));
  };
  return new RpcServiceMethod(name, RpcMethod::BIDI_STREAMING, new Handler(refuse, nullptr));
}

}  // namespace

DataService::DataService(const ServedParts& parts, ServedTables* tables,
                         const Authentication* authentication, size_t most_streams,
                         size_t most_change_streams)
    : ServedService(parts),
      handlers_(tables, authentication, parts.errors, parts.monitor->rows()),
      streams_([queues = parts.queues] { queues->streams()->RunSomeEvent(); }),
      read_rows_parts_{tables, authentication, &streams_, parts.monitor->rows(), most_streams},
      change_streams_(most_change_streams),
      read_change_stream_parts_{tables, authentication, &change_streams_} {
  AddStreams();
  AddUnary(METHOD("MutateRow"), Method::kMutateRow, &RowHandlers::MutateRow);
  AddUnary(METHOD("CheckAndMutateRow"), Method::kCheckAndMutateRow,
           &RowHandlers::CheckAndMutateRow);
  AddUnary(METHOD("ReadModifyWriteRow"), Method::kReadModifyWriteRow,
           &RowHandlers::ReadModifyWriteRow);
  AddUnary(METHOD("PingAndWarm"), Method::kPingAndWarm, &RowHandlers::PingAndWarm);
  // It reads its requests without protocol buffers, and counts what it makes of them by itself.
  Add(METHOD("MutateRows"), Method::kMutateRows, nullptr, parts_.queues->unary_calls(),
      [this](ServedMethod* served) {
        return std::make_unique<MutateRowsCall>(served, &handlers_);
      });
  Add(METHOD("GetClientConfiguration"), Method::kGetClientConfiguration,
      data::PingAndWarmRequest::descriptor(), parts_.queues->unary_calls(),
      [this](ServedMethod* served) {
        return std::make_unique<ClientConfigurationCall>(served, &handlers_);
      });
  AddWhatIsNotServed();
}

// When many requests arrive at once, all but these wait until one that waits has been replaced.
void DataService::Add(const char* name, Method method,
                      const google::protobuf::Descriptor* request_type, EventQueue* events,
                      ServedMethod::Create create) {
  constexpr int kAcceptingCalls = 16;
  ServedService::Add(name, method, request_type, events, kAcceptingCalls, std::move(create));
}

template <typename Request, typename Response>
void DataService::AddUnary(const char* name, Method method,
                           absl::Status (RowHandlers::*handler)(const grpc::ServerContext&,
                                                                const Request&, Response*) const) {
  Add(name, method, Request::descriptor(), parts_.queues->unary_calls(),
      [this, handler](ServedMethod* served) {
        return std::make_unique<UnaryCall<Request, Response>>(served, &handlers_, handler);
      });
}

template <typename Request, typename Response>
void DataService::AddList(const char* name, Method method,
                          absl::Status (RowHandlers::*handler)(const grpc::ServerContext&,
                                                               const Request&,
                                                               std::vector<Response>*) const) {
  Add(name, method, Request::descriptor(), parts_.queues->streams(),
      [this, handler](ServedMethod* served) {
        return std::make_unique<ListCall<Request, Response>>(served, &handlers_, handler);
      });
}

void DataService::AddStreams() {
  Add(METHOD("ReadRows"), Method::kReadRows, data::ReadRowsRequest::descriptor(),
      parts_.queues->streams(), [this](ServedMethod* served) {
        return std::make_unique<ReadRowsCall>(served, read_rows_parts_);
      });
  AddList(METHOD("SampleRowKeys"), Method::kSampleRowKeys, &RowHandlers::SampleRowKeys);
  AddList(METHOD("GenerateInitialChangeStreamPartitions"),
          Method::kGenerateInitialChangeStreamPartitions, &RowHandlers::ChangeStreamPartitions);
  Add(METHOD("ReadChangeStream"), Method::kReadChangeStream,
      data::ReadChangeStreamRequest::descriptor(), parts_.queues->change_streams(),
      [this](ServedMethod* served) {
        return std::make_unique<ReadChangeStreamCall>(served, read_change_stream_parts_);
      });
}

// After those that are served, which have the first numbers.
void DataService::AddWhatIsNotServed() {
  AddMethod(Refused(METHOD("ExecuteQuery"), "queries in SQL"));
  AddMethod(Refused(METHOD("PrepareQuery"), "queries in SQL"));
  AddMethod(Refused(METHOD("OpenTable"), "sessions"));
  AddMethod(Refused(METHOD("OpenAuthorizedView"), "sessions"));
  AddMethod(Refused(METHOD("OpenMaterializedView"), "sessions"));
}

}  // namespace bigtable::server
