// The seeds of the targets of the server: requests as clients send them, in sequences that have a
// meaning.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

#include "fuzz/seeds.h"
#include "fuzz/server/methods.h"

namespace bigtable::server {
namespace {

// By method, as text.
using SeedCalls = std::vector<std::pair<std::string_view, std::string>>;

std::string SeedRequest(const FuzzMethod& method, const std::string& text) {
  const std::unique_ptr<google::protobuf::Message> request = method.NewRequest();
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, request.get())) << text;
  return request->SerializeAsString();
}

std::string SeedSequence(absl::Span<const FuzzMethod> methods, const SeedCalls& calls) {
  std::string bytes;
  for (const auto& [name, text] : calls) {
    const FuzzMethod* const method = FindMethod(methods, name);
    EXPECT_NE(method, nullptr) << name;
    if (method == nullptr) continue;
    bytes.push_back(static_cast<char>(method - methods.data()));
    bytes.push_back(1);  // as it is, in one piece
    bytes += AsPiece(SeedRequest(*method, text));
  }
  return bytes;
}

constexpr const char* kOfTable = "table_name: 'projects/p/instances/first1/tables/t' ";
constexpr const char* kNameOfTable = "name: 'projects/p/instances/first1/tables/t' ";

std::string OfTable(const std::string& rest) { return kOfTable + rest; }
std::string NameOfTable(const std::string& rest) { return kNameOfTable + rest; }

// A cell of a MutateRow.
std::string SeedCell(const std::string& family, const std::string& qualifier, int timestamp) {
  return "mutations { set_cell { family_name: '" + family + "' column_qualifier: '" + qualifier +
         "' timestamp_micros: " + std::to_string(timestamp) + " value: 'v' } }";
}

void AddDataCalls(Seeds* seeds) {
  auto& of = (*seeds)["server_data"];
  const auto add = [&](const std::string& name, const SeedCalls& calls) {
    of[name] = SeedSequence(DataMethods(), calls);
  };
  const std::string write = OfTable("row_key: 'a' " + SeedCell("f", "q", -1) +
                                    SeedCell("g", "q", 1000) + SeedCell("g", "q", 2000));
  add("write_and_read",
      {{"MutateRow", write},
       {"ReadRows", OfTable("rows { row_keys: 'a' row_ranges { start_key_open: 'a' "
                            "end_key_closed: 'c' } } rows_limit: 2 request_stats_view: 2")},
       {"ReadRows", OfTable("rows { row_ranges { start_key_open: 'a' } } reversed: true")}});
  add("mutations",
      {{"MutateRow", write},
       {"MutateRow",
        OfTable("row_key: 'a' mutations { delete_from_column { family_name: 'g' column_qualifier: "
                "'q' time_range { start_timestamp_micros: 1000 end_timestamp_micros: 2000 } } } "
                "mutations { delete_from_family { family_name: 'f' } } "
                "mutations { delete_from_row {} }")}});
  add("aggregates",
      {{"MutateRow",
        OfTable("row_key: 'a' mutations { add_to_cell { family_name: 'n' column_qualifier { "
                "raw_value: 'q' } timestamp { raw_timestamp_micros: 1000 } input { int_value: 5 } "
                "} } mutations { merge_to_cell { family_name: 'n' column_qualifier { raw_value: "
                "'q' } timestamp { raw_timestamp_micros: 1000 } input { raw_value: "
                "'\\000\\000\\000\\000\\000\\000\\000\\001' } } } mutations { add_to_cell { "
                "family_name: 'h' column_qualifier { raw_value: 'q' } timestamp { "
                "raw_timestamp_micros: 1000 } input { int_value: 5 } } }")},
       {"ReadRows", OfTable("")}});
  add("many_rows",
      {{"MutateRows", OfTable("entries { row_key: 'a' " + SeedCell("f", "q", 1000) +
                              "} entries { row_key: 'b' " + SeedCell("f", "", -1) +
                              "mutations { delete_from_row {} } } entries { row_key: '' " +
                              SeedCell("f", "q", 1000) + "} entries { row_key: 'c' " +
                              SeedCell("none", "q", 1000) + "}")},
       {"SampleRowKeys", OfTable("")}});
  add("conditions",
      {{"MutateRow", write},
       {"CheckAndMutateRow",
        OfTable("row_key: 'a' predicate_filter { family_name_regex_filter: 'f' } true_" +
                SeedCell("f", "yes", 1000) + "false_" + SeedCell("f", "no", 1000))},
       {"ReadModifyWriteRow",
        OfTable("row_key: 'a' rules { family_name: 'f' column_qualifier: 'q' append_value: 'w' } "
                "rules { family_name: 'f' column_qualifier: 'n' increment_amount: -1 }")}});
  add("filters",
      {{"MutateRow", write},
       {"ReadRows",
        OfTable("filter { chain { filters { cells_per_column_limit_filter: 1 } filters { "
                "interleave { filters { column_qualifier_regex_filter: 'q.*' } filters { chain { "
                "filters { sink: true } filters { block_all_filter: true } } } } } } }")},
       {"ReadRows",
        OfTable("filter { condition { predicate_filter { value_range_filter { "
                "start_value_closed: 'a' } } true_filter { apply_label_transformer: 'l' } "
                "false_filter { strip_value_transformer: true } } }")},
       {"ReadRows",
        OfTable("filter { column_range_filter { family_name: 'g' start_qualifier_open: 'a' "
                "end_qualifier_closed: 'z' } }")},
       {"ReadRows", OfTable("filter { timestamp_range_filter { start_timestamp_micros: 1000 } }")},
       {"ReadRows", OfTable("filter { row_sample_filter: 0.5 }")}});
  add("tables",
      {{"MutateRow", write},
       {"ModifyColumnFamilies", NameOfTable("modifications { id: 'g' drop: true } modifications { "
                                            "id: 'new' create { gc_rule { max_age { seconds: 3600 "
                                            "} } } }")},
       {"ReadRows", OfTable("")},
       {"DropRowRange", NameOfTable("row_key_prefix: 'a'")},
       {"DeleteTable", NameOfTable("")},
       {"MutateRow", write},
       {"CreateTable",
        "parent: 'projects/p/instances/first1' table_id: 't' table { "
        "column_families { key: 'f' value {} } } initial_splits { key: 'm' }"},
       {"MutateRows", OfTable("entries { row_key: 'z' " + SeedCell("f", "q", 1000) + "}")},
       {"ReadRows", OfTable("")}});
  const std::string other = "table_name: 'projects/q/instances/other1/tables/t' ";
  add("other_instance",
      {{"MutateRow", other + "row_key: 'a' " + SeedCell("none", "q", 1000)},
       {"ReadRows", other + "filter { family_name_regex_filter: 'none' }"},
       {"MutateRow", write},
       {"MutateRow", OfTable("row_key: 'a' " + SeedCell("f", "q", 1000) + SeedCell("f", "q", 1))}});
  add("clients", {{"PingAndWarm", "name: 'projects/p/instances/first1' app_profile_id: 'default'"},
                  {"GetClientConfiguration", "name: 'projects/p/instances/first1'"},
                  {"ReadChangeStream", OfTable("")}});
  add("changes",
      {{"UpdateTable",
        "table { name: 'projects/p/instances/first1/tables/t' change_stream_config { "
        "retention_period { seconds: 3600 } } } update_mask { paths: 'change_stream_config' }"},
       {"MutateRow", write},
       {"MutateRow", OfTable("row_key: 'b' mutations { delete_from_row {} }")},
       {"GenerateInitialChangeStreamPartitions", OfTable("")},
       {"ReadChangeStream", OfTable("start_time {} heartbeat_duration { seconds: 1 }")},
       {"ReadChangeStream",
        OfTable("partition { row_range { end_key_open: 'b' } } continuation_tokens { tokens { "
                "partition { row_range { end_key_open: 'b' } } token: 'YWJj' } }")}});
  // Made of bytes: a MutateRow of a SetCell and a read, both with nothing that the input says.
  of["made"] = std::string("\x00\x00\x01\x03\x01\x00\x03\x00\x04\x00\x02\x00\x01\x02", 14);
}

void AddAdminCalls(Seeds* seeds) {
  auto& of = (*seeds)["server_admin"];
  const auto add = [&](const std::string& name, const SeedCalls& calls) {
    of[name] = SeedSequence(AdminMethods(), calls);
  };
  const std::string update =
      "{ name: 'projects/p/instances/first1/tables/t' "
      "deletion_protection: true } update_mask { paths: "
      "'deletion_protection' }";
  add("protected", {{"UpdateTable", "table " + update},
                    {"DeleteTable", NameOfTable("")},
                    {"ModifyColumnFamilies", NameOfTable("modifications { id: 'f' drop: true }")},
                    {"GetTable", NameOfTable("view: 4")},
                    {"GetOperation", "name: 'operations/x'"},
                    {"ListOperations", "name: 'operations' page_size: 1"}});
  add("not_created", {{"CreateTable",
                       "parent: 'projects/p/instances/second' table_id: 'new' table { "
                       "deletion_protection: true } initial_splits { key: 'm' } initial_splits { "
                       "key: 'm' }"}});
  add("table",
      {{"CreateTable",
        "parent: 'projects/p/instances/second' table_id: 'new' table { granularity: MILLIS "
        "column_families { key: 'f' value { gc_rule { union { rules { max_num_versions: 2 } rules "
        "{ intersection { rules { max_age { seconds: 60 nanos: 1500 } } rules { max_num_versions: "
        "1 } } } } } } } } initial_splits { key: 'a' } initial_splits { key: 'b' }"},
       {"ListTables", "parent: 'projects/p/instances/second' view: 4 page_size: 1"},
       {"GetTable", "name: 'projects/p/instances/second/tables/new'"},
       {"ModifyColumnFamilies",
        "name: 'projects/p/instances/second/tables/new' modifications { id: 'f' update { gc_rule { "
        "max_num_versions: 1 } } update_mask { paths: 'gc_rule' } } modifications { id: 'n' create "
        "{ value_type { aggregate_type { sum {} input_type { int64_type {} } } } } }"},
       {"DropRowRange",
        "name: 'projects/p/instances/second/tables/new' delete_all_data_from_table: true"},
       {"GenerateConsistencyToken", "name: 'projects/p/instances/second/tables/new'"},
       {"CheckConsistency",
        "name: 'projects/p/instances/second/tables/new' consistency_token: "
        "'consistent:projects/p/instances/second/tables/new'"},
       {"DeleteTable", "name: 'projects/p/instances/second/tables/new'"}});
  add("instance",
      {{"CreateInstance",
        "parent: 'projects/p' instance_id: 'second' instance { display_name: 'i' labels { key: 'k' "
        "value: 'v' } } clusters { key: 'second-c1' value { location: 'projects/p/locations/z' "
        "serve_nodes: 3 } }"},
       {"GetInstance", "name: 'projects/p/instances/second'"},
       {"ListInstances", "parent: 'projects/p'"},
       {"UpdateInstance", "name: 'projects/p/instances/second' display_name: 'j' type: 2"},
       {"PartialUpdateInstance",
        "instance { name: 'projects/p/instances/second' labels { key: 'l' "
        "value: 'w' } } update_mask { paths: 'labels' }"},
       {"DeleteInstance", "name: 'projects/p/instances/second'"},
       {"DeleteInstance", "name: 'projects/q/instances/other1'"}});
  add("clusters",
      {{"CreateCluster",
        "parent: 'projects/p/instances/first1' cluster_id: 'second-c1' cluster { location: "
        "'projects/p/locations/z' cluster_config { cluster_autoscaling_config { autoscaling_limits "
        "{ min_serve_nodes: 1 max_serve_nodes: 5 } autoscaling_targets { cpu_utilization_percent: "
        "50 } } } }"},
       {"GetCluster", "name: 'projects/p/instances/first1/clusters/second-c1'"},
       {"ListClusters", "parent: 'projects/p/instances/-'"},
       {"UpdateCluster", "name: 'projects/p/instances/first1/clusters/first1-c1' serve_nodes: 3"},
       {"PartialUpdateCluster",
        "cluster { name: 'projects/p/instances/first1/clusters/second-c1' serve_nodes: 2 } "
        "update_mask { paths: 'serve_nodes' paths: 'cluster_config' }"},
       {"DeleteCluster", "name: 'projects/p/instances/first1/clusters/second-c1'"}});
  add("app_profiles",
      {{"CreateAppProfile",
        "parent: 'projects/p/instances/first1' app_profile_id: 'a' app_profile { "
        "single_cluster_routing { cluster_id: 'first1-c1' } } ignore_warnings: true"},
       {"GetAppProfile", "name: 'projects/p/instances/first1/appProfiles/a'"},
       {"ListAppProfiles", "parent: 'projects/p/instances/-' page_size: 1 page_token: 'a'"},
       {"UpdateAppProfile",
        "app_profile { name: 'projects/p/instances/first1/appProfiles/a' description: 'd' } "
        "update_mask { paths: 'description' }"},
       {"DeleteAppProfile", "name: 'projects/p/instances/first1/appProfiles/a'"}});
  add("not_served", {{"CreateBackup", "parent: 'projects/p/instances/first1/clusters/first1-c1'"},
                     {"GetIamPolicy", "resource: 'projects/p/instances/first1/tables/t'"}});
}

void AddMutateRowsRequests(Seeds* seeds) {
  auto& of = (*seeds)["server_mutate_rows"];
  const FuzzMethod& method = *FindMethod(DataMethods(), "MutateRows");
  const std::string plain = SeedRequest(
      method, OfTable("app_profile_id: 'a' entries { row_key: 'r' " + SeedCell("f", "q", -1) +
                      SeedCell("f", "", 1000) + "mutations { delete_from_row {} } }"));
  of["plain"] = WithForm(0, plain);
  of["pieces"] =
      WithForm(2, AsPiece(plain.substr(0, 10)) + AsPiece(plain.substr(10, 50)) + plain.substr(60));
  of["other"] = WithForm(
      0, SeedRequest(method, OfTable("entries { row_key: 'r' mutations { add_to_cell { "
                                     "family_name: 'n' column_qualifier { raw_value: 'q' } "
                                     "timestamp { raw_timestamp_micros: 1000 } input { int_value: "
                                     "5 } } } idempotency { token: 't' } }")) +
             "\x7a\x01x");  // and an unknown field
}

void AddMessagesOfReads(Seeds* seeds) {
  google::bigtable::v2::RowFilter filter;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "chain { filters { family_name_regex_filter: 'f' } filters { interleave { filters { "
      "column_qualifier_regex_filter: 'q.*' } filters { condition { predicate_filter { "
      "value_range_filter { start_value_closed: 'a' } } true_filter { cells_per_row_limit_filter: "
      "1 } } } } } }",
      &filter));
  (*seeds)["server_filter"]["chain"] = WithForm(1, filter.SerializeAsString());
  google::bigtable::v2::ReadRowsResponse response;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "chunks { row_key: 'a' family_name { value: 'f' } qualifier { value: 'q' } timestamp_micros: "
      "1000 labels: 'l' value: 'v' value_size: 2 } chunks { value: 'w' } chunks { qualifier { "
      "value: 'r' } value: 'v' } chunks { reset_row: true } chunks { row_key: 'b' family_name { "
      "value: 'f' } qualifier {} value: 'v' commit_row: true } last_scanned_row_key: 'c'",
      &response));
  (*seeds)["server_row_chunks"]["two"] =
      WithForm(8, std::string(1, '\0') + AsPiece(response.SerializeAsString()));
  (*seeds)["server_row_chunks"]["reset"] =
      WithForm(10, std::string(1, '\4') + AsPiece(response.SerializeAsString()));
}

// As the target takes it: a site, and pieces.
std::string SeedPage(char site, const std::vector<std::string_view>& pieces) {
  std::string bytes(1, site);
  for (const std::string_view piece : pieces) bytes += AsPiece(piece);
  return bytes;
}

void AddPages(Seeds* seeds) {
  auto& of = (*seeds)["server_http"];
  of["status"] = SeedPage(0, {"GET", "/status.json", "", "", "", "table", "t", "epoch", "1", "from",
                              "-5", "since", "9"});
  of["metrics"] = SeedPage(2, {"GET", "/metrics", "localhost:80", "", ""});
  of["page"] = SeedPage(7, {"HEAD", "/", "127.0.0.1", "", ""});
  of["health"] = SeedPage(1, {"GET", "/healthz", "", "", ""});
  of["basic"] = SeedPage(1, {"GET", "/status.json", "", "Basic OmEtdG9rZW4=", ""});
  of["resume"] = SeedPage(5, {"POST", "/resume", "", "", "resume"});
}

TEST(ServerSeedsTest, TheCommittedSeedsAreThoseOfTheRequests) {
  Seeds seeds;
  AddDataCalls(&seeds);
  AddAdminCalls(&seeds);
  AddMutateRowsRequests(&seeds);
  AddMessagesOfReads(&seeds);
  AddPages(&seeds);
  CompareSeeds(seeds);
}

}  // namespace
}  // namespace bigtable::server
