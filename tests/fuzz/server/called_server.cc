#include "fuzz/server/called_server.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/time/time.h"
#include "google/longrunning/operations.pb.h"
#include "google/protobuf/stubs/logging.h"
#include "grpcpp/client_context.h"
#include "grpcpp/impl/rpc_method.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/channel_arguments.h"
#include "grpcpp/support/slice.h"
#include "grpcpp/support/sync_stream.h"

#include "bigtable/row.h"
#include "bigtable/row_mutation.h"
#include "bigtable/table.h"

#include "fuzz/target.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

// A call that takes so long is a finding: DEADLINE_EXCEEDED is no reply of any method.
constexpr std::chrono::seconds kLongest(60);
// Deleted rows make reads slower, so the tables are made anew now and then.
constexpr int kMostResets = 500;

constexpr std::string_view kFirstTables[] = {"t", "u", "q..other1..t"};

// Whether cells that were just written may be too old soon: what is read of the table then depends
// on the time.
bool MayAge(const TableSchema& schema) {
  const auto is_short = [](const GcRule::Step& step) {
    return step.age > -absl::InfiniteDuration() && step.age < absl::Hours(1);
  };
  return std::any_of(schema.families.begin(), schema.families.end(), [&](const auto& family) {
    const auto steps = family.second.gc.steps();
    return std::any_of(steps.begin(), steps.end(), is_short);
  });
}

TableSchema FirstSchema() {
  TableSchema schema;
  schema.families["f"] = {};
  schema.families["g"] = {.gc = GcRule::MaxVersions(1)};
  schema.families["n"] = {.value_type = ValueType::kInt64Sum};
  schema.families["h"] = {.value_type = ValueType::kHyperLogLog};
  return schema;
}

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  Require(buffer.Dump(&slices).ok(), "a message can be read");
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

}  // namespace

std::string CellText(std::string_view family, std::string_view qualifier, int64_t timestamp,
                     std::string_view value) {
  return Cat(family, ":", qualifier, "@", timestamp, "=", value.size(), ":", value, "\n");
}

CalledServer* CalledServer::Get() {
  static CalledServer called;
  return &called;
}

CalledServer::CalledServer() {
  google::protobuf::SetLogHandler(nullptr);  // of requests that are none
  ServerOptions options;
  options.directory = directory_.database();
  options.address = "unix:" + directory_.path() + "/socket";  // to which nobody connects
  options.http = "";
  options.default_instance = {"p", "first1"};
  options.memory = 32 << 20;
  options.threads = 16;
  absl::StatusOr<std::unique_ptr<Server>> started = Server::Start(options);
  Require(started.ok(), "the server starts");
  server_ = *std::move(started);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  channel_ = server_->InProcessChannel(arguments);
  CreateTables();
}

CalledServer::~CalledServer() { channel_.reset(); }

FuzzReply CalledServer::Call(const FuzzMethod& method, absl::Span<const std::string_view> request) {
  std::vector<grpc::Slice> slices;
  for (const std::string_view piece : request) slices.emplace_back(piece.data(), piece.size());
  const grpc::ByteBuffer bytes(slices.data(), slices.size());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLongest);
  const std::string path = method.path();
  const grpc::internal::RpcMethod rpc(path.c_str(), grpc::internal::RpcMethod::SERVER_STREAMING);
  const std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>> reader(
      grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(channel_.get(), rpc, &context,
                                                                    bytes));
  FuzzReply reply;
  for (grpc::ByteBuffer message; reader->Read(&message);) {
    reply.messages.push_back(BytesOf(message));
  }
  reply.status = reader->Finish();
  return reply;
}

KeptState CalledServer::Read() const {
  KeptState state;
  const auto names = database()->ListTables();
  Require(names.ok(), "tables can be listed");
  for (const std::string& name : *names) {
    const auto schema = database()->GetSchema(name);
    const auto table = database()->OpenTable(name);
    Require(schema.ok() && table.ok(), "a table can be opened");
    state.schemas[name] = *schema;
    if (MayAge(*schema)) continue;
    auto& rows = state.rows[name];
    RowReader reader = (*table)->ReadRows(RowRange::All());
    for (const Row& row : reader) {
      std::string& text = rows[std::string(row.key())];
      for (const Cell& cell : row.cells()) {
        text += CellText(cell.family, cell.qualifier, cell.timestamp.micros(), cell.value);
      }
    }
    Require(reader.status().ok(), "a table can be read");
  }
  return state;
}

void CalledServer::Reset() {
  ForgetOperations();
  const KeptState state = Read();
  const auto of_catalogue = [](const KeptState& kept) {
    return kept.rows.at(std::string(kCatalogueTable));
  };
  const bool has_first_tables =
      state.schemas == first_state_.schemas && of_catalogue(state) == of_catalogue(first_state_);
  if (has_first_tables && ++resets_ < kMostResets) return DeleteRows(state);
  DeleteTables();
  CreateTables();
}

void CalledServer::CreateTables() {
  for (const std::string_view name : kFirstTables) {
    Require(database()->CreateTable(name, FirstSchema()).ok(), "a table is created");
  }
  first_state_ = Read();
  resets_ = 0;
}

void CalledServer::DeleteTables() {
  const auto names = database()->ListTables();
  Require(names.ok(), "tables can be listed");
  for (const std::string& name : *names) {
    if (name != kCatalogueTable) {
      Require(database()->DeleteTable(name).ok(), "a table is deleted");
    }
  }
  DeleteRows(Read());
}

void CalledServer::DeleteRows(const KeptState& state) {
  for (const auto& [name, rows] : state.rows) {
    if (rows.empty()) continue;
    const auto table = database()->OpenTable(name);
    Require(table.ok(), "a table can be opened");
    for (const auto& [key, text] : rows) {
      Require((*table)->Apply(RowMutation(key).DeleteRow()).ok(), "a row is deleted");
    }
  }
}

void CalledServer::ForgetOperations() {
  namespace longrunning = google::longrunning;
  const FuzzMethod& list = *FindMethod(AdminMethods(), "ListOperations");
  const FuzzMethod& forget = *FindMethod(AdminMethods(), "DeleteOperation");
  longrunning::ListOperationsRequest request;
  request.set_name("operations");
  const std::string bytes = request.SerializeAsString();
  const std::string_view piece = bytes;
  const FuzzReply reply = Call(list, {&piece, 1});
  longrunning::ListOperationsResponse operations;
  Require(reply.messages.size() == 1 && operations.ParseFromString(reply.messages[0]),
          "operations can be listed");
  for (const longrunning::Operation& operation : operations.operations()) {
    longrunning::DeleteOperationRequest deletion;
    deletion.set_name(operation.name());
    const std::string deletion_bytes = deletion.SerializeAsString();
    const std::string_view deletion_piece = deletion_bytes;
    Require(Call(forget, {&deletion_piece, 1}).status.ok(), "an operation is forgotten");
  }
}

}  // namespace bigtable::server
