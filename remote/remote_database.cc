#include "remote/remote_database.h"

#include <algorithm>

#include "google/protobuf/empty.pb.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/impl/codegen/proto_utils.h"

#include "backend/option_limits.h"
#include "base/call_limits.h"
#include "base/status.h"
#include "base/strings.h"
#include "convert/schema.h"
#include "remote/calls/attempt.h"
#include "remote/calls/retries.h"
#include "remote/data/remote_table.h"

namespace bigtable::remote {
namespace {

namespace admin = google::bigtable::admin::v2;

// Not of Google's API: server/admin/engine_service.h.
constexpr const char* kResumeMethod = "/bigtable.server.Engine/Resume";
using EngineStub = grpc::TemplatedGenericStub<google::protobuf::Empty, google::protobuf::Empty>;

}  // namespace

absl::Status RemoteDatabase::Close() {
  connection_->Close();
  return absl::OkStatus();
}

absl::Status RemoteDatabase::CreateTable(std::string_view name, const TableSchema& schema,
                                         const CreateTableOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_RETURN_IF_ERROR(limits.Check());
  admin::CreateTableRequest request;
  request.set_parent(connection_->instance());
  request.set_table_id(std::string(name));
  BT_ASSIGN_OR_RETURN(*request.mutable_table(), convert::ToProto(schema));
  for (const std::string& row : options.split_rows) request.add_initial_splits()->set_key(row);
  admin::Table response;
  return CallOnce(
      connection_.get(), limits, "parent", request.parent(),
      [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
        return connection_->admin()->PrepareAsyncCreateTable(context, request, queue);
      },
      &response);
}

absl::Status RemoteDatabase::DeleteTable(std::string_view name, const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_RETURN_IF_ERROR(limits.Check());
  admin::DeleteTableRequest request;
  request.set_name(connection_->TableName(name));
  google::protobuf::Empty response;
  return CallOnce(
      connection_.get(), limits, "name", request.name(),
      [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
        return connection_->admin()->PrepareAsyncDeleteTable(context, request, queue);
      },
      &response);
}

absl::StatusOr<std::vector<std::string>> RemoteDatabase::ListTables(const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_RETURN_IF_ERROR(limits.Check());
  const std::string prefix = connection_->TableName("");
  std::vector<std::string> names;
  admin::ListTablesRequest request;
  request.set_parent(connection_->instance());
  request.set_view(admin::Table::NAME_ONLY);
  while (true) {
    admin::ListTablesResponse page;
    BT_RETURN_IF_ERROR(WithRetries(connection_.get(), limits, [&] {
      page.Clear();
      return CallOnce(
          connection_.get(), limits, "parent", request.parent(),
          [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
            return connection_->admin()->PrepareAsyncListTables(context, request, queue);
          },
          &page);
    }));
    for (const admin::Table& table : page.tables()) {
      if (!table.name().starts_with(prefix)) {
        return absl::InternalError(
            Cat("the server lists ", Quoted(table.name()), " as a table of ", request.parent()));
      }
      names.push_back(table.name().substr(prefix.size()));
    }
    if (page.next_page_token().empty() || page.next_page_token() == request.page_token()) break;
    request.set_page_token(page.next_page_token());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<TableSchema> RemoteDatabase::GetSchema(std::string_view table,
                                                      const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_RETURN_IF_ERROR(limits.Check());
  admin::GetTableRequest request;
  request.set_name(connection_->TableName(table));
  request.set_view(admin::Table::SCHEMA_VIEW);
  admin::Table response;
  BT_RETURN_IF_ERROR(WithRetries(connection_.get(), limits, [&] {
    response.Clear();
    return CallOnce(
        connection_.get(), limits, "name", request.name(),
        [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
          return connection_->admin()->PrepareAsyncGetTable(context, request, queue);
        },
        &response);
  }));
  return convert::ToSchema(response);
}

absl::Status RemoteDatabase::ModifyFamilies(std::string_view table,
                                            const std::vector<FamilyChange>& changes,
                                            const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_RETURN_IF_ERROR(limits.Check());
  admin::ModifyColumnFamiliesRequest request;
  request.set_name(connection_->TableName(table));
  for (const FamilyChange& change : changes) {
    BT_ASSIGN_OR_RETURN(*request.add_modifications(), convert::ToProto(change));
  }
  if (changes.empty()) return GetSchema(table, options).status();
  admin::Table response;
  return CallOnce(
      connection_.get(), limits, "name", request.name(),
      [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
        return connection_->admin()->PrepareAsyncModifyColumnFamilies(context, request, queue);
      },
      &response);
}

absl::Status RemoteDatabase::Resume(const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  BT_RETURN_IF_ERROR(limits.Check());
  const google::protobuf::Empty request;
  google::protobuf::Empty response;
  EngineStub stub(connection_->admin_channel());
  const absl::Status resumed = CallOnce(
      connection_.get(), limits, "name", connection_->instance(),
      [&](grpc::ClientContext* context, grpc::CompletionQueue* queue) {
        return stub.PrepareUnaryCall(context, kResumeMethod, request, queue);
      },
      &response);
  if (!absl::IsUnimplemented(resumed)) return resumed;
  return absl::UnimplementedError("Resume: only bigtable-server has such a call");
}

std::shared_ptr<TableService> RemoteDatabase::NewTable(std::string_view name) {
  return std::make_shared<RemoteTable>(connection_, outstanding_, name);
}

}  // namespace bigtable::remote
