// What the status page and the metrics show.
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"

#include "bigtable/statistics.h"

#include "server/http_fixture.h"

namespace bigtable::server {
namespace {

using testing::HasSubstr;
using testing::Not;

nlohmann::json ByName(const nlohmann::json& list, const std::string& name) {
  for (const nlohmann::json& item : list) {
    if (item["name"] == name) return item;
  }
  return {};
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
  EXPECT_THAT(metrics, HasSubstr(prefix + "change_streams 0\n"));
  EXPECT_THAT(metrics, HasSubstr(prefix + "refused_change_streams_total{reason=\"too_many\"} 0\n"));
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

}  // namespace
}  // namespace bigtable::server
