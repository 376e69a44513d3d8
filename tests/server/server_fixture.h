// A test of the server as a whole, in this process, by gRPC's own client.
#ifndef BIGTABLE_TESTS_SERVER_SERVER_FIXTURE_H_
#define BIGTABLE_TESTS_SERVER_SERVER_FIXTURE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "grpc/grpc.h"
#include "server/options.h"
#include "server/server.h"
#include "support/temp_directory.h"

namespace bigtable::server {

// Passes nothing, and takes seconds with some ten thousand rows.
inline data::RowFilter SlowFilter() {
  data::RowFilter filter;
  for (int i = 0; i < 60; ++i) {
    filter.mutable_interleave()->add_filters()->set_value_regex_filter(
        absl::StrCat(".*(x.*y.*z.*)+", i));
  }
  return filter;
}

class ServerTest : public testing::Test {
 protected:
  static constexpr const char* kTable = "projects/local/instances/local/tables/t";

  // gRPC is not ended between tests: that waits for a timer of its client, up to ten seconds.
  static void SetUpTestSuite() {
    static const bool is_kept = (grpc_init(), true);
    static_cast<void>(is_kept);
  }
  void Start() {
    options_.directory = directory_.path() + "/database";
    options_.address = "127.0.0.1:0";
    options_.http = "";
    if (options_.memory == ServerOptions().memory) options_.memory = 64 << 20;
    absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    TableSchema schema;
    schema.families["f"] = {.gc = GcRule::MaxVersions(1)};
    ASSERT_TRUE(server_->database()->OpenOrCreateTable("t", schema).ok());
    stub_ = Connect();
  }
  // A connection of its own. Without `probes` the client takes little of a stream that is not read.
  std::unique_ptr<data::Bigtable::Stub> Connect(bool probes = true) const {
    grpc::ChannelArguments arguments;
    if (!probes) arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    return data::Bigtable::NewStub(grpc::CreateCustomChannel(
        server_->address(), grpc::InsecureChannelCredentials(), arguments));
  }
  grpc::Status Set(const std::string& row, const std::string& value,
                   const std::string& token = "") {
    data::MutateRowRequest request;
    request.set_table_name(kTable);
    request.set_row_key(row);
    data::Mutation::SetCell* const cell = request.add_mutations()->mutable_set_cell();
    cell->set_family_name("f");
    cell->set_column_qualifier("q");
    cell->set_timestamp_micros(1000);
    cell->set_value(value);
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    data::MutateRowResponse response;
    return stub_->MutateRow(&context, request, &response);
  }
  // Rows of a kilobyte each, by the library.
  void Fill(int rows) {
    absl::StatusOr<Table*> table = server_->database()->OpenTable("t");
    ASSERT_TRUE(table.ok());
    std::vector<RowMutation> mutations;
    for (int i = 0; i < rows; ++i) {
      RowMutation mutation(absl::StrCat("row", 1'000'000 + i));
      mutation.Set("f:q", Timestamp(1000), std::string(1000, static_cast<char>('a' + i % 26)));
      mutations.push_back(std::move(mutation));
    }
    for (const absl::Status& status : (*table)->ApplyBatch(mutations)) ASSERT_TRUE(status.ok());
  }
  static data::ReadRowsRequest All(int64_t limit = 0) {
    data::ReadRowsRequest request;
    request.set_table_name(kTable);
    request.set_rows_limit(limit);
    return request;
  }
  // Counts the rows of a stream.
  static int Drain(grpc::ClientReader<data::ReadRowsResponse>* reader) {
    int rows = 0;
    data::ReadRowsResponse response;
    while (reader->Read(&response)) {
      for (const auto& chunk : response.chunks()) rows += chunk.commit_row() ? 1 : 0;
    }
    return rows;
  }
  template <typename Condition>
  static bool Eventually(const Condition& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return condition();
  }

  TempDirectory directory_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<data::Bigtable::Stub> stub_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_SERVER_SERVER_FIXTURE_H_
