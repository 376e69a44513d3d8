// gRPC's own services as clients have them: health, and reflection.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"

#include "grpc/grpc.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "server/grpc_services/small_call.h"
#include "server/server.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::reflection::v1alpha::ServerReflectionRequest;
using grpc::reflection::v1alpha::ServerReflectionResponse;
using testing::Contains;
using testing::HasSubstr;

class GrpcServicesTest : public testing::Test {
 protected:
  using Health = grpc::health::v1::Health::Stub;
  using Reflection = grpc::reflection::v1alpha::ServerReflection::Stub;

  static void SetUpTestSuite() { grpc_init(); }
  void SetUp() override {
    ServerOptions options;
    options.directory = directory_.database();
    options.address = "127.0.0.1:0";
    options.http = "";
    options.memory = 16 << 20;
    options.drain_seconds = 30;
    auto server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    health_ = grpc::health::v1::Health::NewStub(channel_);
    reflection_ = grpc::reflection::v1alpha::ServerReflection::NewStub(channel_);
  }
  static void SetDeadline(grpc::ClientContext* context) {
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  }
  grpc::Status Check(const std::string& name, HealthCheckResponse* response,
                     bool compresses = false) const {
    HealthCheckRequest request;
    request.set_service(name);
    grpc::ClientContext context;
    SetDeadline(&context);
    if (compresses) context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    return health_->Check(&context, request, response);
  }
  // The response to the only request of a stream.
  ServerReflectionResponse Reflect(const ServerReflectionRequest& request) const {
    grpc::ClientContext context;
    SetDeadline(&context);
    const auto stream = reflection_->ServerReflectionInfo(&context);
    ServerReflectionResponse response;
    EXPECT_TRUE(stream->Write(request) && stream->Read(&response));
    stream->WritesDone();
    ServerReflectionResponse none;
    EXPECT_FALSE(stream->Read(&none));
    const grpc::Status status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  TempDirectory directory_{TempDirectory::Where::kMemory};
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<Reflection> reflection_;
};

TEST_F(GrpcServicesTest, HealthIsKnownByName) {
  for (const char* const name : {"", "google.bigtable.v2.Bigtable", "bigtable.server.Writes"}) {
    HealthCheckResponse response;
    const grpc::Status status = Check(name, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << name;
  }
  HealthCheckResponse response;
  EXPECT_EQ(Check("other", &response).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_TRUE(Check(std::string(1000, 'x'), &response, /*compresses=*/true).error_code() ==
              grpc::StatusCode::NOT_FOUND);
}

TEST_F(GrpcServicesTest, ALargeRequestIsRefused) {
  HealthCheckResponse response;
  constexpr size_t kMost = SmallCall::kMostRequestBytes;
  EXPECT_EQ(Check(std::string(kMost - 10, 'x'), &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
  for (const bool compresses : {false, true}) {
    const grpc::Status large = Check(std::string(1 << 20, 'x'), &response, compresses);
    EXPECT_EQ(large.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(large.error_message(),
              "a request of this service must have at most 4096 bytes, and this one has 1048580");
  }
  ServerReflectionRequest request;
  request.set_file_containing_symbol(std::string(1 << 20, 'x'));
  grpc::ClientContext context;
  SetDeadline(&context);
  const auto stream = reflection_->ServerReflectionInfo(&context);
  stream->Write(request);
  ServerReflectionResponse none;
  EXPECT_FALSE(stream->Read(&none));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(GrpcServicesTest, ARequestThatIsNoneIsRefused) {
  grpc::GenericStub stub(channel_);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  SetDeadline(&context);
  const grpc::Slice bytes(std::string("\x0a\x05x"));
  grpc::ByteBuffer response;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check",
                                          grpc::ByteBuffer(&bytes, 1), &queue);
  call->StartCall();
  call->Finish(&response, &status, &queue);
  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  queue.Shutdown();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_THAT(status.error_message(), HasSubstr("is not a grpc.health.v1.HealthCheckRequest"));
}

TEST_F(GrpcServicesTest, AWatchHearsThatTheServerEndsAndEndsWithIt) {
  HealthCheckRequest request;
  grpc::ClientContext known;
  SetDeadline(&known);
  const auto watch = health_->Watch(&known, request);
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  request.set_service("other");
  grpc::ClientContext unknown;
  SetDeadline(&unknown);
  const auto other = health_->Watch(&unknown, request);
  ASSERT_TRUE(other->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  // One that has gone is forgotten.
  grpc::ClientContext gone;
  const auto cancelled = health_->Watch(&gone, request);
  ASSERT_TRUE(cancelled->Read(&response));
  gone.TryCancel();
  EXPECT_EQ(cancelled->Finish().error_code(), grpc::StatusCode::CANCELLED);

  const auto before = std::chrono::steady_clock::now();
  std::thread end([this] { EXPECT_TRUE(server_->Shutdown().ok()); });
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_FALSE(other->Read(&response));
  EXPECT_EQ(other->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  end.join();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(15))
      << "it does not wait until it has no patience left";
}

TEST_F(GrpcServicesTest, ReflectionHasTheServicesAndTheirDescriptors) {
  ServerReflectionRequest request;
  request.set_host("here");
  request.set_list_services("*");
  const ServerReflectionResponse list = Reflect(request);
  EXPECT_EQ(list.valid_host(), "here");
  EXPECT_EQ(list.original_request().SerializeAsString(), request.SerializeAsString());
  std::vector<std::string> names;
  for (const auto& service : list.list_services_response().service()) {
    names.push_back(service.name());
  }
  for (const char* const name :
       {"google.bigtable.v2.Bigtable", "google.bigtable.admin.v2.BigtableTableAdmin",
        "google.bigtable.admin.v2.BigtableInstanceAdmin", "google.longrunning.Operations",
        "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}) {
    EXPECT_THAT(names, Contains(name));
    request.set_file_containing_symbol(name);
    EXPECT_GT(Reflect(request).file_descriptor_response().file_descriptor_proto_size(), 0) << name;
  }
  EXPECT_THAT(names, Contains("bigtable.server.Engine"));

  request.set_file_by_filename("google/bigtable/v2/bigtable.proto");
  const ServerReflectionResponse files = Reflect(request);
  std::vector<std::string> found;
  for (const std::string& bytes : files.file_descriptor_response().file_descriptor_proto()) {
    google::protobuf::FileDescriptorProto file;
    ASSERT_TRUE(file.ParseFromString(bytes));
    found.push_back(file.name());
  }
  EXPECT_EQ(found.front(), "google/bigtable/v2/bigtable.proto");
  EXPECT_THAT(found, Contains("google/bigtable/v2/data.proto"));
  std::sort(found.begin(), found.end());
  EXPECT_EQ(std::adjacent_find(found.begin(), found.end()), found.end()) << "each once";
}

TEST_F(GrpcServicesTest, ReflectionSaysWhatItDoesNotFind) {
  const auto code_of = [this](const ServerReflectionRequest& request) {
    return static_cast<grpc::StatusCode>(Reflect(request).error_response().error_code());
  };
  ServerReflectionRequest request;
  EXPECT_EQ(code_of(request), grpc::StatusCode::UNIMPLEMENTED);
  request.set_file_by_filename("other.proto");
  EXPECT_EQ(code_of(request), grpc::StatusCode::NOT_FOUND);
  request.set_file_containing_symbol("other.Message");
  EXPECT_EQ(code_of(request), grpc::StatusCode::NOT_FOUND);
  request.set_all_extension_numbers_of_type("other.Message");
  EXPECT_EQ(code_of(request), grpc::StatusCode::NOT_FOUND);
  request.mutable_file_containing_extension()->set_containing_type("google.protobuf.MethodOptions");
  request.mutable_file_containing_extension()->set_extension_number(1);
  EXPECT_EQ(code_of(request), grpc::StatusCode::NOT_FOUND);
  // google.api.http.
  request.mutable_file_containing_extension()->set_extension_number(72295728);
  EXPECT_GT(Reflect(request).file_descriptor_response().file_descriptor_proto_size(), 0);
  request.set_all_extension_numbers_of_type("google.protobuf.MethodOptions");
  EXPECT_THAT(Reflect(request).all_extension_numbers_response().extension_number(),
              Contains(72295728));
}

TEST_F(GrpcServicesTest, AStreamOfReflectionTakesManyRequestsAndDoesNotStay) {
  grpc::ClientContext context;
  SetDeadline(&context);
  const auto stream = reflection_->ServerReflectionInfo(&context);
  ServerReflectionRequest request;
  request.set_file_containing_symbol("google.bigtable.v2.Bigtable");
  ServerReflectionResponse response;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(stream->Write(request));
    ASSERT_TRUE(stream->Read(&response));
  }
  EXPECT_FALSE(stream->Read(&response)) << "after five seconds without a request";
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "no request has arrived for 5 seconds");
}

}  // namespace
}  // namespace bigtable::server
