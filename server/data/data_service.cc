#include "server/data/data_service.h"

#include <utility>
#include <vector>

#include "google/bigtable/v2/bigtable.pb.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/impl/rpc_method.h"
#include "grpcpp/impl/rpc_service_method.h"
#include "grpcpp/support/method_handler.h"
#include "server/convert/errors.h"
#include "server/convert/status.h"
#include "server/data/read_rows.h"

namespace bigtable::server {
namespace {

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

#define METHOD(name) "/google.bigtable.v2.Bigtable/" name

}  // namespace

DataService::DataService(ServedTables* tables, const Authentication* authentication)
    : handlers_(tables, authentication), tables_(tables), authentication_(authentication) {
  AddReads();
  AddUnary(METHOD("MutateRow"), &RowHandlers::MutateRow);
  AddUnary(METHOD("CheckAndMutateRow"), &RowHandlers::CheckAndMutateRow);
  AddUnary(METHOD("ReadModifyWriteRow"), &RowHandlers::ReadModifyWriteRow);
  AddUnary(METHOD("PingAndWarm"), &RowHandlers::PingAndWarm);
  AddStreaming<data::MutateRowsRequest, data::MutateRowsResponse>(
      METHOD("MutateRows"),
      [](DataService* self, grpc::ServerContext* context, const data::MutateRowsRequest& request,
         grpc::ServerWriter<data::MutateRowsResponse>* writer) {
        data::MutateRowsResponse response;
        absl::Status status = self->handlers_.MutateRows(*context, request, &response);
        if (status.ok()) writer->WriteLast(response, grpc::WriteOptions());
        return status;
      });
  AddWhatIsNotServed();
}

template <typename Request, typename Response>
void DataService::AddUnary(const char* method,
                           absl::Status (RowHandlers::*handler)(const grpc::ServerContext&,
                                                                const Request&, Response*) const) {
  using Handler = grpc::internal::RpcMethodHandler<
      DataService, Request, Response, google::protobuf::MessageLite, google::protobuf::MessageLite>;
  AddMethod(new RpcServiceMethod(method, RpcMethod::NORMAL_RPC,
                                 new Handler(
                                     [handler](DataService* self, grpc::ServerContext* context,
                                               const Request* request, Response* response) {
                                       return ToGrpcStatus((self->handlers_.*handler)(
                                           *context, *request, response));
                                     },
                                     this)));
}

template <typename Request, typename Response>
void DataService::AddStreaming(const char* method,
                               absl::Status (*handler)(DataService*, grpc::ServerContext*,
                                                       const Request&,
                                                       grpc::ServerWriter<Response>*)) {
  using Handler = grpc::internal::ServerStreamingHandler<DataService, Request, Response>;
  AddMethod(new RpcServiceMethod(
      method, RpcMethod::SERVER_STREAMING,
      new Handler(
          [handler](DataService* self, grpc::ServerContext* context, const Request* request,
                    grpc::ServerWriter<Response>* writer) {
            return ToGrpcStatus(handler(self, context, *request, writer));
          },
          this)));
}

template <typename Request, typename Response>
void DataService::AddRefused(const char* method, const char* what) {
  using Handler = grpc::internal::ServerStreamingHandler<DataService, Request, Response>;
  AddMethod(new RpcServiceMethod(method, RpcMethod::SERVER_STREAMING,
                                 new Handler(
                                     [what](DataService*, grpc::ServerContext*, const Request*,
                                            grpc::ServerWriter<Response>*) {
                                       return grpc::Status(grpc::StatusCode::UNIMPLEMENTED,
                                                           Cat("this server has no ", what));
                                     },
                                     this)));
}

void DataService::AddReads() {
  AddStreaming<data::ReadRowsRequest, grpc::ByteBuffer>(
      METHOD("ReadRows"),
      [](DataService* self, grpc::ServerContext* context, const data::ReadRowsRequest& request,
         grpc::ServerWriter<grpc::ByteBuffer>* writer) {
        return ReadRowsCall(self->tables_, self->authentication_, &self->streams_, context, writer)
            .Run(request);
      });
  AddStreaming<data::SampleRowKeysRequest, data::SampleRowKeysResponse>(
      METHOD("SampleRowKeys"),
      [](DataService* self, grpc::ServerContext* context, const data::SampleRowKeysRequest& request,
         grpc::ServerWriter<data::SampleRowKeysResponse>* writer) -> absl::Status {
        std::vector<data::SampleRowKeysResponse> responses;
        SERVER_RETURN_IF_ERROR(self->handlers_.SampleRowKeys(*context, request, &responses));
        for (const data::SampleRowKeysResponse& response : responses) {
          if (!writer->Write(response)) break;  // the client has gone
        }
        return absl::OkStatus();
      });
}

void DataService::AddWhatIsNotServed() {
  AddRefused<data::GenerateInitialChangeStreamPartitionsRequest,
             data::GenerateInitialChangeStreamPartitionsResponse>(
      METHOD("GenerateInitialChangeStreamPartitions"), "change streams");
  AddRefused<data::ReadChangeStreamRequest, data::ReadChangeStreamResponse>(
      METHOD("ReadChangeStream"), "change streams");
  AddRefused<data::ExecuteQueryRequest, data::ExecuteQueryResponse>(METHOD("ExecuteQuery"),
                                                                    "queries in SQL");
  // A client sees no difference between a unary call and a stream that ends with an error.
  AddRefused<data::PrepareQueryRequest, data::PrepareQueryResponse>(METHOD("PrepareQuery"),
                                                                    "queries in SQL");
}

}  // namespace bigtable::server
