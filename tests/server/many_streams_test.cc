// A thousand streams that nobody reads and a hundred slow ones, on a server in a process of its
// own: it keeps to its memory, has no threads for them, and serves others as fast as without them.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "gtest/gtest.h"

#include "grpc/grpc.h"
#include "support/seeds.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

namespace admin = google::bigtable::admin::v2;
namespace proto = google::bigtable::v2;

constexpr const char* kInstanceName = "projects/p/instances/i";
constexpr const char* kTableName = "projects/p/instances/i/tables/t";
constexpr int kIdle = 1000;
constexpr int kSlow = 100;
constexpr int kRowsInTable = 30'000;  // of 1000 bytes: far more than a connection buffers
constexpr int kMoreThreads = 24;      // than before the streams

class ManyStreamsTest : public testing::Test {
 protected:
  // gRPC is not ended after the test: that waits for a timer of its client, up to ten seconds.
  static void SetUpTestSuite() { grpc_init(); }
  void SetUp() override {
    int output[2];
    ASSERT_EQ(pipe(output), 0);
    const std::string database = directory_.path() + "/database";
    process_ = fork();
    ASSERT_GE(process_, 0);
    if (process_ == 0) {
      dup2(output[1], STDOUT_FILENO);
      execl(BIGTABLE_SERVER, BIGTABLE_SERVER, database.c_str(), "--address", "127.0.0.1:0",
            "--http", "", "--memory", "64MB", static_cast<char*>(nullptr));
      _exit(127);
    }
    close(output[1]);
    std::string line;
    for (char byte; read(output[0], &byte, 1) == 1 && byte != '\n';) line.push_back(byte);
    close(output[0]);
    ASSERT_NE(line.find("127.0.0.1:"), std::string::npos) << line;
    address_ = line.substr(line.find("127.0.0.1:"));
  }
  void TearDown() override {
    kill(process_, SIGTERM);
    int status = -1;
    waitpid(process_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }

  std::shared_ptr<grpc::Channel> Connect(bool grows = true) const {
    grpc::ChannelArguments arguments;
    // Otherwise gRPC's client takes megabytes of each stream, whether or not it is read.
    if (!grows) arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
  }
  void Fill() const {
    const auto channel = Connect();
    admin::CreateTableRequest create;
    create.set_parent(kInstanceName);
    create.set_table_id("t");
    (*create.mutable_table()->mutable_column_families())["f"];
    grpc::ClientContext create_context;
    admin::Table created;
    ASSERT_TRUE(admin::BigtableTableAdmin::NewStub(channel)
                    ->CreateTable(&create_context, create, &created)
                    .ok());
    const auto stub = proto::Bigtable::NewStub(channel);
    for (int row = 0; row < kRowsInTable;) {
      proto::MutateRowsRequest request;
      request.set_table_name(kTableName);
      for (int i = 0; i < 1000; ++i, ++row) {
        proto::MutateRowsRequest::Entry* const entry = request.add_entries();
        entry->set_row_key(absl::StrCat("row", 1'000'000 + row));
        proto::Mutation::SetCell* const cell = entry->add_mutations()->mutable_set_cell();
        cell->set_family_name("f");
        cell->set_value(std::string(1000, 'v'));
      }
      grpc::ClientContext context;
      const auto reader = stub->MutateRows(&context, request);
      proto::MutateRowsResponse response;
      while (reader->Read(&response)) {
      }
      ASSERT_TRUE(reader->Finish().ok());
    }
  }
  // A number of /proc/PID/status, of the server.
  int64_t Of(const char* name) const {
    std::ifstream file(absl::StrCat("/proc/", process_, "/status"));
    long long number = -1;
    for (std::string line; std::getline(file, line);) {
      if (line.rfind(name, 0) == 0) std::sscanf(line.c_str() + line.find(':') + 1, "%lld", &number);
    }
    return number;
  }

  TempDirectory directory_;
  pid_t process_ = -1;
  std::string address_;
};

struct Stream {
  std::unique_ptr<grpc::ClientContext> context = std::make_unique<grpc::ClientContext>();
  std::unique_ptr<grpc::ClientReader<proto::ReadRowsResponse>> reader;
  int rows = 0;
};

bool ReadOnce(Stream* stream) {
  proto::ReadRowsResponse response;
  if (!stream->reader->Read(&response)) return false;
  for (const auto& chunk : response.chunks()) stream->rows += chunk.commit_row() ? 1 : 0;
  return true;
}

TEST_F(ManyStreamsTest, KeepsToItsMemoryAndGoesOn) {
  Fill();
  const int64_t threads_before = Of("Threads");
  std::vector<std::unique_ptr<proto::Bigtable::Stub>> stubs;
  for (int i = 0; i < 20; ++i) stubs.push_back(proto::Bigtable::NewStub(Connect(false)));
  proto::ReadRowsRequest request;
  request.set_table_name(kTableName);
  std::vector<Stream> streams(kIdle + kSlow);
  for (size_t i = 0; i < streams.size(); ++i) {
    streams[i].reader = stubs[i % stubs.size()]->ReadRows(streams[i].context.get(), request);
  }
  for (Stream& stream : streams) ASSERT_TRUE(ReadOnce(&stream));

  // The slow ones read a message now and then.
  for (int round = 0; round < 10; ++round) {
    for (int i = kIdle; i < kIdle + kSlow; ++i)
      ASSERT_TRUE(ReadOnce(&streams[static_cast<size_t>(i)]));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  // 64 MB of the database, half as much of gRPC, a message for each stream, and the rest.
  // Sanitizers have memory of their own.
  if (!kSanitized) {
    EXPECT_LT(Of("RssAnon"), (64 + 32 + 64 + 64) * 1024) << "kB; threads: " << Of("Threads");
  }
  EXPECT_LE(Of("Threads"), threads_before + kMoreThreads);

  // A row and a stream of 30 MB, which takes a tenth of a second alone.
  const auto before = std::chrono::steady_clock::now();
  const auto stub = proto::Bigtable::NewStub(Connect());
  proto::ReadRowsRequest one = request;
  one.mutable_rows()->add_row_keys("row1000007");
  for (const proto::ReadRowsRequest& other : {one, request}) {
    Stream stream;
    stream.reader = stub->ReadRows(stream.context.get(), other);
    while (ReadOnce(&stream)) {
    }
    EXPECT_EQ(stream.rows, other.rows().row_keys().empty() ? kRowsInTable : 1);
    EXPECT_TRUE(stream.reader->Finish().ok());
  }
  const auto taken = std::chrono::steady_clock::now() - before;
  RecordProperty("milliseconds", static_cast<int>(taken / std::chrono::milliseconds(1)));
  EXPECT_LT(taken, std::chrono::seconds(5));

  for (size_t i = 1; i < streams.size(); ++i) streams[i].context->TryCancel();
  for (size_t i = 1; i < streams.size(); ++i) {
    EXPECT_EQ(streams[i].reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  // One that was idle all the time has every row.
  while (ReadOnce(&streams[0])) {
  }
  EXPECT_EQ(streams[0].rows, kRowsInTable);
  EXPECT_TRUE(streams[0].reader->Finish().ok());

  for (int i = 0; i < 3000 && Of("Threads") > threads_before + kMoreThreads; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LE(Of("Threads"), threads_before + kMoreThreads);
}

}  // namespace
}  // namespace bigtable::server
