// The server while memory runs out: a process of its own under many clients with large requests and
// slow ones. What must hold: it goes on; what was refused was not executed, and says that clients
// may try again; its memory keeps to the bound of docs/server.md; afterwards all is as before.
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <random>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/client_context.h"
#include "gtest/gtest.h"

#include "server/calls/request_limits.h"
#include "server/server_process.h"
#include "support/seeds.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

namespace proto = google::bigtable::v2;
namespace admin_proto = google::bigtable::admin::v2;

constexpr const char* kPressedTable = "projects/p/instances/i/tables/t";

void SetValue(proto::Mutation* mutation, size_t value_bytes) {
  proto::Mutation::SetCell* const cell = mutation->mutable_set_cell();
  cell->set_family_name("f");
  cell->set_timestamp_micros(1000);
  cell->set_value(std::string(value_bytes, 'v'));
}

proto::MutateRowsRequest LargeBatch(const std::string& prefix, int rows, size_t value_bytes) {
  proto::MutateRowsRequest request;
  request.set_table_name(kPressedTable);
  for (int i = 0; i < rows; ++i) {
    proto::MutateRowsRequest::Entry* const entry = request.add_entries();
    entry->set_row_key(absl::StrCat(prefix, ".", i));
    SetValue(entry->add_mutations(), value_bytes);
  }
  return request;
}

// Whether the client is told to try again.
bool HasRetryInfo(const grpc::Status& status) {
  google::rpc::Status details;
  google::rpc::RetryInfo retry;
  return details.ParseFromString(status.error_details()) && details.details_size() == 1 &&
         details.details(0).UnpackTo(&retry) && retry.retry_delay().nanos() > 0;
}

// What became of the writes, by row.
class Outcomes {
 public:
  void Add(const std::string& row, const grpc::Status& status) {
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      EXPECT_TRUE(HasRetryInfo(status)) << status.error_message();
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    rows_[row] = status;
  }
  int Count(grpc::StatusCode code) const {
    int count = 0;
    for (const auto& [row, status] : rows_) count += status.error_code() == code ? 1 : 0;
    return count;
  }
  // `written` has all rows of the table. Of a call whose deadline has passed the outcome is not
  // known.
  void Check(const std::map<std::string, size_t>& written) const {
    for (const auto& [row, status] : rows_) {
      if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
          status.error_code() == grpc::StatusCode::CANCELLED) {
        continue;
      }
      ASSERT_EQ(written.count(row), status.ok() ? 1U : 0U)
          << row << ": " << status.error_code() << ", " << status.error_message();
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, grpc::Status> rows_;
};

class MemoryPressureTest : public testing::Test {
 protected:
  // gRPC is not ended after the test: that waits for a timer of its client, up to ten seconds.
  static void SetUpTestSuite() { grpc_init(); }

  void Start(uint64_t memory) {
    directory_ = std::make_unique<TempDirectory>();
    server_ = std::make_unique<ServerProcess>();
    outcomes_ = std::make_unique<Outcomes>();
    limits_ = std::make_unique<RequestLimits>(memory, 2048);
    ASSERT_TRUE(server_->Start(directory_->path() + "/database",
                               {"--http", "", "--memory", std::to_string(memory), "--drain", "1"}));
    admin_proto::CreateTableRequest create;
    create.set_parent("projects/p/instances/i");
    create.set_table_id("t");
    (*create.mutable_table()->mutable_column_families())["f"];
    grpc::ClientContext context;
    admin_proto::Table created;
    ASSERT_TRUE(admin_proto::BigtableTableAdmin::NewStub(server_->Connect())
                    ->CreateTable(&context, create, &created)
                    .ok());
    ends_ = false;
    most_resident_ = 0;
    sampler_ = std::thread([this] {
      while (!ends_.load()) {
        most_resident_ = std::max(most_resident_, server_->Of("RssAnon"));
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
      }
    });
  }
  void TearDown() override { StopSampling(); }

  // Runs `client(i, stub)` in a thread each, with a connection each, and waits for them.
  template <typename Client>
  void RunClients(int clients, const Client& client) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(clients));
    for (int i = 0; i < clients; ++i) {
      threads.emplace_back(
          [&, i] { client(i, proto::Bigtable::NewStub(server_->Connect()).get()); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  grpc::Status WriteRow(proto::Bigtable::Stub* stub, const std::string& row, size_t bytes,
                        std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
    proto::MutateRowRequest request;
    request.set_table_name(kPressedTable);
    request.set_row_key(row);
    SetValue(request.add_mutations(), bytes);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    proto::MutateRowResponse response;
    const grpc::Status status = stub->MutateRow(&context, request, &response);
    outcomes_->Add(row, status);
    return status;
  }
  grpc::Status WriteBatch(proto::Bigtable::Stub* stub, const std::string& prefix, int rows,
                          size_t bytes,
                          std::chrono::milliseconds deadline = std::chrono::seconds(60)) {
    const proto::MutateRowsRequest request = LargeBatch(prefix, rows, bytes);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    const auto reader = stub->MutateRows(&context, request);
    std::map<int64_t, int> codes;
    for (proto::MutateRowsResponse response; reader->Read(&response);) {
      for (const auto& entry : response.entries()) codes[entry.index()] = entry.status().code();
    }
    const grpc::Status status = reader->Finish();
    for (int i = 0; i < rows; ++i) {
      const auto code = static_cast<grpc::StatusCode>(codes[i]);
      outcomes_->Add(request.entries(i).row_key(), status.ok() && code != grpc::StatusCode::OK
                                                       ? grpc::Status(code, "of an entry")
                                                       : status);
    }
    return status;
  }

  // As a client of Google's: tries again as long as it is told to.
  grpc::Status WriteRowAgain(proto::Bigtable::Stub* stub, const std::string& row, size_t bytes) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (;;) {
      const grpc::Status status = WriteRow(stub, row, bytes);
      if (status.error_code() != grpc::StatusCode::UNAVAILABLE ||
          std::chrono::steady_clock::now() > until) {
        return status;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
  }

  // What must hold after each load.
  void CheckAndEnd() {
    ASSERT_TRUE(server_->IsAlive());
    CheckAfterwards();
    StopSampling();
    if (!kSanitized) {
      EXPECT_LE(most_resident_, static_cast<int64_t>(limits_->resident >> 10)) << "kB";
    }
    RecordProperty("resident_kb", static_cast<int>(most_resident_));
    std::printf("resident: %lld of %llu kB; OK: %d, UNAVAILABLE: %d, RESOURCE_EXHAUSTED: %d\n",
                static_cast<long long>(most_resident_),
                static_cast<unsigned long long>(limits_->resident >> 10),
                outcomes_->Count(grpc::StatusCode::OK),
                outcomes_->Count(grpc::StatusCode::UNAVAILABLE),
                outcomes_->Count(grpc::StatusCode::RESOURCE_EXHAUSTED));
    EXPECT_EQ(server_->End(), 0);
  }
  void CheckAfterwards() {
    const auto stub = proto::Bigtable::NewStub(server_->Connect());
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(WriteRow(stub.get(), "afterwards", 1000).ok());
    EXPECT_TRUE(WriteRow(stub.get(), "afterwards, large", limits_->largest / 2).ok());
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
    std::map<std::string, size_t> written;
    ReadAll(stub.get(), &written);
    outcomes_->Check(written);
  }
  static void ReadAll(proto::Bigtable::Stub* stub, std::map<std::string, size_t>* rows) {
    proto::ReadRowsRequest request;
    request.set_table_name(kPressedTable);
    // Keys alone.
    request.mutable_filter()->set_strip_value_transformer(true);
    grpc::ClientContext context;
    const auto reader = stub->ReadRows(&context, request);
    std::string row;
    for (proto::ReadRowsResponse response; reader->Read(&response);) {
      for (const auto& chunk : response.chunks()) {
        if (!chunk.row_key().empty()) row = chunk.row_key();
        if (chunk.commit_row()) ++(*rows)[row];
      }
    }
    EXPECT_TRUE(reader->Finish().ok());
  }
  void StopSampling() {
    ends_ = true;
    if (sampler_.joinable()) sampler_.join();
  }

  std::unique_ptr<TempDirectory> directory_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<Outcomes> outcomes_;
  std::unique_ptr<RequestLimits> limits_;
  std::atomic<bool> ends_{false};
  int64_t most_resident_ = 0;  // the sampler's until it has ended
  std::thread sampler_;
};

// Each on a connection of its own, so that gRPC holds much of all of them at once.
TEST_F(MemoryPressureTest, BatchesOfManyConnectionsDoNotEndTheServer) {
  struct Load {
    uint64_t memory;
    int clients;
    int rows;
  };
  std::vector<Load> loads = {{uint64_t{8} << 20, 50, 10}, {uint64_t{64} << 20, 50, 10}};
  // The default, with gigabytes of requests.
  if (std::getenv("BIGTABLE_TEST_LONG_SECONDS") != nullptr) {
    loads.push_back({uint64_t{512} << 20, 120, 40});
  }
  for (const Load& load : loads) {
    SCOPED_TRACE(load.memory);
    Start(load.memory);
    RunClients(load.clients, [this, &load](int client, proto::Bigtable::Stub* stub) {
      for (int round = 0; round < 2; ++round) {
        WriteBatch(stub, absl::StrCat(client, ".", round), load.rows, 100'000);
      }
    });
    CheckAndEnd();
  }
}

// Of a tenth of the memory and more, so that few fit in at once. A client that waits as it is told
// gets all of them written.
TEST_F(MemoryPressureTest, LargeValuesAreWrittenOneAfterTheOther) {
  for (const uint64_t memory : {uint64_t{8} << 20, uint64_t{64} << 20}) {
    SCOPED_TRACE(memory);
    Start(memory);
    const size_t bytes = limits_->largest - 10'000;
    RunClients(8, [&](int client, proto::Bigtable::Stub* stub) {
      const grpc::Status status = WriteRowAgain(stub, std::to_string(client), bytes);
      EXPECT_TRUE(status.ok()) << status.error_message();
    });
    CheckAndEnd();
  }
}

TEST_F(MemoryPressureTest, ARequestThatIsTooLargeIsRefusedForGood) {
  Start(8 << 20);
  const auto stub = proto::Bigtable::NewStub(server_->Connect());
  for (const size_t bytes : {limits_->largest + 1, uint64_t{40} << 20, uint64_t{200} << 20}) {
    const grpc::Status status = WriteRow(stub.get(), absl::StrCat("large", bytes), bytes);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << bytes;
    EXPECT_NE(status.error_message().find("at most 2097152 bytes"), std::string::npos)
        << status.error_message();
    EXPECT_FALSE(HasRetryInfo(status));
  }
  CheckAndEnd();
}

// --- Slow clients ---

std::string FrameOf(char type, char flags, char stream, const std::string& payload) {
  std::string frame(9, '\0');
  frame[0] = static_cast<char>(payload.size() >> 16);
  frame[1] = static_cast<char>(payload.size() >> 8);
  frame[2] = static_cast<char>(payload.size());
  frame[3] = type;
  frame[4] = flags;
  frame[8] = stream;
  return frame + payload;
}

std::string HeaderOf(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}

// A connection that has begun a MutateRow of a megabyte and sent a kilobyte of it; or -1.
int BeginToSend(int port) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(port));
  if (connect(connection, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) return -1;
  const std::string headers = HeaderOf(":method", "POST") + HeaderOf(":scheme", "http") +
                              HeaderOf(":path", "/google.bigtable.v2.Bigtable/MutateRow") +
                              HeaderOf(":authority", "a") + HeaderOf("te", "trailers") +
                              HeaderOf("content-type", "application/grpc");
  const std::string message = std::string("\0\0\x10\0\0", 5) + std::string(1000, 'x');
  const std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + FrameOf(4, 0, 0, "") +
                            FrameOf(1, 4, 1, headers) + FrameOf(0, 0, 1, message);
  send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return connection;
}

TEST_F(MemoryPressureTest, ClientsThatStopSendingDoNotKeepOthersOut) {
  Start(8 << 20);
  std::vector<int> slow;
  for (int i = 0; i < 200; ++i) slow.push_back(BeginToSend(server_->port()));
  for (const int connection : slow) ASSERT_GE(connection, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  // Those that wait behind them, and those that are told to come again, are served.
  const auto before = std::chrono::steady_clock::now();
  RunClients(4, [this](int client, proto::Bigtable::Stub* stub) {
    EXPECT_TRUE(WriteRowAgain(stub, absl::StrCat(client), 1000).ok());
    EXPECT_TRUE(WriteRowAgain(stub, absl::StrCat(client, ".large"), 500'000).ok());
  });
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(15));
  for (const int connection : slow) close(connection);
  CheckAndEnd();
}

// --- All at once ---

// A call of a random kind and size.
void RandomCall(
    std::mt19937_64* random, uint64_t largest, const std::string& name,
    const std::function<void(const std::string&, size_t, std::chrono::milliseconds)>& write,
    const std::function<void(const std::string&, int, size_t, std::chrono::milliseconds)>& batch) {
  const auto below = [random](uint64_t end) { return (*random)() % end; };
  const std::chrono::milliseconds deadline(below(4) == 0 ? below(300) : 30'000);
  switch (below(3)) {
    case 0:
      return write(name, below(2000), deadline);
    case 1:
      return write(name, below(std::min<uint64_t>(largest - 10'000, 20'000'000)), deadline);
    default: {
      const int rows = 1 + static_cast<int>(below(40));
      const uint64_t bytes = std::min<uint64_t>(largest - 10'000, 20'000'000);
      return batch(name, rows, below(bytes / static_cast<uint64_t>(rows) - 200), deadline);
    }
  }
}

TEST_F(MemoryPressureTest, RandomLoadIsServedOrRefused) {
  ForEachSeed(2, [this](uint64_t seed) {
    std::mt19937_64 random(seed);
    // 256 MB and more have windows that grow.
    const uint64_t memory = uint64_t{8} << (20 + random() % 7);
    const int clients = 4 + static_cast<int>(random() % 40);
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    Start(memory);
    std::vector<int> slow;
    for (uint64_t i = random() % 50; i > 0; --i) slow.push_back(BeginToSend(server_->port()));
    RunClients(clients, [&](int client, proto::Bigtable::Stub* stub) {
      std::mt19937_64 own(seed * 1000 + static_cast<uint64_t>(client));
      for (int i = 0; std::chrono::steady_clock::now() < until; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(own() % 10));
        RandomCall(
            &own, limits_->largest, absl::StrCat(client, ".", i),
            [&](const std::string& row, size_t bytes, std::chrono::milliseconds deadline) {
              WriteRow(stub, row, bytes, deadline);
            },
            [&](const std::string& prefix, int rows, size_t bytes,
                std::chrono::milliseconds deadline) {
              WriteBatch(stub, prefix, rows, bytes, deadline);
            });
      }
    });
    for (const int connection : slow) close(connection);
    EXPECT_EQ(outcomes_->Count(grpc::StatusCode::RESOURCE_EXHAUSTED), 0);
    CheckAndEnd();
  });
}

}  // namespace
}  // namespace bigtable::server
