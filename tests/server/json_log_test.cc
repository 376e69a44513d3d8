#include "server/monitor/json_log.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"

#include "server/options.h"
#include "server/server.h"
#include <nlohmann/json.hpp>

namespace bigtable::server {
namespace {

namespace admin = google::bigtable::admin::v2;

std::string Written(const std::function<void(JsonLog*)>& write) {
  std::FILE* const file = std::tmpfile();
  JsonLog log(file);
  write(&log);
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST(JsonLogTest, WritesAnObjectALine) {
  const absl::Time time = absl::FromUnixMicros(1'767'323'045'678'901);
  EXPECT_EQ(Written([&](JsonLog* log) {
              log->Send(LogSeverity::kWarning, time, "a \"quoted\" \x01 name");
              log->Send(LogSeverity::kError, time, "not UTF-8: \xff");
            }),
            "{\"time\":\"2026-01-02T03:04:05.678901Z\",\"severity\":\"WARNING\","
            "\"message\":\"a \\\"quoted\\\" \\u0001 name\"}\n"
            "{\"time\":\"2026-01-02T03:04:05.678901Z\",\"severity\":\"ERROR\","
            "\"message\":\"not UTF-8: \xef\xbf\xbd\"}\n");
}

TEST(JsonLogTest, LeavesOutWhatIsEmpty) {
  nlohmann::json line = nlohmann::json::parse(Written([](JsonLog* log) {
    log->Write(LogSeverity::kInfo, "call", {{"caller", ""}, {"code", "OK"}},
               absl::Microseconds(1500));
  }));
  EXPECT_TRUE(line.contains("time"));
  line.erase("time");
  EXPECT_EQ(line.dump(), R"({"code":"OK","message":"call","milliseconds":1.5,"severity":"INFO"})");
}

grpc::Status CreateTable(admin::BigtableTableAdmin::Stub* stub) {
  admin::CreateTableRequest request;
  request.set_parent("projects/local/instances/local");
  request.set_table_id("t");
  grpc::ClientContext context;
  admin::Table table;
  return stub->CreateTable(&context, request, &table);
}

// What a server writes to the standard error in its life, as JSON.
TEST(JsonLogTest, HasWhatTheServerAndTheDatabaseDo) {
  std::string name = testing::TempDir() + "bigtable_log_XXXXXX";
  const std::string directory = mkdtemp(name.data());
  ServerOptions options;
  options.directory = directory + "/db";
  options.address = "127.0.0.1:0";
  options.http = "";
  options.log = LogFormat::kJson;
  testing::internal::CaptureStderr();
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
  if (server.ok()) {
    const auto stub = admin::BigtableTableAdmin::NewStub(
        grpc::CreateChannel((*server)->address(), grpc::InsecureChannelCredentials()));
    EXPECT_TRUE(CreateTable(stub.get()).ok());
    EXPECT_EQ(CreateTable(stub.get()).error_code(), grpc::StatusCode::ALREADY_EXISTS);
    admin::ListTablesRequest list;
    list.set_parent("projects/local/instances/local");
    admin::ListTablesResponse tables;
    grpc::ClientContext context;
    EXPECT_TRUE(stub->ListTables(&context, list, &tables).ok());
    EXPECT_TRUE((*server)->Shutdown().ok());
  }
  std::istringstream lines(testing::internal::GetCapturedStderr());
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_FALSE(std::filesystem::exists(options.directory + "/LOG"));
  std::filesystem::remove_all(directory);

  std::vector<std::string> ours;  // of the server
  int others = 0;                 // of the database
  for (std::string text; std::getline(lines, text);) {
    const nlohmann::json line = nlohmann::json::parse(text, nullptr, false);
    ASSERT_TRUE(line.is_object()) << text;
    const std::string message = line["message"];
    if (message == "admin call") {
      EXPECT_TRUE(line["milliseconds"].is_number()) << text;
      EXPECT_TRUE(line["peer"].is_string()) << text;
      ours.push_back(std::string(line["method"]) + " " + std::string(line["code"]));
    } else if (message == "serving" || message == "ending" || message == "ended") {
      EXPECT_EQ(line["directory"], options.directory);
      ours.push_back(message);
    } else {
      ++others;
    }
  }
  const std::string create = "/google.bigtable.admin.v2.BigtableTableAdmin/CreateTable ";
  EXPECT_EQ(ours, (std::vector<std::string>{"serving", create + "OK", create + "ALREADY_EXISTS",
                                            "ending", "ended"}));
  EXPECT_GT(others, 0);
}

}  // namespace
}  // namespace bigtable::server
