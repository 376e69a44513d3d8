// Which callers a server lets use the admin services, if it knows them: every caller looks at
// tables and instances, and only administrators change them.
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "google/bigtable/admin/v2/bigtable_instance_admin.grpc.pb.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/longrunning/operations.grpc.pb.h"
#include "google/protobuf/empty.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"

#include "bigtable/schema.h"

#include "grpc/grpc.h"
#include "server/server.h"
#include "support/expect_status.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

using TablesApi = admin::BigtableTableAdmin;
using InstancesApi = admin::BigtableInstanceAdmin;

constexpr const char* kCalledInstance = "projects/local/instances/local";
constexpr const char* kCalledTable = "projects/local/instances/local/tables/t";
constexpr const char* kAdministrator = "0123456789abcdef";
constexpr const char* kOtherCaller = "fedcba9876543210";

class AdminCallersTest : public testing::Test {
 protected:
  // Makes a call with a token, or without one.
  using Call = std::function<grpc::Status(const std::string& token)>;

  static void SetUpTestSuite() {
    static const bool is_kept = (grpc_init(), true);  // its end waits for a timer
    static_cast<void>(is_kept);
  }
  void SetUp() override {
    ServerOptions options;
    options.tokens = directory_.path() + "/tokens";
    std::ofstream(options.tokens) << "ann " << kAdministrator << "\nbob " << kOtherCaller << "\n";
    options.administrators = "ann";
    options.directory = directory_.path() + "/database";
    options.address = "127.0.0.1:0";
    options.http = "";
    options.memory = 64 << 20;
    absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    ASSERT_OK(server_->database()->CreateTable("t", TableSchema{.families = {{"f", {}}}}));
    const auto channel =
        grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    tables_ = TablesApi::NewStub(channel);
    instances_ = InstancesApi::NewStub(channel);
    operations_ = google::longrunning::Operations::NewStub(channel);
  }

  template <typename Stub, typename Request, typename Response>
  static Call Of(Stub* stub,
                 grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                 const Request& request) {
    return [=](const std::string& token) {
      grpc::ClientContext context;
      if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
      Response response;
      return (stub->*method)(&context, request, &response);
    };
  }
  template <typename Request>
  static Request Named(const std::string& name) {
    Request request;
    request.set_name(name);
    return request;
  }
  template <typename Request>
  static Request Under(const std::string& parent) {
    Request request;
    request.set_parent(parent);
    return request;
  }
  // A caller that is not known, one that is no administrator, and one that is.
  static void ExpectCodes(const Call& call, grpc::StatusCode other,
                          grpc::StatusCode administrator) {
    EXPECT_EQ(call("").error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(call("no-token-of-any-caller").error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(call(kOtherCaller).error_code(), other);
    EXPECT_EQ(call(kAdministrator).error_code(), administrator);
  }

  TempDirectory directory_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<TablesApi::Stub> tables_;
  std::unique_ptr<InstancesApi::Stub> instances_;
  std::unique_ptr<google::longrunning::Operations::Stub> operations_;
};

TEST_F(AdminCallersTest, EveryCallerLooksAtTables) {
  using enum grpc::StatusCode;
  ExpectCodes(Of(tables_.get(), &TablesApi::Stub::ListTables,
                 Under<admin::ListTablesRequest>(kCalledInstance)),
              OK, OK);
  ExpectCodes(
      Of(tables_.get(), &TablesApi::Stub::GetTable, Named<admin::GetTableRequest>(kCalledTable)),
      OK, OK);
  ExpectCodes(Of(tables_.get(), &TablesApi::Stub::GenerateConsistencyToken,
                 Named<admin::GenerateConsistencyTokenRequest>(kCalledTable)),
              OK, OK);
  auto check = Named<admin::CheckConsistencyRequest>(kCalledTable);
  check.set_consistency_token(std::string("consistent:") + kCalledTable);
  ExpectCodes(Of(tables_.get(), &TablesApi::Stub::CheckConsistency, check), OK, OK);
}

// Which there are not: the call is let in.
TEST_F(AdminCallersTest, EveryCallerLooksAtInstances) {
  using enum grpc::StatusCode;
  const std::string instance = "projects/local/instances/missing";
  ExpectCodes(Of(instances_.get(), &InstancesApi::Stub::ListInstances,
                 Under<admin::ListInstancesRequest>("projects/local")),
              OK, OK);
  ExpectCodes(Of(instances_.get(), &InstancesApi::Stub::GetInstance,
                 Named<admin::GetInstanceRequest>(instance)),
              NOT_FOUND, NOT_FOUND);
  ExpectCodes(Of(instances_.get(), &InstancesApi::Stub::GetCluster,
                 Named<admin::GetClusterRequest>(instance + "/clusters/c")),
              NOT_FOUND, NOT_FOUND);
  ExpectCodes(Of(instances_.get(), &InstancesApi::Stub::GetAppProfile,
                 Named<admin::GetAppProfileRequest>(instance + "/appProfiles/p")),
              NOT_FOUND, NOT_FOUND);
}

TEST_F(AdminCallersTest, OnlyAdministratorsChangeThemAndSeeOperations) {
  using enum grpc::StatusCode;
  auto drop = Named<admin::DropRowRangeRequest>(kCalledTable);
  drop.set_row_key_prefix("p");
  ExpectCodes(Of(tables_.get(), &TablesApi::Stub::DropRowRange, drop), PERMISSION_DENIED, OK);
  ExpectCodes(Of(tables_.get(), &TablesApi::Stub::ModifyColumnFamilies,
                 Named<admin::ModifyColumnFamiliesRequest>("projects/local/instances/local/tables/"
                                                           "missing")),
              PERMISSION_DENIED, NOT_FOUND);
  ExpectCodes(Of(instances_.get(), &InstancesApi::Stub::DeleteInstance,
                 Named<admin::DeleteInstanceRequest>("projects/local/instances/missing")),
              PERMISSION_DENIED, NOT_FOUND);
  ExpectCodes(Of(operations_.get(), &google::longrunning::Operations::Stub::GetOperation,
                 Named<google::longrunning::GetOperationRequest>("operations/missing")),
              PERMISSION_DENIED, NOT_FOUND);
  EXPECT_OK(server_->database()->OpenTable("t").status());
}

}  // namespace
}  // namespace bigtable::server
