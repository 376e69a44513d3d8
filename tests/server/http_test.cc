#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <httplib.h>
#include <map>
#include <memory>
#include <netinet/in.h>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"

#include "bigtable/schema.h"
#include "bigtable/statistics.h"

#include "server/options.h"
#include "server/server.h"
#include <nlohmann/json.hpp>

namespace bigtable::server {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kServedTable = "projects/local/instances/local/tables/t";
constexpr const char* kToken = "0123456789abcdef";
const httplib::Headers kResumeHeaders = {{"Bigtable-Action", "resume"}};

class HttpTest : public testing::Test {
 protected:
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

nlohmann::json ByName(const nlohmann::json& list, const std::string& name) {
  for (const nlohmann::json& item : list) {
    if (item["name"] == name) return item;
  }
  return {};
}

TEST_F(HttpTest, ThePageIsOneDocumentThatNamesNoOtherHost) {
  Start();
  const std::string page = Get("/");
  EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr("new HeatMap()"));
  EXPECT_THAT(page, HasSubstr("--background:"));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
  EXPECT_EQ(last_headers_.find("Content-Type")->second, "text/html; charset=utf-8");
  EXPECT_THAT(last_headers_.find("Content-Security-Policy")->second,
              HasSubstr("default-src 'none'"));
}

TEST_F(HttpTest, MetricsCountCallsByMethodAndCode) {
  Start();
  CreateServedTable();
  uint64_t request_bytes = 0;
  for (int i = 0; i < 3; ++i) {
    const auto request = MutationOf("row" + std::to_string(i));
    request_bytes += request.ByteSizeLong();
    ASSERT_TRUE(Mutate(request).ok());
  }
  const auto bad = MutationOf("row", "none");
  request_bytes += bad.ByteSizeLong();
  ASSERT_EQ(Mutate(bad).error_code(), grpc::StatusCode::NOT_FOUND);
  const uint64_t response_bytes = ReadAll();

  const std::string metrics = Get("/metrics");
  EXPECT_THAT(last_headers_.find("Content-Type")->second, HasSubstr("version=0.0.4"));
  const std::string prefix = "\nbigtable_grpc_";
  const auto method = [](const std::string& name) { return "{method=\"" + name + "\""; };
  EXPECT_THAT(metrics,
              HasSubstr(prefix + "calls_total" + method("MutateRow") + ",code=\"OK\"} 3\n"));
  EXPECT_THAT(metrics,
              HasSubstr(prefix + "calls_total" + method("MutateRow") + ",code=\"NOT_FOUND\"} 1\n"));
  EXPECT_THAT(metrics,
              HasSubstr(prefix + "call_duration_seconds_count" + method("MutateRow") + "} 4\n"));
  EXPECT_THAT(metrics, HasSubstr(prefix + "call_duration_seconds_bucket" + method("MutateRow") +
                                 ",le=\"+Inf\"} 4\n"));
  EXPECT_THAT(metrics, HasSubstr(prefix + "request_bytes_total" + method("MutateRow") + "} " +
                                 std::to_string(request_bytes) + "\n"));
  EXPECT_THAT(metrics, HasSubstr(prefix + "response_bytes_total" + method("ReadRows") + "} " +
                                 std::to_string(response_bytes) + "\n"));
  EXPECT_THAT(metrics, HasSubstr(prefix + "streams{state=\"open\"} 0\n"));
  EXPECT_THAT(metrics, HasSubstr(prefix + "healthy 1\n"));
  // The engine's.
  EXPECT_THAT(metrics, HasSubstr("\nbigtable_calls_total{table=\"t\",call=\"apply\"} 4\n"));
}

// Every line is a comment or a sample, and no metric is declared twice.
TEST_F(HttpTest, MetricsAreWellFormed) {
  Start();
  CreateServedTable();
  ASSERT_TRUE(Mutate(MutationOf("row")).ok());
  ReadAll();
  std::istringstream lines(Get("/metrics"));
  std::map<std::string, int> types;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) ++types[line.substr(7, line.find(' ', 7) - 7)];
    if (line.starts_with("# ")) continue;
    const size_t space = line.rfind(' ');
    ASSERT_NE(space, std::string::npos) << line;
    char* end = nullptr;
    std::strtod(line.c_str() + space + 1, &end);
    EXPECT_EQ(*end, '\0') << line;
    EXPECT_THAT(line, testing::StartsWith("bigtable_"));
  }
  EXPECT_GT(types.size(), 50u);
  for (const auto& [name, count] : types) EXPECT_EQ(count, 1) << name;
}

TEST_F(HttpTest, CallsOfTheAdminServicesAreCounted) {
  Start();
  const auto admin = google::bigtable::admin::v2::BigtableTableAdmin::NewStub(
      grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  google::bigtable::admin::v2::GetTableRequest request;
  request.set_name(kServedTable);
  grpc::ClientContext context;
  google::bigtable::admin::v2::Table table;
  ASSERT_EQ(admin->GetTable(&context, request, &table).error_code(), grpc::StatusCode::NOT_FOUND);
  const nlohmann::json method = ByName(Status()["methods"], "Admin");
  EXPECT_EQ(method["calls"], 1);
  EXPECT_EQ(method["codes"]["NOT_FOUND"], 1);
  EXPECT_EQ(method["request_bytes"], request.ByteSizeLong());
}

TEST_F(HttpTest, TheStatusIsThatOfTheDatabase) {
  Start();
  CreateServedTable();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Mutate(MutationOf("row" + std::to_string(i))).ok());
  ASSERT_TRUE(server_->database()->SplitTablet("t", "row5").ok());
  ASSERT_TRUE(server_->database()->Flush("t").ok());
  ReadAll();
  const nlohmann::json status = Status();
  const DatabaseStatistics statistics = server_->database()->Statistics();
  EXPECT_EQ(status["totals"]["rows_written"], statistics.rows_written);
  EXPECT_EQ(status["memory"]["limit"], statistics.memory_limit);
  EXPECT_EQ(status["stall"]["reason"], "none");
  EXPECT_EQ(status["problems"].size(), 0u);
  EXPECT_EQ(status["server"]["is_healthy"], true);
  EXPECT_EQ(status["server"]["address"], server_->address());

  const nlohmann::json table = ByName(status["tables"], "t");
  EXPECT_EQ(table["tablets"], 2);
  EXPECT_EQ(table["rows_read"], 20);
  EXPECT_EQ(table["disk_bytes"], statistics.storage.at("t").disk_bytes);
  EXPECT_GT(table["disk_bytes"], 0);
  std::vector<std::string> ends;
  for (const nlohmann::json& tablet : status["tablets"]) {
    if (tablet["table"] == "t") ends.push_back(tablet["end"].dump());
  }
  EXPECT_EQ(ends, std::vector<std::string>({"\"row5\"", "null"}));

  std::vector<std::string> kinds;
  for (const nlohmann::json& event : status["events"]) {
    if (event["place"]["table"] == "t") kinds.push_back(event["kind"]);
  }
  EXPECT_THAT(kinds, testing::Contains("flush"));
  EXPECT_THAT(kinds, testing::Contains("tablet"));
}

TEST_F(HttpTest, TheHeatIsOfRowsThatWereReadAndWritten) {
  Start();
  CreateServedTable();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Mutate(MutationOf("row" + std::to_string(i))).ok());
  ReadAll();
  const nlohmann::json heat = Status("?table=t")["heat"];
  EXPECT_EQ(heat["tables"], nlohmann::json::array({"t"}));
  int64_t reads = 0;
  int64_t writes = 0;
  for (const nlohmann::json& column : heat["columns"]) {
    for (const nlohmann::json& cell : column["reads"]) reads += cell.get<int64_t>();
    for (const nlohmann::json& cell : column["writes"]) writes += cell.get<int64_t>();
  }
  EXPECT_EQ(reads, 20);
  EXPECT_EQ(writes, 20);
  // With the epoch and a later column, nothing is sent again.
  const std::string epoch = heat["epoch"].dump();
  EXPECT_EQ(Status("?table=t&from=99999999999&epoch=" + epoch)["heat"]["columns"].size(), 0u);
}

TEST_F(HttpTest, KeysThatAreNotTextAreEscaped) {
  Start();
  CreateServedTable();
  const std::string row = std::string("\xff\0<", 3);
  ASSERT_TRUE(Mutate(MutationOf(row)).ok());
  ASSERT_TRUE(server_->database()->SplitTablet("t", row).ok());
  const nlohmann::json status = Status();
  ASSERT_FALSE(status.is_discarded());
  std::vector<std::string> begins;
  for (const nlohmann::json& tablet : status["tablets"]) begins.push_back(tablet["begin"]);
  EXPECT_THAT(begins, testing::Contains("\\xff\\x00<"));
}

TEST_F(HttpTest, HealthzSaysWhyTheServerCannotServe) {
  Start();
  EXPECT_EQ(Get("/healthz"), "ok\n");
  std::filesystem::rename(options_.directory, options_.directory + ".gone");
  EXPECT_THAT(Get("/healthz", 503), HasSubstr("is not there any more"));
  EXPECT_THAT(Get("/healthz/writes", 503), HasSubstr("is not there any more"));
  EXPECT_EQ(Status()["server"]["is_healthy"], false);
  EXPECT_THAT(Get("/metrics"), HasSubstr("\nbigtable_grpc_healthy 0\n"));
  EXPECT_THAT(Get("/metrics"), HasSubstr("\nbigtable_grpc_serves_reads 0\n"));
  std::filesystem::rename(options_.directory + ".gone", options_.directory);
  EXPECT_EQ(Get("/healthz"), "ok\n");
}

TEST_F(HttpTest, OtherRequestsAreRefused) {
  Start();
  Get("/other", 404);
  EXPECT_THAT(Get("/status.json?epoch=x", 400), HasSubstr("epoch=\"x\""));
  const httplib::Result posted = http_->Post("/", "body", "text/plain");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 405);
  EXPECT_EQ(posted->get_header_value("Allow"), "GET, HEAD");
}

TEST_F(HttpTest, OnLoopbackOnlyNamesOfThisMachineAreAnswered) {
  Start();
  for (const char* host : {"localhost", "localhost:1234", "127.0.0.1", "[::1]", "[::1]:80"}) {
    Get("/status.json", 200, {{"Host", host}});
  }
  for (const char* host : {"example.com", "127.0.0.1.example.com:80", "10.0.0.1"}) {
    EXPECT_THAT(Get("/status.json", 403, {{"Host", host}}), HasSubstr(host));
  }
}

TEST_F(HttpTest, OtherMachinesNeedAToken) {
  options_.http = "0.0.0.0:0";
  options_.plaintext = true;
  options_.tokens = WriteFile("tokens", std::string("user ") + kToken + "\n");
  Start();
  for (const char* path : {"/", "/status.json", "/metrics"}) {
    Get(path, 401);
    EXPECT_THAT(last_headers_.find("WWW-Authenticate")->second, HasSubstr("Basic"));
    Get(path, 401, {{"Authorization", "Bearer 0123456789abcdeX"}});
    Get(path, 401, {{"Authorization", "Bearer "}});
    Get(path, 401, {{"Authorization", "Basic !"}});
    Get(path, 200, {{"Authorization", std::string("Bearer ") + kToken}});
    Get(path, 200, {httplib::make_basic_authentication_header("anybody", kToken)});
    Get(path, 200, {{"Authorization", std::string("Bearer ") + kToken}, {"Host", "example.com"}});
  }
}

// The page shows row keys, and other users of this machine are no callers.
TEST_F(HttpTest, WithTokensThisMachineNeedsOneToo) {
  options_.tokens = WriteFile("tokens", std::string("user ") + kToken + "\n");
  Start();
  EXPECT_THAT(server_->http_address(), testing::StartsWith("http://"));
  for (const char* path : {"/", "/status.json", "/metrics"}) {
    Get(path, 401);
    EXPECT_THAT(last_headers_.find("WWW-Authenticate")->second, HasSubstr("Basic"));
    Get(path, 401, {{"Authorization", "Bearer 0123456789abcdeX"}});
    Get(path, 200, {{"Authorization", std::string("Bearer ") + kToken}});
    Get(path, 200, {httplib::make_basic_authentication_header("anybody", kToken)});
    Get(path, 403, {{"Authorization", std::string("Bearer ") + kToken}, {"Host", "example.com"}});
  }
}

// As gRPC's health service: who looks after the machine need not be a caller.
TEST_F(HttpTest, HealthzNeedsNoTokenAndThenGivesNoReason) {
  options_.tokens = WriteFile("tokens", std::string("user ") + kToken + "\n");
  Start();
  EXPECT_EQ(Get("/healthz"), "ok\n");
  std::filesystem::rename(options_.directory, options_.directory + ".gone");
  EXPECT_EQ(Get("/healthz", 503), "not healthy\n");
  EXPECT_THAT(Get("/healthz", 503, {{"Authorization", std::string("Bearer ") + kToken}}),
              HasSubstr("is not there any more"));
  std::filesystem::rename(options_.directory + ".gone", options_.directory);
}

TEST_F(HttpTest, ThePageResumesTheDatabase) {
  Start();
  const httplib::Result resumed = http_->Post("/resume", kResumeHeaders);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->status, 200);
  EXPECT_EQ(resumed->body, "resumed\n");
  const httplib::Result refused = http_->Post("/resume");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 403);
  EXPECT_EQ(Status()["can_resume"], false);
}

TEST_F(HttpTest, TheStatusHasWhatTheProcessAndItsDiskHaveLeft) {
  Start();
  CreateServedTable();
  ASSERT_TRUE(Mutate(MutationOf("row")).ok());  // by a connection
  const nlohmann::json server = Status()["server"];
  EXPECT_GT(server["disk"]["free_bytes"], 0);
  EXPECT_GE(server["disk"]["total_bytes"], server["disk"]["free_bytes"]);
  EXPECT_GT(server["descriptors"], 10);
  EXPECT_GT(server["descriptor_limit"], server["descriptors"]);
  EXPECT_GE(server["connections"], 1);
  const std::string metrics = Get("/metrics");
  for (const char* name :
       {"open_descriptors", "descriptor_limit", "connections", "disk_free_bytes"}) {
    EXPECT_THAT(metrics, HasSubstr(std::string("\nbigtable_grpc_") + name + " "));
  }
}

TEST_F(HttpTest, TheStatusHasTheVersionAndTheOptions) {
  options_.tokens = WriteFile("tokens", std::string("user ") + kToken + "\n");
  Start();
  http_->set_bearer_token_auth(kToken);
  const std::string text = Get("/status.json");
  EXPECT_THAT(text, Not(HasSubstr(kToken)));
  const nlohmann::json server = nlohmann::json::parse(text)["server"];
  EXPECT_THAT(server["version"].get<std::string>(), testing::MatchesRegex("[0-9]+\\.[0-9.]+"));
  std::map<std::string, std::string> options;
  for (const nlohmann::json& option : server["options"]) options[option[0]] = option[1];
  EXPECT_EQ(options["--memory"], std::to_string(options_.memory));
  EXPECT_EQ(options["--tokens"], options_.tokens);
  EXPECT_EQ(options["memtable_size"], server_->database()->ChangeableOptions()["memtable_size"]);
}

// Errors of clients, and of calls that clients have given up, can be told apart over time.
TEST_F(HttpTest, TheHistoryHasTheCodesOfEachSecond) {
  Start();
  CreateServedTable();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Mutate(MutationOf("row")).ok());
  for (int i = 0; i < 2; ++i) ASSERT_FALSE(Mutate(MutationOf("row", "none")).ok());
  std::map<std::string, int> codes;
  for (int i = 0; i < 100 && codes["OK"] + codes["NOT_FOUND"] < 5; ++i) {
    codes.clear();
    const nlohmann::json status = Status();
    for (const nlohmann::json& second : status["history"]) {
      for (const auto& [code, count] : second["codes"].items()) codes[code] += count.get<int>();
    }
    absl::SleepFor(absl::Milliseconds(50));
  }
  EXPECT_EQ(codes, (std::map<std::string, int>{{"NOT_FOUND", 2}, {"OK", 3}}));
}

TEST_F(HttpTest, OnLoopbackCertificatesAreShownByTlsAlone) {
  const std::string certificate = directory_ + "/certificate";
  const std::string key = directory_ + "/key";
  const std::string command =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=ann -out " + certificate +
      " -keyout " + key + " 2> /dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "the program openssl is not installed";
  options_.certificate = options_.client_authority = certificate;
  options_.key = key;
  options_.administrators = "ann";
  Start();
  EXPECT_THAT(server_->http_address(), testing::StartsWith("https://"));
  httplib::SSLClient without("127.0.0.1", port_);
  without.enable_server_certificate_verification(false);
  EXPECT_FALSE(without.Get("/status.json"));
  httplib::SSLClient ann("127.0.0.1", port_, certificate, key);
  ann.enable_server_certificate_verification(false);
  const httplib::Result status = ann.Get("/status.json");
  ASSERT_TRUE(status) << httplib::to_string(status.error());
  EXPECT_EQ(status->status, 200);
  const httplib::Result resumed = ann.Post("/resume", kResumeHeaders);
  ASSERT_TRUE(resumed);
  EXPECT_EQ(resumed->status, 200) << resumed->body;
}

TEST_F(HttpTest, OtherMachinesGetTls) {
  const std::string certificate = directory_ + "/certificate";
  const std::string key = directory_ + "/key";
  const std::string command =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -out " + certificate +
      " -keyout " + key + " 2> /dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "the program openssl is not installed";
  options_.http = "0.0.0.0:0";
  options_.certificate = certificate;
  options_.key = key;
  options_.tokens = WriteFile("tokens", std::string("user ") + kToken + "\n");
  Start();
  EXPECT_THAT(server_->http_address(), testing::StartsWith("https://"));
  httplib::SSLClient client("127.0.0.1", port_);
  client.enable_server_certificate_verification(false);
  const httplib::Result refused = client.Get("/metrics");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 401);
  client.set_bearer_token_auth(kToken);
  const httplib::Result answered = client.Get("/metrics");
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->status, 200);
  // In plain text there is nothing.
  EXPECT_FALSE(http_->Get("/healthz"));
}

TEST_F(HttpTest, CanBeTurnedOff) {
  options_.http = "";
  absl::StatusOr<std::unique_ptr<Server>> started = Server::Start(options_);
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_EQ((*started)->http_address(), "");
}

TEST_F(HttpTest, APortThatIsTakenIsReported) {
  Start();
  ServerOptions second = options_;
  second.directory = directory_ + "/db2";
  second.http = "127.0.0.1:" + std::to_string(port_);
  const absl::Status status = Server::Start(second).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr(second.http));
}

TEST_F(HttpTest, AnAddressForOtherMachinesIsCheckedAsThatOfGrpc) {
  const auto refusal = [this](const std::string& http) {
    ServerOptions options = options_;
    options.http = http;
    return std::string(CheckOptions(options).message());
  };
  EXPECT_EQ(refusal("127.0.0.1:0"), "");
  EXPECT_EQ(refusal(""), "");
  EXPECT_THAT(refusal("nonsense"), HasSubstr("--http nonsense: must be HOST:PORT"));
  EXPECT_THAT(refusal("unix:/tmp/x"), HasSubstr("must be HOST:PORT"));
  EXPECT_THAT(refusal("0.0.0.0:80"), HasSubstr("--http 0.0.0.0:80 can be reached from other"));
  options_.plaintext = true;
  EXPECT_THAT(refusal("0.0.0.0:80"), HasSubstr("callers must say who they are"));
  options_.tokens = "file";
  EXPECT_EQ(refusal("0.0.0.0:80"), "");
}

// Clients that connect and say nothing do not keep others out for longer than their time.
TEST_F(HttpTest, SilentClientsLoseTheirConnections) {
  Start();
  std::vector<int> sockets;
  for (int i = 0; i < 8; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port_));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    sockets.push_back(fd);
  }
  http_->set_read_timeout(20);
  EXPECT_EQ(Get("/healthz"), "ok\n");
  const absl::Time began = absl::Now();
  EXPECT_TRUE(server_->Shutdown().ok());
  EXPECT_LT(absl::Now() - began, absl::Seconds(10));
  for (const int fd : sockets) close(fd);
}

}  // namespace
}  // namespace bigtable::server
