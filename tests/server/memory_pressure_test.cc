// The server while memory runs out: a process of its own under many clients with large requests.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "gtest/gtest.h"

#include "server/server_process.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

namespace proto = google::bigtable::v2;
namespace admin_proto = google::bigtable::admin::v2;

constexpr const char* kPressedTable = "projects/p/instances/i/tables/t";

proto::MutateRowsRequest LargeBatch(const std::string& prefix, int rows, size_t value_bytes) {
  proto::MutateRowsRequest request;
  request.set_table_name(kPressedTable);
  for (int i = 0; i < rows; ++i) {
    proto::MutateRowsRequest::Entry* const entry = request.add_entries();
    entry->set_row_key(absl::StrCat(prefix, ".", i));
    proto::Mutation::SetCell* const cell = entry->add_mutations()->mutable_set_cell();
    cell->set_family_name("f");
    cell->set_timestamp_micros(1000);
    cell->set_value(std::string(value_bytes, 'v'));
  }
  return request;
}

class MemoryPressureTest : public testing::Test {
 protected:
  // gRPC is not ended after the test: that waits for a timer of its client, up to ten seconds.
  static void SetUpTestSuite() { grpc_init(); }

  void Start(const std::string& memory) {
    ASSERT_TRUE(server_.Start(directory_.path() + "/database", {"--http", "", "--memory", memory}));
    admin_proto::CreateTableRequest create;
    create.set_parent("projects/p/instances/i");
    create.set_table_id("t");
    (*create.mutable_table()->mutable_column_families())["f"];
    grpc::ClientContext context;
    admin_proto::Table created;
    ASSERT_TRUE(admin_proto::BigtableTableAdmin::NewStub(server_.Connect())
                    ->CreateTable(&context, create, &created)
                    .ok());
  }
  // Runs `client(i)` in a thread each, and waits for them.
  template <typename Client>
  static void RunClients(int clients, const Client& client) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(clients));
    for (int i = 0; i < clients; ++i) threads.emplace_back([&client, i] { client(i); });
    for (std::thread& thread : threads) thread.join();
  }

  TempDirectory directory_;
  ServerProcess server_;
};

// Each on a connection of its own, so that gRPC holds much of all of them at once.
TEST_F(MemoryPressureTest, BatchesOfManyConnectionsDoNotEndTheServer) {
  Start("64MB");
  RunClients(50, [this](int client) {
    const auto stub = proto::Bigtable::NewStub(server_.Connect());
    for (int round = 0; round < 2; ++round) {
      grpc::ClientContext context;
      const auto reader =
          stub->MutateRows(&context, LargeBatch(absl::StrCat(client, ".", round), 10, 100'000));
      for (proto::MutateRowsResponse response; reader->Read(&response);) {
      }
      reader->Finish();
    }
  });
  EXPECT_TRUE(server_.IsAlive());
  EXPECT_EQ(server_.End(), 0);
}

}  // namespace
}  // namespace bigtable::server
