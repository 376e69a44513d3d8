#include "crossings/crossed_server.h"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

#include "bigtable/remote.h"

#include "base/status.h"
#include "base/strings.h"
#include "crossings/crossed_content.h"
#include "crossings/crossing_calls.h"
#include "crossings/request_messages.h"
#include "grpc/grpc.h"
#include "server/admin/catalogue.h"
#include "server/admin/operation_store.h"
#include "server/admin/table_admin_service.h"
#include "server/calls/admission.h"
#include "server/calls/authentication.h"
#include "server/calls/call_queues.h"
#include "server/calls/client_errors.h"
#include "server/data/data_service.h"
#include "server/data/response_params.h"
#include "server/data/served_service.h"
#include "server/data/served_tables.h"
#include "server/monitor/monitor.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

namespace v2 = google::bigtable::v2;

absl::Status StatusOf(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const absl::Status converted(static_cast<absl::StatusCode>(status.error_code()),
                               status.error_message());
  return converted;
}

// The parts of server::Server that answer calls, in front of a database that it has not opened.
class ServerParts {
 public:
  // The database outlives this.
  explicit ServerParts(Database* database) : database_(database), admission_(Limits()) {}
  ~ServerParts() {
    admission_.Close();
    if (grpc_ != nullptr) grpc_->Shutdown(std::chrono::system_clock::now());
    if (queues_ != nullptr) queues_->Shutdown();
    grpc_ = nullptr;
    data_ = nullptr;
  }
  ServerParts(const ServerParts&) = delete;
  ServerParts& operator=(const ServerParts&) = delete;

  // `tokens`: a file, or empty.
  absl::Status Start(const std::string& tokens) {
    // Never undone: the end of gRPC may wait ten seconds for a timer of its own.
    static const bool is_kept = (grpc_init(), true);
    static_cast<void>(is_kept);
    if (!tokens.empty()) BT_RETURN_IF_ERROR(authentication_.ReadTokens(tokens));
    BT_ASSIGN_OR_RETURN(catalogue_, server::Catalogue::Open(database_));
    params_ = std::make_unique<server::ResponseParams>(database_, catalogue_.get(), kInstance);
    admin_ = std::make_unique<server::TableAdminService>(
        database_, catalogue_.get(), &operations_, kInstance, &authentication_, nullptr, nullptr);
    grpc::ServerBuilder builder;
    builder.RegisterService(admin_.get());
    queues_ = std::make_unique<server::CallQueues>(builder.AddCompletionQueue(), kThreads);
    const server::ServedParts parts = {.queues = queues_.get(),
                                       .admission = &admission_,
                                       .response_params = params_.get(),
                                       .errors = &errors_,
                                       .monitor = &monitor_};
    data_ = std::make_unique<server::DataService>(parts, &tables_, &authentication_, kStreams,
                                                  kStreams);
    builder.RegisterService(data_.get());
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    grpc_ = builder.BuildAndStart();
    if (grpc_ == nullptr || port == 0) {
      queues_ = nullptr;  // of which gRPC would complain later
      return absl::UnavailableError("no server on 127.0.0.1");
    }
    address_ = Cat("127.0.0.1:", port);
    BT_RETURN_IF_ERROR(queues_->Start());
    data_->StartMethods();
    return absl::OkStatus();
  }
  const std::string& address() const { return address_; }

 private:
  static constexpr int kThreads = 16;
  static constexpr size_t kStreams = 64;
  inline static const server::InstanceName kInstance{"local", "local"};

  static server::RequestLimits Limits() {
    server::RequestLimits limits(uint64_t{64} << 20, kThreads);
    limits.alarm = 0;  // the process is the tests'
    return limits;
  }

  Database* const database_;
  server::Monitor monitor_;
  server::Authentication authentication_;
  server::ClientErrors errors_{server::PublicText("/db", kInstance),
                               [](std::string_view, const absl::Status&, uint64_t) {}};
  server::OperationStore operations_;
  server::ServedTables tables_{database_, kInstance};
  std::unique_ptr<server::Catalogue> catalogue_;
  std::unique_ptr<server::ResponseParams> params_;
  std::unique_ptr<server::TableAdminService> admin_;
  server::Admission admission_;
  std::unique_ptr<server::CallQueues> queues_;
  std::unique_ptr<grpc::Server> grpc_;
  std::unique_ptr<server::DataService> data_;
  std::string address_;
};

class ServedDatabase final : public CrossedServer {
 public:
  explicit ServedDatabase(Database* database) : parts_(database) {}

  absl::Status Start(const std::string& user) {
    if (!user.empty()) {
      token_ = "token-of-the-crossings";
      std::ofstream(TokenFile()) << user << " " << token_ << "\n";
    }
    BT_RETURN_IF_ERROR(parts_.Start(user.empty() ? "" : TokenFile()));
    BT_ASSIGN_OR_RETURN(connected_, Connect(parts_.address(), {.token = token_}));
    stub_ = v2::Bigtable::NewStub(
        grpc::CreateChannel(parts_.address(), grpc::InsecureChannelCredentials()));
    return absl::OkStatus();
  }
  Database* connected() const override { return connected_.get(); }

  CrossedRows ReadRows(const std::string& table, const Crossing& crossing) override {
    v2::ReadRowsRequest request;
    request.set_table_name(NameOf(table));
    *request.mutable_rows() = requests::RowSetOf(crossing.rows, crossing.shortest_ends);
    if (crossing.has_filter()) {
      *request.mutable_filter() = requests::FilterOf(crossing.filter, crossing.shortest_ends);
    }
    request.set_rows_limit(crossing.options.row_limit);
    request.set_reversed(crossing.options.reverse);
    if (crossing.statistics) {
      request.set_request_stats_view(v2::ReadRowsRequest::REQUEST_STATS_FULL);
    }
    grpc::ClientContext context;
    Prepare(crossing, &context);
    return Receive(crossing, stub_->ReadRows(&context, request).get());
  }
  absl::StatusOr<bool> CheckAndMutateRow(const std::string& table, const Crossing& crossing,
                                         const std::string& row) override {
    v2::CheckAndMutateRowRequest request;
    request.set_table_name(NameOf(table));
    request.set_row_key(row);
    if (crossing.has_filter()) {
      *request.mutable_predicate_filter() = requests::FilterOf(crossing.filter, false);
    }
    // It deletes nothing.
    *request.add_false_mutations() =
        requests::MutationOf({.kind = ModelOperation::Kind::kDeleteColumn,
                              .family = "f",
                              .qualifier = "never",
                              .timestamp = {},
                              .value = {}});
    grpc::ClientContext context;
    Prepare(crossing, &context);
    v2::CheckAndMutateRowResponse response;
    BT_RETURN_IF_ERROR(StatusOf(stub_->CheckAndMutateRow(&context, request, &response)));
    return response.predicate_matched();
  }
  absl::StatusOr<ModelRow> ReadModifyWriteRow(const std::string& table, const Crossing& crossing,
                                              const std::string& row) override {
    v2::ReadModifyWriteRowRequest request;
    request.set_table_name(NameOf(table));
    request.set_row_key(row);
    for (const ModifyingRule& rule : ModifyingRules()) {
      auto* const added = request.add_rules();
      added->set_family_name(rule.family);
      added->set_column_qualifier(rule.qualifier);
      if (rule.appended.empty()) {
        added->set_increment_amount(rule.amount);
      } else {
        added->set_append_value(rule.appended);
      }
    }
    grpc::ClientContext context;
    Prepare(crossing, &context);
    v2::ReadModifyWriteRowResponse response;
    BT_RETURN_IF_ERROR(StatusOf(stub_->ReadModifyWriteRow(&context, request, &response)));
    return requests::RowOf(response.row());
  }
  absl::Status MutateRows(const std::string& table,
                          absl::Span<const ModelMutation> mutations) override {
    v2::MutateRowsRequest request;
    request.set_table_name(NameOf(table));
    std::vector<int> codes;  // of the entries
    for (const ModelMutation& mutation : mutations) {
      AddEntry(mutation, grpc::StatusCode::OK, &request, &codes);
      ModelMutation refused = mutation;
      refused.operations.push_back(
          {.family = "none", .qualifier = "q", .timestamp = 1000, .value = "refused"});
      AddEntry(refused, grpc::StatusCode::NOT_FOUND, &request, &codes);
      refused = mutation;
      refused.row = "";
      AddEntry(refused, grpc::StatusCode::INVALID_ARGUMENT, &request, &codes);
    }
    return SendEntries(request, codes);
  }

 private:
  static std::string NameOf(const std::string& table) {
    return Cat("projects/local/instances/local/tables/", table);
  }
  std::string TokenFile() const { return directory_.path() + "/tokens"; }

  void Prepare(grpc::ClientContext* context) const {
    if (!token_.empty()) context->AddMetadata("authorization", "Bearer " + token_);
  }
  void Prepare(const Crossing& crossing, grpc::ClientContext* context) const {
    Prepare(context);
    const ReadOptions& options = crossing.options;
    if (options.deadline != absl::InfiniteFuture()) {
      context->set_deadline(absl::ToChronoTime(options.deadline));
    }
    if (options.cancellation != nullptr && options.cancellation->cancelled()) context->TryCancel();
  }

  static CrossedRows Receive(const Crossing& crossing,
                             grpc::ClientReaderInterface<v2::ReadRowsResponse>* responses) {
    requests::ChunkReader chunks;
    std::vector<v2::RequestStats> statistics;
    absl::Status error;
    for (v2::ReadRowsResponse response; responses->Read(&response);) {
      for (const auto& chunk : response.chunks()) error.Update(chunks.Add(chunk));
      if (response.has_request_stats()) statistics.push_back(response.request_stats());
    }
    BT_RETURN_IF_ERROR(StatusOf(responses->Finish()));
    BT_RETURN_IF_ERROR(error);
    BT_ASSIGN_OR_RETURN(std::vector<ModelRow> rows, chunks.Take());
    BT_RETURN_IF_ERROR(CheckStatistics(crossing, statistics, rows));
    return rows;
  }
  // If they were asked for, there are some, which say what was returned.
  static absl::Status CheckStatistics(const Crossing& crossing,
                                      const std::vector<v2::RequestStats>& statistics,
                                      const std::vector<ModelRow>& rows) {
    if (statistics.size() != (crossing.statistics ? 1 : 0)) {
      return absl::InternalError(Cat("statistics came ", statistics.size(), " times"));
    }
    if (statistics.empty()) return absl::OkStatus();
    const auto& counts = statistics[0].full_read_stats_view().read_iteration_stats();
    int64_t cells = 0;
    for (const ModelRow& row : rows) cells += std::ssize(row.cells);
    if (counts.rows_returned_count() == std::ssize(rows) &&
        counts.cells_returned_count() == cells) {
      return absl::OkStatus();
    }
    return absl::InternalError(Cat("statistics: ", counts.ShortDebugString()));
  }

  static void AddEntry(const ModelMutation& mutation, int code, v2::MutateRowsRequest* request,
                       std::vector<int>* codes) {
    auto* const entry = request->add_entries();
    entry->set_row_key(mutation.row);
    for (const ModelOperation& op : mutation.operations) {
      *entry->add_mutations() = requests::MutationOf(op);
    }
    codes->push_back(code);
  }
  // Each entry must have one status, with its code.
  absl::Status SendEntries(const v2::MutateRowsRequest& request, const std::vector<int>& codes) {
    grpc::ClientContext context;
    Prepare(&context);
    const auto responses = stub_->MutateRows(&context, request);
    std::set<int64_t> answered;
    absl::Status wrong;
    for (v2::MutateRowsResponse response; responses->Read(&response);) {
      for (const auto& entry : response.entries()) {
        const bool is_new = answered.insert(entry.index()).second;
        const bool is_there = entry.index() >= 0 && entry.index() < std::ssize(codes);
        if (is_new && is_there &&
            entry.status().code() == codes[static_cast<size_t>(entry.index())]) {
          continue;
        }
        wrong.Update(absl::InternalError(Cat("an entry's answer: ", entry.ShortDebugString())));
      }
    }
    BT_RETURN_IF_ERROR(StatusOf(responses->Finish()));
    BT_RETURN_IF_ERROR(wrong);
    if (answered.size() == codes.size()) return absl::OkStatus();
    return absl::InternalError(Cat(answered.size(), " of ", codes.size(), " entries are answered"));
  }

  const TempDirectory directory_{TempDirectory::Where::kMemory};
  std::string token_;  // empty: none is needed
  ServerParts parts_;
  std::unique_ptr<Database> connected_;
  std::unique_ptr<v2::Bigtable::Stub> stub_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CrossedServer>> CrossedServer::Start(Database* database,
                                                                    const std::string& user) {
  auto served = std::make_unique<ServedDatabase>(database);
  BT_RETURN_IF_ERROR(served->Start(user));
  return served;
}

}  // namespace bigtable
