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
#include "server/data/byte_buffer.h"
#include "server/data/read_rows.h"

namespace bigtable::server {
namespace {

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

#define METHOD(name) "/google.bigtable.v2.Bigtable/" name

size_t SizeOf(const google::protobuf::MessageLite& message) { return message.ByteSizeLong(); }
size_t SizeOf(const grpc::ByteBuffer& message) { return message.Length(); }

}  // namespace

DataService::DataService(ServedTables* tables, const Authentication* authentication,
                         Monitor* monitor)
    : handlers_(tables, authentication, monitor->rows()),
      tables_(tables),
      authentication_(authentication),
      monitor_(monitor) {
  AddReads();
  AddUnary(METHOD("MutateRow"), Method::kMutateRow, &RowHandlers::MutateRow);
  AddUnary(METHOD("CheckAndMutateRow"), Method::kCheckAndMutateRow,
           &RowHandlers::CheckAndMutateRow);
  AddUnary(METHOD("ReadModifyWriteRow"), Method::kReadModifyWriteRow,
           &RowHandlers::ReadModifyWriteRow);
  AddUnary(METHOD("PingAndWarm"), Method::kPingAndWarm, &RowHandlers::PingAndWarm);
  AddStreaming<grpc::ByteBuffer, grpc::ByteBuffer>(METHOD("MutateRows"), Method::kMutateRows,
                                                   &DataService::MutateRows);
  AddWhatIsNotServed();
}

template <typename Request, typename Response>
void DataService::AddUnary(const char* name, Method method,
                           absl::Status (RowHandlers::*handler)(const grpc::ServerContext&,
                                                                const Request&, Response*) const) {
  using Handler = grpc::internal::RpcMethodHandler<
      DataService, Request, Response, google::protobuf::MessageLite, google::protobuf::MessageLite>;
  const auto run = [handler, method](DataService* self, grpc::ServerContext* context,
                                     const Request* request, Response* response) {
    const CallTimer timer({self->monitor_->calls(), method});
    const grpc::Status status =
        ToGrpcStatus((self->handlers_.*handler)(*context, *request, response));
    timer.End(status.error_code(), request->ByteSizeLong(),
              status.ok() ? response->ByteSizeLong() : 0);
    return status;
  };
  AddMethod(new RpcServiceMethod(name, RpcMethod::NORMAL_RPC, new Handler(run, this)));
}

template <typename Request, typename Response>
void DataService::AddStreaming(const char* name, Method method,
                               absl::Status (*handler)(DataService*, grpc::ServerContext*,
                                                       const Request&,
                                                       grpc::ServerWriter<Response>*, size_t*)) {
  using Handler = grpc::internal::ServerStreamingHandler<DataService, Request, Response>;
  const auto run = [handler, method](DataService* self, grpc::ServerContext* context,
                                     const Request* request, grpc::ServerWriter<Response>* writer) {
    const CallTimer timer({self->monitor_->calls(), method});
    size_t sent = 0;
    const grpc::Status status = ToGrpcStatus(handler(self, context, *request, writer, &sent));
    timer.End(status.error_code(), SizeOf(*request), sent);
    return status;
  };
  AddMethod(new RpcServiceMethod(name, RpcMethod::SERVER_STREAMING, new Handler(run, this)));
}

template <typename Request, typename Response>
void DataService::AddRefused(const char* name, const char* what) {
  using Handler = grpc::internal::ServerStreamingHandler<DataService, Request, Response>;
  const auto refuse = [what](DataService*, grpc::ServerContext*, const Request*,
                             grpc::ServerWriter<Response>*) {
    return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, Cat("this server has no ", what));
  };
  AddMethod(new RpcServiceMethod(name, RpcMethod::SERVER_STREAMING, new Handler(refuse, this)));
}

void DataService::AddReads() {
  AddStreaming<data::ReadRowsRequest, grpc::ByteBuffer>(
      METHOD("ReadRows"), Method::kReadRows,
      [](DataService* self, grpc::ServerContext* context, const data::ReadRowsRequest& request,
         grpc::ServerWriter<grpc::ByteBuffer>* writer, size_t* sent) {
        ReadRowsCall call(self->tables_, self->authentication_, &self->streams_,
                          self->monitor_->rows(), context, writer);
        const absl::Status status = call.Run(request);
        *sent = call.bytes_sent();
        return status;
      });
  AddStreaming<data::SampleRowKeysRequest, data::SampleRowKeysResponse>(
      METHOD("SampleRowKeys"), Method::kSampleRowKeys,
      [](DataService* self, grpc::ServerContext* context, const data::SampleRowKeysRequest& request,
         grpc::ServerWriter<data::SampleRowKeysResponse>* writer, size_t* sent) -> absl::Status {
        std::vector<data::SampleRowKeysResponse> responses;
        SERVER_RETURN_IF_ERROR(self->handlers_.SampleRowKeys(*context, request, &responses));
        for (const data::SampleRowKeysResponse& response : responses) {
          if (!writer->Write(response)) break;  // the client has gone
          *sent += response.ByteSizeLong();
        }
        return absl::OkStatus();
      });
}

absl::Status DataService::MutateRows(DataService* self, grpc::ServerContext* context,
                                     const grpc::ByteBuffer& request,
                                     grpc::ServerWriter<grpc::ByteBuffer>* writer, size_t* sent) {
  grpc::Slice bytes;
  if (!request.TrySingleSlice(&bytes).ok() && !request.DumpToSingleSlice(&bytes).ok()) {
    return absl::InternalError("the request cannot be read");
  }
  std::string response;
  SERVER_RETURN_IF_ERROR(self->handlers_.MutateRows(
      *context, std::string_view(reinterpret_cast<const char*>(bytes.begin()), bytes.size()),
      &response));
  *sent = response.size();
  writer->WriteLast(ToByteBuffer(std::move(response)), grpc::WriteOptions());
  return absl::OkStatus();
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
