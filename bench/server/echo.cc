#include "server/echo.h"

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

#include "common/strings.h"
#include "common/workload.h"
#include "server/load.h"

namespace bench {
namespace {

namespace data = google::bigtable::v2;

class Echo final : public data::Bigtable::Service {
 public:
  explicit Echo(size_t value_size) : values_(value_size) {
    for (int i = 0; i < kBatchRows; ++i) {
      data::MutateRowsResponse::Entry* const entry = mutate_rows_.add_entries();
      entry->set_index(i);
      entry->mutable_status();
    }
    AddRow(Key(0).view(), &one_row_);
    const uint64_t rows = (512 << 10) / one_row_.ByteSizeLong() + 1;  // of a message
    for (uint64_t row = 0; row < kRows; ++row) {
      if (row % rows == 0) scan_.emplace_back();
      AddRow(Key(row).view(), &scan_.back());
    }
  }

  grpc::Status MutateRow(grpc::ServerContext*, const data::MutateRowRequest*,
                         data::MutateRowResponse*) override {
    return grpc::Status::OK;
  }
  grpc::Status MutateRows(grpc::ServerContext*, const data::MutateRowsRequest*,
                          grpc::ServerWriter<data::MutateRowsResponse>* writer) override {
    writer->Write(mutate_rows_);
    return grpc::Status::OK;
  }
  grpc::Status ReadRows(grpc::ServerContext*, const data::ReadRowsRequest* request,
                        grpc::ServerWriter<data::ReadRowsResponse>* writer) override {
    if (request->rows().row_keys_size() == 1) {
      writer->WriteLast(one_row_, grpc::WriteOptions());
      return grpc::Status::OK;
    }
    for (const data::ReadRowsResponse& message : scan_) {
      if (!writer->Write(message)) break;
    }
    return grpc::Status::OK;
  }

 private:
  void AddRow(std::string_view key, data::ReadRowsResponse* response) {
    data::ReadRowsResponse::CellChunk* const chunk = response->add_chunks();
    chunk->set_row_key(std::string(key));
    chunk->mutable_family_name()->set_value(std::string(kFamily));
    chunk->mutable_qualifier()->set_value(std::string(kQualifier));
    chunk->set_timestamp_micros(1000);
    chunk->set_value(std::string(values_.Of(0)));
    chunk->set_commit_row(true);
  }

  const Values values_;
  data::MutateRowsResponse mutate_rows_;
  data::ReadRowsResponse one_row_;
  std::vector<data::ReadRowsResponse> scan_;
};

}  // namespace

absl::Status RunEcho(size_t value_size) {
  // As bigtable-server does, which says why: it is no merit of ours.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  Echo echo(value_size);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&echo);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return absl::UnavailableError("no port to listen on");
  std::printf("echo on 127.0.0.1:%d\n", port);
  std::fflush(stdout);
  server->Wait();  // until SIGTERM ends the process
  return absl::OkStatus();
}

}  // namespace bench
