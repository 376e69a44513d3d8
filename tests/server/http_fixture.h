// A test of the status page of a server in this process.
#ifndef BIGTABLE_TESTS_SERVER_HTTP_FIXTURE_H_
#define BIGTABLE_TESTS_SERVER_HTTP_FIXTURE_H_

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <httplib.h>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"

#include "bigtable/schema.h"

#include "server/options.h"
#include "server/server.h"
#include <nlohmann/json.hpp>

namespace bigtable::server {

class HttpTest : public testing::Test {
 protected:
  static constexpr const char* kServedTable = "projects/local/instances/local/tables/t";
  static constexpr const char* kToken = "0123456789abcdef";
  static httplib::Headers ResumeHeaders() { return {{"Bigtable-Action", "resume"}}; }

  void SetUp() override {
    std::string name = testing::TempDir() + "bigtable_http_XXXXXX";
    directory_ = mkdtemp(name.data());
    options_.directory = directory_ + "/db";
    options_.address = "127.0.0.1:0";
    options_.memory = 32 << 20;
  }
  void TearDown() override {
    http_.reset();
    server_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Start() {
    absl::StatusOr<std::unique_ptr<Server>> started = Server::Start(options_);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    const std::string url = server_->http_address();
    ASSERT_FALSE(url.empty());
    // To the address that is loopback in any case.
    port_ = std::stoi(url.substr(url.rfind(':') + 1));
    http_ = std::make_unique<httplib::Client>("127.0.0.1", port_);
    stub_ = google::bigtable::v2::Bigtable::NewStub(
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  }

  void CreateServedTable() {
    TableSchema schema;
    schema.families["f"] = {};
    ASSERT_TRUE(server_->database()->CreateTable("t", schema).ok());
  }

  static google::bigtable::v2::MutateRowRequest MutationOf(const std::string& row,
                                                           const std::string& family = "f") {
    google::bigtable::v2::MutateRowRequest request;
    request.set_table_name(kServedTable);
    request.set_row_key(row);
    auto* const cell = request.add_mutations()->mutable_set_cell();
    cell->set_family_name(family);
    cell->set_column_qualifier("c");
    cell->set_timestamp_micros(1000);
    cell->set_value("value");
    return request;
  }

  grpc::Status Mutate(const google::bigtable::v2::MutateRowRequest& request) {
    grpc::ClientContext context;
    google::bigtable::v2::MutateRowResponse response;
    return stub_->MutateRow(&context, request, &response);
  }

  // Reads all rows; returns the bytes of the responses.
  uint64_t ReadAll() {
    google::bigtable::v2::ReadRowsRequest request;
    request.set_table_name(kServedTable);
    grpc::ClientContext context;
    google::bigtable::v2::ReadRowsResponse response;
    uint64_t bytes = 0;
    const auto reader = stub_->ReadRows(&context, request);
    while (reader->Read(&response)) bytes += response.ByteSizeLong();
    EXPECT_TRUE(reader->Finish().ok());
    return bytes;
  }

  std::string Get(const std::string& path, int code = 200, const httplib::Headers& headers = {}) {
    const httplib::Result result = http_->Get(path, headers);
    if (!result) {
      ADD_FAILURE() << path << ": " << httplib::to_string(result.error());
      return "";
    }
    EXPECT_EQ(result->status, code) << path << ": " << result->body;
    last_headers_ = result->headers;
    return result->body;
  }

  nlohmann::json Status(const std::string& query = "") {
    return nlohmann::json::parse(Get("/status.json" + query), nullptr, false);
  }

  std::string WriteFile(const std::string& name, const std::string& content) const {
    std::ofstream(directory_ + "/" + name) << content;
    return directory_ + "/" + name;
  }

  std::string directory_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  int port_ = 0;
  std::unique_ptr<httplib::Client> http_;
  httplib::Headers last_headers_;
  std::unique_ptr<google::bigtable::v2::Bigtable::Stub> stub_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_SERVER_HTTP_FIXTURE_H_
