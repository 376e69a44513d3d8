// Resuming the database, by the admin call and by the status page: who may, and what is returned.
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "google/protobuf/empty.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/impl/codegen/client_unary_call.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"

#include "grpc/grpc.h"
#include "server/admin/engine_service.h"
#include "server/admin/resumption.h"
#include "server/calls/authentication.h"
#include "server/http/status_site.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

using testing::HasSubstr;

constexpr const char* kAnnsToken = "0123456789abcdef";  // an administrator
constexpr const char* kBobsToken = "fedcba9876543210";

class ServerResumeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const bool is_kept = (grpc_init(), true);  // its end waits for a timer
    static_cast<void>(is_kept);
  }
  void NeedCallers() {
    const std::string path = directory_.path() + "/tokens";
    std::ofstream(path) << "ann " << kAnnsToken << "\nbob " << kBobsToken << "\n";
    ASSERT_TRUE(authentication_.ReadTokens(path).ok());
    authentication_.SetAdministrators("ann");
  }
  // What resuming returns.
  absl::Status outcome_;
  int calls_ = 0;
  Resumption resumption_{[this] {
    ++calls_;
    return outcome_;
  }};

  TempDirectory directory_;
  Authentication authentication_;
};

class EngineServiceTest : public ServerResumeTest {
 protected:
  void SetUp() override {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    grpc_ = builder.BuildAndStart();
    channel_ = grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                                   grpc::InsecureChannelCredentials());
  }
  void TearDown() override { grpc_->Shutdown(); }

  grpc::Status Resume(const std::string& token = "") {
    grpc::ClientContext context;
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    const grpc::internal::RpcMethod method("/bigtable.server.Engine/Resume",
                                           grpc::internal::RpcMethod::NORMAL_RPC);
    const google::protobuf::Empty request;
    google::protobuf::Empty response;
    return grpc::internal::BlockingUnaryCall(channel_.get(), method, &context, request, &response);
  }

  EngineService service_{&resumption_, &authentication_};
  std::unique_ptr<grpc::Server> grpc_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(EngineServiceTest, ReturnsHowItWent) {
  EXPECT_TRUE(Resume().ok());
  outcome_ = absl::ResourceExhaustedError("the disk is full");
  const grpc::Status failed = Resume();
  EXPECT_EQ(failed.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(failed.error_message(), "the disk is full");
  EXPECT_EQ(calls_, 2);
}

TEST_F(EngineServiceTest, IsForAdministrators) {
  NeedCallers();
  EXPECT_EQ(Resume().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Resume(kBobsToken).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(calls_, 0);
  EXPECT_TRUE(Resume(kAnnsToken).ok());
  EXPECT_EQ(calls_, 1);
}

TEST(ResumptionTest, ASecondOneDoesNotWaitForTheFirst) {
  std::mutex mutex;
  std::condition_variable changed;
  bool runs = false;
  bool may_end = false;
  Resumption resumption([&] {
    std::unique_lock<std::mutex> lock(mutex);
    runs = true;
    changed.notify_all();
    changed.wait(lock, [&] { return may_end; });
    return absl::OkStatus();
  });
  std::thread first([&] { EXPECT_TRUE(resumption.Run().ok()); });
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return runs; });
  }
  EXPECT_TRUE(absl::IsAborted(resumption.Run()));
  {
    const std::lock_guard<std::mutex> lock(mutex);
    may_end = true;
  }
  changed.notify_all();
  first.join();
  EXPECT_TRUE(resumption.Run().ok());
}

class SiteResumeTest : public ServerResumeTest {
 protected:
  HttpResponse Post(const std::string& authorization, const std::string& action = "resume",
                    const std::string& method = "POST") const {
    const StatusSite site({.resumption = const_cast<Resumption*>(&resumption_)}, /*is_local=*/true,
                          &authentication_);
    return site.Answer({.method = method,
                        .path = "/resume",
                        .parameters = {},
                        .host = "localhost",
                        .authorization = authorization,
                        .action = action,
                        .certificate_name = certificate_name_});
  }
  std::string certificate_name_;
};

TEST_F(SiteResumeTest, ShowsWhatItFailedWith) {
  EXPECT_EQ(Post("").code, 200);
  outcome_ = absl::ResourceExhaustedError("the disk is full");
  const HttpResponse failed = Post("");
  EXPECT_EQ(failed.code, 503);
  EXPECT_THAT(failed.body, HasSubstr("the disk is full"));
  outcome_ = absl::AbortedError("running");
  EXPECT_EQ(Post("").code, 409);
}

// A page of another site can make a browser post, with its user's password, but not with a header
// of its own, and not by GET.
TEST_F(SiteResumeTest, NeedsTheHeaderThatPagesOfOtherSitesCannotSend) {
  EXPECT_EQ(Post("", "").code, 403);
  EXPECT_EQ(Post("", "other").code, 403);
  EXPECT_EQ(Post("", "resume", "OPTIONS").code, 405);
  const HttpResponse got = Post("", "resume", "GET");
  EXPECT_EQ(got.code, 405);
  EXPECT_EQ(got.allow, "POST");
  EXPECT_EQ(calls_, 0);
}

TEST_F(SiteResumeTest, IsForAdministratorsByTheirTokens) {
  NeedCallers();
  EXPECT_EQ(Post("").code, 401);
  EXPECT_EQ(Post("Bearer 0123456789abcdeX").code, 401);
  EXPECT_THAT(Post(std::string("Bearer ") + kBobsToken).body, HasSubstr("\"bob\""));
  EXPECT_EQ(Post(std::string("Bearer ") + kBobsToken).code, 403);
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(Post(std::string("Bearer ") + kAnnsToken).code, 200);
}

TEST_F(SiteResumeTest, IsForAdministratorsByTheirCertificates) {
  authentication_.UseCertificates();
  authentication_.SetAdministrators("ann");
  EXPECT_EQ(Post("").code, 403);
  certificate_name_ = "bob";
  EXPECT_EQ(Post("").code, 403);
  EXPECT_EQ(calls_, 0);
  certificate_name_ = "ann";
  EXPECT_EQ(Post("").code, 200);
}

}  // namespace
}  // namespace bigtable::server
