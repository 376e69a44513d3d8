// Compressed requests, and those of the admin API, take no more of the server's memory than others.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grpc/grpc.h"
#include "server/calls/request_limits.h"
#include "server/pressed_server.h"
#include "support/seeds.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMemory = uint64_t{8} << 20;

class CompressedRequestTest : public testing::Test {
 protected:
  // gRPC is not ended after the test: that waits for a timer of its client, up to ten seconds.
  static void SetUpTestSuite() { grpc_init(); }
  void SetUp() override {
    ASSERT_TRUE(server_.Start(
        directory_.path() + "/database",
        {"--http", "127.0.0.1:0", "--memory", std::to_string(kMemory), "--drain", "1"}));
    admin_ = server_.NewAdmin();
    ASSERT_TRUE(PressedServer::CreateTable(admin_.get(), "t").ok());
  }
  void ExpectInBounds() {
    ASSERT_TRUE(server_.IsAlive());
    // The most since it began, with the program's own pages.
    const int64_t most = server_.Of("VmHWM") - server_.Of("RssFile");
    std::printf("resident: %lld kB\n", static_cast<long long>(most));
    if (!kSanitized) {
      EXPECT_LT(most, static_cast<int64_t>(limits_.resident >> 10)) << "kB";
    }
  }
  static void RunClients(int clients, const std::function<void(int)>& client) {
    std::vector<std::thread> threads;
    for (int i = 0; i < clients; ++i) threads.emplace_back(client, i);
    for (std::thread& thread : threads) thread.join();
  }

  const RequestLimits limits_{kMemory, 2048};
  const TempDirectory directory_;
  PressedServer server_;
  std::unique_ptr<PressedServer::Admin> admin_;
};

TEST_F(CompressedRequestTest, IsServedAsOthersAre) {
  const auto stub = server_.NewData();
  for (const size_t bytes : {0, 100, 100'000, 1'900'000}) {
    const std::string row = absl::StrCat("row", bytes);
    const grpc::Status written =
        PressedServer::WriteRow(stub.get(), row, bytes, std::chrono::seconds(30), true);
    EXPECT_TRUE(written.ok()) << written.error_message();
    grpc::Status read;
    EXPECT_EQ(PressedServer::SizeOfRow(stub.get(), row, &read), static_cast<int64_t>(bytes));
  }
  google::bigtable::admin::v2::CreateTableRequest request;
  request.set_parent(PressedServer::kInstance);
  request.set_table_id("compressed");
  for (int i = 0; i < 50; ++i) {
    (*request.mutable_table()->mutable_column_families())[absl::StrCat("family", i)];
  }
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  google::bigtable::admin::v2::Table table;
  const grpc::Status created = admin_->CreateTable(&context, request, &table);
  EXPECT_TRUE(created.ok()) << created.error_message();
  EXPECT_EQ(table.column_families_size(), 50);
  EXPECT_EQ(server_.End(), 0);
}

TEST_F(CompressedRequestTest, AnotherCompressionIsRefused) {
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_DEFLATE);
  google::bigtable::v2::MutateRowRequest request;
  request.set_table_name(PressedServer::kTable);
  request.set_row_key(std::string(1000, 'r'));
  google::bigtable::v2::MutateRowResponse response;
  const grpc::Status status = server_.NewData()->MutateRow(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << status.error_message();
  EXPECT_EQ(server_.End(), 0);
}

// Some hundred kilobytes that become more than the process may have.
TEST_F(CompressedRequestTest, ABombIsRefusedBeforeItIsDecompressed) {
  constexpr size_t kUnpacked = 160'000'000;
  static_assert(kUnpacked > 2 * kMemory + RequestLimits::kOther);
  RunClients(2, [&](int client) {
    const grpc::Status status =
        PressedServer::WriteRow(server_.NewData().get(), absl::StrCat("bomb", client), kUnpacked,
                                std::chrono::seconds(60), true);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_THAT(status.error_message(), HasSubstr("at most 2097152 bytes"));
  });
  ExpectInBounds();
  // Many that may be taken, one by one.
  std::atomic<int> written{0};
  RunClients(30, [&](int client) {
    const grpc::Status status =
        PressedServer::WriteRow(server_.NewData().get(), absl::StrCat("row", client), 2'000'000,
                                std::chrono::seconds(60), true);
    EXPECT_TRUE(status.ok() || PressedServer::MayTryAgain(status)) << status.error_message();
    written += status.ok() ? 1 : 0;
  });
  EXPECT_GT(written.load(), 3);
  ExpectInBounds();
  EXPECT_EQ(server_.End(), 0);
}

// Of the admin API, and of methods that are not served.
TEST_F(CompressedRequestTest, LargeRequestsOfOtherMethodsAreRefused) {
  RunClients(12, [&](int client) {
    google::bigtable::admin::v2::CreateTableRequest request;
    request.set_parent(PressedServer::kInstance);
    request.set_table_id(std::string(30'000'000, 'x'));
    grpc::ClientContext context;
    google::bigtable::admin::v2::Table table;
    const grpc::Status status = server_.NewAdmin()->CreateTable(&context, request, &table);
    EXPECT_TRUE(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED ||
                PressedServer::MayTryAgain(status))
        << client << ": " << status.error_code() << ", " << status.error_message();
    google::bigtable::v2::ExecuteQueryRequest query;
    query.set_instance_name(std::string(30'000'000, 'x'));
    grpc::ClientContext query_context;
    const auto reader = server_.NewData()->ExecuteQuery(&query_context, query);
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
  });
  ExpectInBounds();
  EXPECT_TRUE(PressedServer::CreateTable(admin_.get(), "afterwards").ok());
  EXPECT_EQ(server_.End(), 0);
}

}  // namespace
}  // namespace bigtable::server
