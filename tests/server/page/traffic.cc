// Traffic for the status page: reads and writes of a table with some rows that are far hotter than
// others, until SECONDS have passed or its input ends.
//
//   traffic ADDRESS SECONDS
//
// Prints what it did in one line: "written N read N refused N".
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <poll.h>
#include <random>
#include <string>
#include <unistd.h>

#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

namespace {

namespace admin = google::bigtable::admin::v2;
namespace data = google::bigtable::v2;

constexpr const char* kInstance = "projects/local/instances/local";
constexpr const char* kTable = "projects/local/instances/local/tables/people";

class Traffic {
 public:
  explicit Traffic(const std::string& address)
      : channel_(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())),
        stub_(data::Bigtable::NewStub(channel_)) {}

  bool CreateTable() {
    admin::CreateTableRequest request;
    request.set_parent(kInstance);
    request.set_table_id("people");
    (*request.mutable_table()->mutable_column_families())["profile"];
    (*request.mutable_table()->mutable_column_families())["posts"];
    for (const char* key : {"user3", "user6", "user8"}) {
      request.add_initial_splits()->set_key(key);
    }
    grpc::ClientContext context;
    admin::Table table;
    const grpc::Status status =
        admin::BigtableTableAdmin::NewStub(channel_)->CreateTable(&context, request, &table);
    return status.ok() || status.error_code() == grpc::StatusCode::ALREADY_EXISTS;
  }

  // One of each kind of call, more or less often.
  void Step() {
    ++steps_;
    Write(HotKey());
    Read(HotKey(), 1);
    if (steps_ % 40 == 0) WriteMany(20);
    if (steps_ % 100 == 0) Read(AnyKey(), 100);
    if (steps_ % 50 == 0) Refused();
  }

  void Print() const {
    std::printf("written %ld read %ld refused %ld\n", static_cast<long>(written_),
                static_cast<long>(read_), static_cast<long>(refused_));
  }

 private:
  static std::string Key(uint64_t number) {
    char key[32];
    std::snprintf(key, sizeof(key), "user%08lu", static_cast<unsigned long>(number % 100000000));
    return key;
  }
  std::string AnyKey() { return Key(random_() % 100000000); }
  // Some near a place that moves on slowly, and begins again before it comes near the hot row; some
  // of that row; and some anywhere.
  std::string HotKey() {
    const uint64_t choice = random_() % 10;
    if (choice < 4) return Key(40000000 + steps_ * 400 % 19000000 + random_() % 1000000);
    return choice < 6 ? Key(72000000) : AnyKey();
  }

  void FillMutation(data::Mutation* mutation) {
    auto* const cell = mutation->mutable_set_cell();
    cell->set_family_name(random_() % 2 == 0 ? "profile" : "posts");
    cell->set_column_qualifier("c");
    cell->set_timestamp_micros(-1);
    cell->set_value(std::string(400, 'v'));
  }

  void Write(const std::string& key) {
    data::MutateRowRequest request;
    request.set_table_name(kTable);
    request.set_row_key(key);
    FillMutation(request.add_mutations());
    grpc::ClientContext context;
    data::MutateRowResponse response;
    if (stub_->MutateRow(&context, request, &response).ok()) ++written_;
  }

  void WriteMany(int count) {
    data::MutateRowsRequest request;
    request.set_table_name(kTable);
    for (int i = 0; i < count; ++i) {
      auto* const entry = request.add_entries();
      entry->set_row_key(AnyKey());
      FillMutation(entry->add_mutations());
    }
    grpc::ClientContext context;
    data::MutateRowsResponse response;
    auto reader = stub_->MutateRows(&context, request);
    while (reader->Read(&response)) {
    }
    if (reader->Finish().ok()) written_ += count;
  }

  void Read(const std::string& begin, int limit) {
    data::ReadRowsRequest request;
    request.set_table_name(kTable);
    request.mutable_rows()->add_row_ranges()->set_start_key_closed(begin);
    request.set_rows_limit(limit);
    request.mutable_filter()->set_cells_per_column_limit_filter(1);  // the hot row has many
    grpc::ClientContext context;
    data::ReadRowsResponse response;
    auto reader = stub_->ReadRows(&context, request);
    while (reader->Read(&response)) {
      for (const auto& chunk : response.chunks()) read_ += chunk.commit_row() ? 1 : 0;
    }
    static_cast<void>(reader->Finish());
  }

  // A family that is not there.
  void Refused() {
    data::MutateRowRequest request;
    request.set_table_name(kTable);
    request.set_row_key("user0");
    FillMutation(request.add_mutations());
    request.mutable_mutations(0)->mutable_set_cell()->set_family_name("none");
    grpc::ClientContext context;
    data::MutateRowResponse response;
    if (!stub_->MutateRow(&context, request, &response).ok()) ++refused_;
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<data::Bigtable::Stub> stub_;
  std::mt19937_64 random_{301};
  uint64_t steps_ = 0;
  int64_t written_ = 0;
  int64_t read_ = 0;
  int64_t refused_ = 0;
};

bool InputHasEnded() {
  pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return poll(&input, 1, 0) > 0;  // nothing is ever written to it
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: traffic ADDRESS SECONDS\n");
    return 2;
  }
  Traffic traffic(argv[1]);
  if (!traffic.CreateTable()) {
    std::fprintf(stderr, "traffic: the table cannot be created\n");
    return 1;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  while (std::chrono::steady_clock::now() < end && !InputHasEnded()) traffic.Step();
  traffic.Print();
  return 0;
}
