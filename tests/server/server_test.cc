// The server as a whole: what it keeps, its entries, errors, trailers and sessions.
#include "server/server.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/bigtable/admin/v2/bigtable_instance_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "google/bigtable/v2/response_params.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"

#include "server/data/response_params.h"
#include "server/server_fixture.h"
#include "support/expect_status.h"

namespace bigtable::server {
namespace {

TEST_F(ServerTest, WhatIsAcknowledgedIsFoundAfterARestart) {
  Start();
  ASSERT_TRUE(Set("r", "value").ok());
  EXPECT_OK(server_->Shutdown());
  server_.reset();
  Start();
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, All());
  data::ReadRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.chunks(0).row_key(), "r");
  EXPECT_EQ(response.chunks(0).value(), "value");
}

TEST_F(ServerTest, ARefusedEntryOfMutateRowsChangesNothingAndTheOthersAreApplied) {
  Start();
  data::MutateRowsRequest request;
  request.set_table_name(kTable);
  const auto add = [&](const std::string& row, const std::string& family) {
    data::MutateRowsRequest::Entry* const entry = request.add_entries();
    entry->set_row_key(row);
    for (const std::string& name : {std::string("f"), family}) {
      data::Mutation::SetCell* const cell = entry->add_mutations()->mutable_set_cell();
      cell->set_family_name(name);
      cell->set_timestamp_micros(1000);
    }
  };
  add("a", "f");
  add("b", "x");  // no such family
  add("", "f");   // no row
  add("c", "f");
  grpc::ClientContext context;
  const auto reader = stub_->MutateRows(&context, request);
  data::MutateRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  ASSERT_EQ(response.entries_size(), 4);
  EXPECT_EQ(response.entries(0).status().code(), 0);
  EXPECT_EQ(response.entries(1).status().code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
  EXPECT_EQ(response.entries(2).status().code(),
            static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));
  EXPECT_EQ(response.entries(3).status().code(), 0);
  EXPECT_TRUE(reader->Finish().ok());
  grpc::ClientContext read_context;
  EXPECT_EQ(Drain(stub_->ReadRows(&read_context, All()).get()), 2);
}

TEST_F(ServerTest, ATableThatWasCreatedAgainIsFound) {
  Start();
  ASSERT_TRUE(Set("r", "old").ok());
  ASSERT_OK(server_->database()->DeleteTable("t"));
  EXPECT_EQ(Set("r", "none").error_code(), grpc::StatusCode::NOT_FOUND);
  TableSchema schema;
  schema.families["f"] = {};
  ASSERT_OK(server_->database()->CreateTable("t", schema));
  EXPECT_TRUE(Set("r", "new").ok());
  ASSERT_OK(server_->database()->DeleteTable("t"));
  ASSERT_OK(server_->database()->CreateTable("t", schema));
  grpc::ClientContext context;  // the read is the first that meets the new table
  const auto reader = stub_->ReadRows(&context, All());
  EXPECT_EQ(Drain(reader.get()), 0);
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(ServerTest, AnErrorDoesNotNameTheFilesOfTheServer) {
  Start();
  Fill(200);
  ASSERT_TRUE(server_->database()->Flush("t").ok());
  EXPECT_OK(server_->Shutdown());
  server_.reset();
  std::filesystem::path largest;
  for (const auto& file : std::filesystem::directory_iterator(options_.directory + "/sst")) {
    if (largest.empty() || file.file_size() > std::filesystem::file_size(largest)) {
      largest = file.path();
    }
  }
  std::fstream damaged(largest, std::ios::in | std::ios::out | std::ios::binary);
  damaged.seekp(100);
  damaged << std::string(200, '\xff');
  damaged.close();

  testing::internal::CaptureStderr();
  Start();
  grpc::ClientContext context;
  const auto reader = stub_->ReadRows(&context, All());
  Drain(reader.get());
  const grpc::Status status = reader->Finish();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_THAT(status.error_message(), testing::HasSubstr("a file of the database: "));
  EXPECT_THAT(status.error_message(), testing::Not(testing::HasSubstr(directory_.path())));
  EXPECT_THAT(log, testing::HasSubstr("ReadRows has failed: DATA_LOSS: " + largest.string()));
}

// What the metrics of Cloud Bigtable's clients are made of.
TEST_F(ServerTest, ResponsesSayHowLongTheyTookAndWhichClusterTheyAreFrom) {
  Start();
  const auto shown = [](const grpc::ClientContext& context) {
    const auto timing = context.GetServerInitialMetadata().find("server-timing");
    if (timing == context.GetServerInitialMetadata().end()) return std::string("no timing");
    const std::string value(timing->second.data(), timing->second.size());
    EXPECT_THAT(value, testing::MatchesRegex("gfet4t7; dur=[0-9]+"));
    const auto trailer = context.GetServerTrailingMetadata().find(kResponseParamsTrailer);
    if (trailer == context.GetServerTrailingMetadata().end()) return std::string("no cluster");
    data::ResponseParams params;
    EXPECT_TRUE(params.ParseFromString({trailer->second.data(), trailer->second.size()}));
    return absl::StrCat(params.zone_id(), " ", params.cluster_id());
  };
  const auto read = [&](const std::string& table) {
    grpc::ClientContext context;
    data::ReadRowsRequest request = All();
    request.set_table_name(table);
    const auto reader = stub_->ReadRows(&context, request);
    Drain(reader.get());
    static_cast<void>(reader->Finish());
    return shown(context);
  };
  const auto mutate = [&] {
    grpc::ClientContext context;
    data::MutateRowsRequest request;
    request.set_table_name(kTable);
    const auto reader = stub_->MutateRows(&context, request);
    data::MutateRowsResponse response;
    while (reader->Read(&response)) {
    }
    static_cast<void>(reader->Finish());
    return shown(context);
  };
  const auto ping = [&] {
    grpc::ClientContext context;
    data::PingAndWarmRequest request;
    request.set_name("projects/local/instances/local");
    data::PingAndWarmResponse response;
    EXPECT_TRUE(stub_->PingAndWarm(&context, request, &response).ok());
    return shown(context);
  };
  EXPECT_EQ(read("projects/local/instances/other/tables/t"), "no cluster");
  EXPECT_EQ(read(kTable), "local local-c1");
  EXPECT_EQ(mutate(), "local local-c1");
  EXPECT_EQ(ping(), "local local-c1");

  const auto admin_stub = admin::BigtableInstanceAdmin::NewStub(
      grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  admin::CreateClusterRequest create;
  create.set_parent("projects/local/instances/local");
  create.set_cluster_id("a-cluster");
  create.mutable_cluster()->set_location("projects/local/locations/z-1");
  grpc::ClientContext context;
  google::longrunning::Operation operation;
  ASSERT_TRUE(admin_stub->CreateCluster(&context, create, &operation).ok());
  EXPECT_EQ(read(kTable), "z-1 a-cluster");
}

// Newer clients than the API definitions that the server is built with.
TEST_F(ServerTest, ClientsAreToldToUseNoSessions) {
  Start();
  grpc::GenericStub stub(
      grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  const auto call = [&](const std::string& method, const std::string& bytes, std::string* answer) {
    const grpc::Slice slice(bytes);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto unary =
        stub.PrepareUnaryCall(&context, "/google.bigtable.v2.Bigtable/" + method, request, &queue);
    unary->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    unary->Finish(&response, &status, nullptr);
    void* tag;
    bool ok;
    EXPECT_TRUE(queue.Next(&tag, &ok));
    grpc::Slice whole;
    if (answer != nullptr && response.DumpToSingleSlice(&whole).ok()) {
      answer->assign(reinterpret_cast<const char*>(whole.begin()), whole.size());
    }
    return status;
  };
  // {1: "projects/local/instances/local"}, and {2: {}, 3: true}: no session_load.
  const std::string instance = "projects/local/instances/local";
  std::string answer;
  EXPECT_TRUE(call("GetClientConfiguration",
                   std::string("\x0a") + static_cast<char>(instance.size()) + instance, &answer)
                  .ok());
  EXPECT_EQ(answer, std::string("\x12\0\x18\x01", 4));
  EXPECT_EQ(call("GetClientConfiguration", "", nullptr).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  for (const char* method : {"OpenTable", "OpenAuthorizedView", "OpenMaterializedView"}) {
    const grpc::Status status = call(method, "", nullptr);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
    EXPECT_EQ(status.error_message(), "this server has no sessions") << method;
  }
}

}  // namespace
}  // namespace bigtable::server
