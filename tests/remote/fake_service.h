// A server of the data API that does what a test tells it: answers with given chunks, breaks off,
// refuses calls, and counts them.
#ifndef BIGTABLE_TESTS_REMOTE_FAKE_SERVICE_H_
#define BIGTABLE_TESTS_REMOTE_FAKE_SERVICE_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "google/protobuf/text_format.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"

namespace bigtable::remote {

namespace v2 = google::bigtable::v2;
namespace admin_v2 = google::bigtable::admin::v2;

// `status` with a google.rpc.RetryInfo.
inline grpc::Status WithRetryInfo(grpc::StatusCode code, int milliseconds) {
  google::rpc::RetryInfo info;
  info.mutable_retry_delay()->set_seconds(milliseconds / 1000);
  info.mutable_retry_delay()->set_nanos(milliseconds % 1000 * 1'000'000);
  google::rpc::Status details;
  details.set_code(code);
  details.add_details()->PackFrom(info);
  return grpc::Status(code, "come back", details.SerializeAsString());
}

class FakeService final : public v2::Bigtable::Service {
 public:
  // What a call of the number `call`, from 0, does.
  std::function<grpc::Status(int call, const v2::ReadRowsRequest&,
                             grpc::ServerWriter<v2::ReadRowsResponse>*, grpc::ServerContext*)>
      read_rows;
  std::function<grpc::Status(int call, grpc::ServerContext*)> mutate_row;
  std::function<grpc::Status(int call, const v2::MutateRowsRequest&, v2::MutateRowsResponse*)>
      mutate_rows;
  grpc::Status get_table;  // set before calls
  std::function<grpc::Status(int call, const v2::SampleRowKeysRequest&,
                             grpc::ServerWriter<v2::SampleRowKeysResponse>*)>
      sample_row_keys;
  std::function<grpc::Status(int call, const admin_v2::ListTablesRequest&,
                             admin_v2::ListTablesResponse*)>
      list_tables;
  admin_v2::Table table;  // what GetTable has, with the name that was asked for
  std::function<grpc::Status(int call)> check_and_mutate;
  std::function<grpc::Status(int call)> read_modify_write;
  v2::Row row;  // what ReadModifyWriteRow has

  FakeService() {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(-1);
    builder.RegisterService(this);
    builder.RegisterService(&admin_);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  ~FakeService() override { server_->Shutdown(std::chrono::system_clock::now()); }

  const std::string& address() const { return address_; }
  int calls() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return calls_;
  }
  std::vector<v2::ReadRowsRequest> reads() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return reads_;
  }
  std::vector<v2::MutateRowRequest> writes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return writes_;
  }

  // Of the data calls, in their order: a header, or "" where there was none; the deadline of each;
  // and the connection that each came by.
  std::vector<std::string> headers(const std::string& name) {
    return Each<std::string>([&](const Arrival& arrival) {
      const auto found = arrival.headers.find(name);
      return found == arrival.headers.end() ? std::string() : found->second;
    });
  }
  std::vector<absl::Time> deadlines() {
    return Each<absl::Time>([](const Arrival& arrival) { return arrival.deadline; });
  }
  std::vector<std::string> peers() {
    return Each<std::string>([](const Arrival& arrival) { return arrival.peer; });
  }
  // The messages of MutateRows.
  std::vector<v2::MutateRowsRequest> batches() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return batches_;
  }

  grpc::Status ReadRows(grpc::ServerContext* context, const v2::ReadRowsRequest* request,
                        grpc::ServerWriter<v2::ReadRowsResponse>* writer) override {
    int call;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      call = Count(context);
      reads_.push_back(*request);
    }
    return read_rows(call, *request, writer, context);
  }
  grpc::Status MutateRow(grpc::ServerContext* context, const v2::MutateRowRequest* request,
                         v2::MutateRowResponse* /*response*/) override {
    int call;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      call = Count(context);
      writes_.push_back(*request);
    }
    return mutate_row(call, context);
  }
  grpc::Status MutateRows(grpc::ServerContext* context, const v2::MutateRowsRequest* request,
                          grpc::ServerWriter<v2::MutateRowsResponse>* writer) override {
    int call;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      call = Count(context);
      batches_.push_back(*request);
    }
    v2::MutateRowsResponse response;
    const grpc::Status status = mutate_rows(call, *request, &response);
    if (response.entries_size() > 0) writer->Write(response);
    return status;
  }
  grpc::Status SampleRowKeys(grpc::ServerContext* context, const v2::SampleRowKeysRequest* request,
                             grpc::ServerWriter<v2::SampleRowKeysResponse>* writer) override {
    return sample_row_keys(NextCall(context), *request, writer);
  }
  grpc::Status CheckAndMutateRow(grpc::ServerContext* context,
                                 const v2::CheckAndMutateRowRequest* /*request*/,
                                 v2::CheckAndMutateRowResponse* /*response*/) override {
    return check_and_mutate(NextCall(context));
  }
  grpc::Status ReadModifyWriteRow(grpc::ServerContext* context,
                                  const v2::ReadModifyWriteRowRequest* /*request*/,
                                  v2::ReadModifyWriteRowResponse* response) override {
    *response->mutable_row() = row;
    return read_modify_write(NextCall(context));
  }

 private:
  // Has every table.
  class Admin final : public admin_v2::BigtableTableAdmin::Service {
    grpc::Status GetTable(grpc::ServerContext* /*context*/,
                          const admin_v2::GetTableRequest* request,
                          admin_v2::Table* response) override {
      *response = fake_->table;
      response->set_name(request->name());
      return fake_->get_table;
    }
    grpc::Status ListTables(grpc::ServerContext* /*context*/,
                            const admin_v2::ListTablesRequest* request,
                            admin_v2::ListTablesResponse* response) override {
      return fake_->list_tables(lists_++, *request, response);
    }

   public:
    explicit Admin(const FakeService* fake) : fake_(fake) {}

   private:
    const FakeService* const fake_;
    int lists_ = 0;
  };

  // What came with a call.
  struct Arrival {
    std::map<std::string, std::string> headers;
    absl::Time deadline;
    std::string peer;
  };

  template <typename Value, typename Get>
  std::vector<Value> Each(const Get& get) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Value> values;
    for (const Arrival& arrival : arrivals_) values.push_back(get(arrival));
    return values;
  }

  // The number of this call. Requires the lock.
  int Count(const grpc::ServerContext* context) {
    Arrival& arrival = arrivals_.emplace_back();
    for (const auto& [name, value] : context->client_metadata()) {
      arrival.headers[std::string(name.data(), name.size())] =
          std::string(value.data(), value.size());
    }
    arrival.deadline = absl::FromChrono(context->deadline());
    arrival.peer = context->peer();
    return calls_++;
  }
  int NextCall(const grpc::ServerContext* context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Count(context);
  }

  Admin admin_{this};
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::mutex mutex_;
  int calls_ = 0;
  std::vector<Arrival> arrivals_;
  std::vector<v2::MutateRowsRequest> batches_;
  std::vector<v2::ReadRowsRequest> reads_;
  std::vector<v2::MutateRowRequest> writes_;
};

// A response as text, as in: chunks { row_key: "r" family_name { value: "f" } ... }.
inline v2::ReadRowsResponse ParseResponse(const std::string& text) {
  v2::ReadRowsResponse response;
  if (!google::protobuf::TextFormat::ParseFromString(text, &response)) std::abort();
  return response;
}

}  // namespace bigtable::remote

#endif  // BIGTABLE_TESTS_REMOTE_FAKE_SERVICE_H_
