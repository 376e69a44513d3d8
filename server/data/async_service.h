// google.bigtable.v2.Bigtable as gRPC knows it: which methods are run by CallThreads, and which are
// not served.
#ifndef BIGTABLE_SERVER_DATA_ASYNC_SERVICE_H_
#define BIGTABLE_SERVER_DATA_ASYNC_SERVICE_H_

#include <string_view>

#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/status.h"
#include "grpcpp/support/sync_stream.h"
#include "server/convert/errors.h"

namespace bigtable::server {

namespace data = google::bigtable::v2;

// ReadRows, which may be large, is read and written as bytes (convert/row_chunks.h).
using RunByCallThreads =
    data::Bigtable::WithRawMethod_ReadRows<data::Bigtable::WithAsyncMethod_SampleRowKeys<
        data::Bigtable::WithAsyncMethod_MutateRow<data::Bigtable::WithAsyncMethod_MutateRows<
            data::Bigtable::WithAsyncMethod_CheckAndMutateRow<
                data::Bigtable::WithAsyncMethod_ReadModifyWriteRow<
                    data::Bigtable::WithAsyncMethod_PingAndWarm<data::Bigtable::Service>>>>>>>;

class AsyncDataService final : public RunByCallThreads {
 public:
  grpc::Status GenerateInitialChangeStreamPartitions(
      grpc::ServerContext*, const data::GenerateInitialChangeStreamPartitionsRequest*,
      grpc::ServerWriter<data::GenerateInitialChangeStreamPartitionsResponse>*) override {
    return NotServed("change streams");
  }
  grpc::Status ReadChangeStream(grpc::ServerContext*, const data::ReadChangeStreamRequest*,
                                grpc::ServerWriter<data::ReadChangeStreamResponse>*) override {
    return NotServed("change streams");
  }
  grpc::Status PrepareQuery(grpc::ServerContext*, const data::PrepareQueryRequest*,
                            data::PrepareQueryResponse*) override {
    return NotServed("queries in SQL");
  }
  grpc::Status ExecuteQuery(grpc::ServerContext*, const data::ExecuteQueryRequest*,
                            grpc::ServerWriter<data::ExecuteQueryResponse>*) override {
    return NotServed("queries in SQL");
  }

 private:
  static grpc::Status NotServed(std::string_view what) {
    return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, Cat("this server has no ", what));
  }
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_ASYNC_SERVICE_H_
