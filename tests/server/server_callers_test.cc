// Callers that the data API admits, and what they may do.
#include <fstream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "gtest/gtest.h"

#include "server/options.h"
#include "server/server_fixture.h"
#include "support/expect_status.h"

namespace bigtable::server {
namespace {

class ServerCallersTest : public ServerTest {
 protected:
  void SetUp() override {
    const std::string path = directory_.path() + "/tokens";
    std::ofstream(path) << "# callers\nann 0123456789abcdef\nbob fedcba9876543210\n";
    options_.tokens = path;
    options_.administrators = "ann";
    Start();
  }
};

TEST_F(ServerCallersTest, ACallNeedsATokenThatIsKnown) {
  EXPECT_EQ(Set("r", "v").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Set("r", "v", "0123456789abcdeX").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(Set("r", "v", "0123456789abcdef").ok());
}

TEST_F(ServerCallersTest, AccessListsApplyToTheCaller) {
  ASSERT_OK(
      server_->database()->SetAccessList("writers", {.readers = {"bob"}, .writers = {"ann"}}));
  ASSERT_OK(server_->database()->UpdateFamily("t", "f", {.access_list = "writers"}));
  EXPECT_TRUE(Set("r", "v", "0123456789abcdef").ok());
  EXPECT_EQ(Set("r", "v", "fedcba9876543210").error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(ServerCallersTest, AChangeStreamIsForThoseWhoMayReadAllFamilies) {
  ASSERT_OK(server_->database()->SetChangeStream("t", {.retention = absl::Hours(1)}));
  ASSERT_OK(
      server_->database()->SetAccessList("readers", {.readers = {"bob"}, .writers = {"ann"}}));
  ASSERT_OK(server_->database()->UpdateFamily("t", "f", {.access_list = "readers"}));
  ASSERT_TRUE(Set("r", "v", "0123456789abcdef").ok());
  data::ReadChangeStreamRequest request;
  request.set_table_name(kTable);
  request.mutable_start_time()->set_seconds(0);
  request.mutable_end_time()->set_seconds(1);
  data::GenerateInitialChangeStreamPartitionsRequest partitions;
  partitions.set_table_name(kTable);
  const auto codes = [&](const std::string& authorization) {
    const auto authorize = [&](grpc::ClientContext* context) {
      if (!authorization.empty()) context->AddMetadata("authorization", authorization);
    };
    grpc::ClientContext read;
    authorize(&read);
    const auto changes = stub_->ReadChangeStream(&read, request);
    for (data::ReadChangeStreamResponse response; changes->Read(&response);) {
    }
    grpc::ClientContext generate;
    authorize(&generate);
    const auto listed = stub_->GenerateInitialChangeStreamPartitions(&generate, partitions);
    for (data::GenerateInitialChangeStreamPartitionsResponse response; listed->Read(&response);) {
    }
    return std::vector{changes->Finish().error_code(), listed->Finish().error_code()};
  };
  using Code = grpc::StatusCode;
  EXPECT_EQ(codes(""), (std::vector{Code::UNAUTHENTICATED, Code::UNAUTHENTICATED}));
  EXPECT_EQ(codes("Bearer 0123456789abcdef"),
            (std::vector{Code::PERMISSION_DENIED, Code::PERMISSION_DENIED}))
      << "she only writes";
  EXPECT_EQ(codes("Bearer fedcba9876543210"), (std::vector{Code::OK, Code::OK}));
}

TEST(ServerOptionsTest, RefusesCallersOfOtherMachinesThatNeedNotSayWhoTheyAre) {
  const auto check = [](const std::string& address, const std::string& tokens,
                        const std::string& certificate, bool plaintext) {
    ServerOptions options;
    options.directory = "/d";
    options.http = "";
    options.address = address;
    options.tokens = tokens;
    options.certificate = options.key = certificate;
    options.plaintext = plaintext;
    return CheckOptions(options).ok();
  };
  for (const char* local : {"127.0.0.1:1", "127.1.2.3:1", "localhost:1", "[::1]:1"}) {
    EXPECT_TRUE(check(local, "", "", false)) << local;
  }
  for (const char* open :
       {"0.0.0.0:1", "[::]:1", "192.168.0.1:1", "example.com:1", "127.example.com:1", "*:1"}) {
    EXPECT_FALSE(check(open, "", "", false)) << open;
    EXPECT_FALSE(check(open, "", "", true)) << open;
    EXPECT_FALSE(check(open, "", "file", false)) << open;
    EXPECT_FALSE(check(open, "file", "", false)) << open;
    EXPECT_TRUE(check(open, "file", "", true)) << open;
    EXPECT_TRUE(check(open, "file", "file", false)) << open;
  }
}

}  // namespace
}  // namespace bigtable::server
