// A test with a server of the admin services in this process, in front of a database in memory.
// Requests and responses are text: "name: 'projects/p/instances/i'".
#ifndef BIGTABLE_TESTS_SERVER_ADMIN_FIXTURE_H_
#define BIGTABLE_TESTS_SERVER_ADMIN_FIXTURE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "google/bigtable/admin/v2/bigtable_instance_admin.grpc.pb.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/longrunning/operations.grpc.pb.h"
#include "google/protobuf/text_format.h"
#include "grpcpp/client_context.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "server/admin/catalogue.h"
#include "server/admin/instance_admin_service.h"
#include "server/admin/operation_store.h"
#include "server/admin/operations_service.h"
#include "server/admin/table_admin_service.h"
#include "server/calls/authentication.h"
#include "server/text/resource_name.h"

namespace bigtable::server {

using TableStub = admin::BigtableTableAdmin::Stub;
using InstanceStub = admin::BigtableInstanceAdmin::Stub;
using OperationsStub = longrunning::Operations::Stub;

class AdminFixture : public testing::Test {
 protected:
  // The default instance.
  static constexpr const char* kInstance = "projects/p/instances/default";

  void SetUp() override { Open(); }
  void TearDown() override { Close(); }

  void Open() {
    DatabaseOptions options;
    options.file_system = file_system_.get();
    options.memory_budget = 32 << 20;
    options.log_segment_size = 256 << 10;
    options.tablet_servers = 1;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open("/db", options);
    ASSERT_TRUE(opened.ok()) << opened.status();
    database_ = *std::move(opened);
    auto catalogue = Catalogue::Open(database_.get());
    ASSERT_TRUE(catalogue.ok()) << catalogue.status();
    catalogue_ = *std::move(catalogue);
    if (has_backups_) {
      auto backups = BackupEngine::Open("/backups", file_system_for_backups());
      ASSERT_TRUE(backups.ok()) << backups.status();
      backups_ = *std::move(backups);
    }
    const InstanceName instance{"p", "default"};
    operations_ = std::make_unique<OperationStore>();
    table_service_ = std::make_unique<TableAdminService>(
        database_.get(), catalogue_.get(), operations_.get(), instance, &authentication_,
        backups_.get(), [](std::string_view, const absl::Status& error) { return error; });
    instance_service_ =
        std::make_unique<InstanceAdminService>(database_.get(), catalogue_.get(), operations_.get(),
                                               instance, &authentication_, backups_.get());
    operations_service_ = std::make_unique<OperationsService>(operations_.get(), &authentication_);
    grpc::ServerBuilder builder;
    builder.RegisterService(table_service_.get());
    builder.RegisterService(instance_service_.get());
    builder.RegisterService(operations_service_.get());
    server_ = builder.BuildAndStart();
    channel_ = server_->InProcessChannel({});
    table_stub_ = admin::BigtableTableAdmin::NewStub(channel_);
    instance_stub_ = admin::BigtableInstanceAdmin::NewStub(channel_);
    operations_stub_ = longrunning::Operations::NewStub(channel_);
  }
  void Close() {
    if (server_ != nullptr) server_->Shutdown();
    server_.reset();
    if (table_service_ != nullptr) table_service_->EndOperations();
    table_service_.reset();
    instance_service_.reset();
    backups_.reset();
    catalogue_.reset();
    database_.reset();
  }
  // The next server has what was synced.
  void LosePower() {
    std::unique_ptr<InMemoryFileSystem> clone = file_system_->CrashClone(1, Unsynced::kNothing);
    Close();
    file_system_ = std::move(clone);
    Open();
  }

  template <typename Stub, typename Request, typename Response>
  using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // What the call returns; an error fails the test.
  template <typename Stub, typename Request, typename Response>
  Response Call(Method<Stub, Request, Response> method, std::string_view request) {
    Response response;
    const grpc::Status status = Call(method, request, &response);
    EXPECT_TRUE(status.ok()) << Show(status) << " for " << request;
    return response;
  }
  // The same as one line of text.
  template <typename Stub, typename Request, typename Response>
  std::string Text(Method<Stub, Request, Response> method, std::string_view request) {
    return Show(Call(method, request));
  }
  // "NOT_FOUND: there is no ...": the error of the call. "OK": it has none.
  template <typename Stub, typename Request, typename Response>
  std::string Error(Method<Stub, Request, Response> method, std::string_view request) {
    Response response;
    return Show(Call(method, request, &response));
  }
  // The response of an operation that is done, as one line of text.
  template <typename Response>
  static std::string Unpack(const longrunning::Operation& operation) {
    Response response;
    EXPECT_TRUE(operation.done());
    EXPECT_TRUE(operation.response().UnpackTo(&response)) << operation.ShortDebugString();
    return Show(response);
  }

  static std::string Show(const google::protobuf::Message& message) {
    google::protobuf::TextFormat::Printer printer;
    printer.SetSingleLineMode(true);
    std::string text;
    printer.PrintToString(message, &text);
    if (text.ends_with(' ')) text.pop_back();
    return text;
  }
  static std::string Show(const grpc::Status& status) {
    if (status.ok()) return "OK";
    return absl::StatusCodeToString(static_cast<absl::StatusCode>(status.error_code())) + ": " +
           status.error_message();
  }

  virtual FileSystem* file_system_for_backups() { return file_system_.get(); }

  bool has_backups_ = true;
  std::unique_ptr<BackupEngine> backups_;
  std::unique_ptr<InMemoryFileSystem> file_system_ = std::make_unique<InMemoryFileSystem>();
  std::unique_ptr<Database> database_;
  std::unique_ptr<Catalogue> catalogue_;
  Authentication authentication_;  // every call is the program's own
  std::unique_ptr<OperationStore> operations_;

 private:
  template <typename Stub, typename Request, typename Response>
  grpc::Status Call(Method<Stub, Request, Response> method, std::string_view text,
                    Response* response) {
    Request request;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(std::string(text), &request)) << text;
    grpc::ClientContext context;
    return (StubOf(static_cast<Stub*>(nullptr))->*method)(&context, request, response);
  }
  TableStub* StubOf(TableStub*) { return table_stub_.get(); }
  InstanceStub* StubOf(InstanceStub*) { return instance_stub_.get(); }
  OperationsStub* StubOf(OperationsStub*) { return operations_stub_.get(); }

  std::unique_ptr<TableAdminService> table_service_;
  std::unique_ptr<InstanceAdminService> instance_service_;
  std::unique_ptr<OperationsService> operations_service_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<TableStub> table_stub_;
  std::unique_ptr<InstanceStub> instance_stub_;
  std::unique_ptr<OperationsStub> operations_stub_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_SERVER_ADMIN_FIXTURE_H_
