// The server while its clients take all connections, descriptors and streams that there may be: it
// goes on, says so, needs no CPU for those that wait, and serves everybody when there is room.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grpc/grpc.h"
#include "server/connections/connection_limit.h"
#include "server/pressed_server.h"
#include "support/seeds.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

using testing::HasSubstr;

constexpr int kFewFiles = 256;  // that a server needs at least

class ConnectionPressureTest : public testing::Test {
 protected:
  // gRPC is not ended after the test: that waits for a timer of its client, up to ten seconds.
  static void SetUpTestSuite() {
    grpc_init();
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }

  void Start(std::vector<std::string> options, int files = 0) {
    options.insert(options.end(), {"--http", "127.0.0.1:0", "--drain", "1"});
    const auto limit_files = [files] {
      const rlimit limit = {static_cast<rlim_t>(files), static_cast<rlim_t>(files)};
      if (files > 0) setrlimit(RLIMIT_NOFILE, &limit);
    };
    ASSERT_TRUE(server_.Start(directory_.path() + "/database", options,
                              {.in_child = limit_files, .errors = directory_.path() + "/errors"}));
    ASSERT_TRUE(PressedServer::CreateTable(server_.NewAdmin().get(), "t").ok());
  }
  void TearDown() override {
    for (const int connection : idle_) close(connection);
  }
  // Connections that send nothing.
  void AddIdle(int count, int port) {
    for (int i = 0; i < count; ++i) {
      idle_.push_back(PressedServer::ConnectTo(port));
      ASSERT_GE(idle_.back(), 0);
    }
  }
  void CloseIdle() {
    for (const int connection : idle_) close(connection);
    idle_.clear();
  }
  int64_t OpenIdle() const {
    return std::count_if(idle_.begin(), idle_.end(),
                         [](int connection) { return !PressedServer::IsClosed(connection); });
  }
  // Seconds of CPU that the server takes in a second.
  double CpuOfASecond() const {
    const double before = server_.CpuSeconds();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return server_.CpuSeconds() - before;
  }
  // With a connection of its own.
  bool CanWrite(const std::string& row) {
    return PressedServer::WriteRow(server_.NewData().get(), row, 100).ok();
  }
  std::string Errors() const {
    std::ifstream file(directory_.path() + "/errors");
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }

  TempDirectory directory_;
  PressedServer server_;
  std::vector<int> idle_;
};

TEST_F(ConnectionPressureTest, ConnectionsBeyondTheLimitAreClosed) {
  Start({"--connections", "50"});
  const auto early = server_.NewData();
  ASSERT_TRUE(PressedServer::WriteRow(early.get(), "early", 100).ok());
  AddIdle(200, server_.port());
  EXPECT_TRUE(IsSoon([&] { return OpenIdle() <= 50; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GE(OpenIdle(), 45);
  EXPECT_LE(server_.Metric("bigtable_grpc_connections"), 50);
  EXPECT_EQ(server_.Metric("bigtable_grpc_connection_limit"), 50);
  const std::string refused =
      "bigtable_grpc_refused_connections_total{reason=\"too_many_connections\"}";
  EXPECT_GE(server_.Metric(refused), 150);
  EXPECT_THAT(server_.Page("/status.json"), HasSubstr("\"connection_limit\":50"));
  EXPECT_TRUE(IsSoon([&] { return Errors().find("too_many_connections=") != std::string::npos; }));
  // Those that are there are served, and others are told to come again.
  EXPECT_TRUE(PressedServer::WriteRow(early.get(), "meanwhile", 100).ok());
  const grpc::Status late =
      PressedServer::WriteRow(server_.NewData().get(), "late", 100, std::chrono::seconds(5));
  EXPECT_EQ(late.error_code(), grpc::StatusCode::UNAVAILABLE) << late.error_message();
  CloseIdle();
  EXPECT_TRUE(IsSoon([&] { return CanWrite("afterwards"); }));
  EXPECT_EQ(server_.End(), 0);
}

// The limit of descriptors is that of connections, too: what the database needs is left.
TEST_F(ConnectionPressureTest, ConnectionsLeaveDescriptorsForTheDatabase) {
  Start({"--memory", "16MB"}, kFewFiles);
  const double most = server_.Metric("bigtable_grpc_connection_limit");
  EXPECT_GE(most, 16);
  EXPECT_LE(most, kFewFiles / 2 - 64);
  AddIdle(3 * kFewFiles, server_.port());
  EXPECT_TRUE(IsSoon([&] { return static_cast<double>(OpenIdle()) <= most; }));
  EXPECT_LT(server_.Descriptors(), kFewFiles / 2 + 64);
  EXPECT_LT(CpuOfASecond(), 0.3);
  CloseIdle();
  // The table gets many files.
  EXPECT_TRUE(IsSoon([&] { return CanWrite("first"); }));
  const auto stub = server_.NewData();
  EXPECT_TRUE(PressedServer::WriteRow(stub.get(), "connected", 100).ok());
  AddIdle(3 * kFewFiles, server_.port());
  for (int i = 0; i < 40; ++i) {
    const grpc::Status status = PressedServer::WriteRow(stub.get(), absl::StrCat(i), 1'000'000);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  EXPECT_EQ(server_.Metric("bigtable_grpc_healthy"), 1);
  EXPECT_EQ(server_.End(), 0);
}

// Its limit is lowered while it runs, as if others of its process had taken them.
TEST_F(ConnectionPressureTest, WithoutDescriptorsConnectionsWait) {
  // It opens a pipe to see whether an object is there, and takes it for none without descriptors.
  if (kSanitized) GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors";
  Start({"--memory", "16MB"});
  const auto early = server_.NewData();
  ASSERT_TRUE(PressedServer::WriteRow(early.get(), "early", 100).ok());
  rlimit before = {};
  ASSERT_EQ(prlimit(server_.pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit few = {static_cast<rlim_t>(server_.Descriptors()), before.rlim_max};
  ASSERT_EQ(prlimit(server_.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  AddIdle(100, server_.port());  // in the queue of the system
  EXPECT_LT(CpuOfASecond(), 0.3);
  EXPECT_EQ(OpenIdle(), 100);
  // Reads go on, and writes as far as they need no file.
  grpc::Status status;
  EXPECT_EQ(PressedServer::SizeOfRow(early.get(), "early", &status), 100);
  EXPECT_TRUE(status.ok()) << status.error_message();
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    status = PressedServer::WriteRow(early.get(), absl::StrCat("large", i), 1'000'000,
                                     std::chrono::seconds(10));
    if (status.ok()) continue;
    ++refused;
    EXPECT_TRUE(PressedServer::MayTryAgain(status))
        << status.error_code() << ": " << status.error_message();
    grpc::Status read;
    EXPECT_EQ(PressedServer::SizeOfRow(early.get(), absl::StrCat("large", i), &read), -1);
    if (refused == 2) break;
  }
  EXPECT_GT(refused, 0);
  ASSERT_TRUE(server_.IsAlive());

  ASSERT_EQ(prlimit(server_.pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_TRUE(IsSoon([&] { return CanWrite("afterwards"); }));
  EXPECT_GT(server_.Metric("bigtable_grpc_refused_connections_total{reason=\"no_descriptor\"}"), 0);
  EXPECT_TRUE(IsSoon([&] { return Errors().find("no_descriptor=") != std::string::npos; }));
  EXPECT_TRUE(
      IsSoon([&] { return PressedServer::WriteRow(early.get(), "larger", 1'000'000).ok(); }));
  EXPECT_EQ(server_.End(), 0);
}

TEST_F(ConnectionPressureTest, ConnectionsOfTheStatusPageLeaveDescriptors) {
  Start({"--memory", "16MB"}, kFewFiles);
  const int before = server_.Descriptors();
  // Most stay in the queue of the system, or do not even get there.
  sockaddr_in page = {};
  page.sin_family = AF_INET;
  page.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  page.sin_port = htons(static_cast<uint16_t>(server_.http_port()));
  for (int i = 0; i < 400; ++i) {
    idle_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    connect(idle_.back(), reinterpret_cast<const sockaddr*>(&page), sizeof(page));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(server_.Descriptors(), before + 40);
  EXPECT_LT(CpuOfASecond(), 0.3);
  EXPECT_TRUE(CanWrite("meanwhile"));
  CloseIdle();
  EXPECT_TRUE(IsSoon([&] { return server_.Metric("bigtable_grpc_healthy") == 1; }));
  EXPECT_EQ(server_.End(), 0);
}

// Of gRPC: the beginning of HTTP/2, and nothing more.
TEST_F(ConnectionPressureTest, AnIdleConnectionTakesItsMemoryAtMost) {
  constexpr int kConnections = 1500;
  Start({"--memory", "64MB", "--connections", "2000"});
  if (server_.Metric("bigtable_grpc_connection_limit") < kConnections) {
    GTEST_SKIP() << "this process may not open enough files (ulimit -n)";
  }
  ASSERT_TRUE(CanWrite("early"));
  const int64_t before = server_.Of("RssAnon");
  const std::string hello("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  AddIdle(kConnections, server_.port());
  for (const int connection : idle_) send(connection, hello.data(), hello.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(IsSoon([&] { return server_.Metric("bigtable_grpc_connections") >= kConnections; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const int64_t bytes = (server_.Of("RssAnon") - before) * 1024 / kConnections;
  std::printf("bytes of an idle connection: %lld\n", static_cast<long long>(bytes));
  RecordProperty("bytes", static_cast<int>(bytes));
  if (!kSanitized) {
    EXPECT_LT(bytes, static_cast<int64_t>(kMemoryOfAConnection));
  }
  EXPECT_LT(CpuOfASecond(), 0.3);
  EXPECT_TRUE(CanWrite("meanwhile"));
  CloseIdle();
  EXPECT_TRUE(IsSoon([&] { return server_.Metric("bigtable_grpc_connections") < 10; }));
  EXPECT_EQ(server_.End(), 0);
}

// A client keeps a stream beyond the limit of a connection to itself until another has ended.
TEST_F(ConnectionPressureTest, AConnectionHasAThousandStreams) {
  constexpr int kLimit = 1000;
  Start({"--memory", "64MB"});
  const auto stub = server_.NewData();
  // More than the buffers of a connection take.
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(PressedServer::WriteRow(stub.get(), absl::StrCat(i), 30'000).ok());
  }
  google::bigtable::v2::ReadRowsRequest request;
  request.set_table_name(PressedServer::kTable);
  const auto reads = server_.NewData(/*probes=*/false);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<google::bigtable::v2::ReadRowsResponse>>> streams;
  const auto read = [&] { return reads->ReadRows(contexts.back().get(), request); };
  const std::string open = "bigtable_grpc_streams{state=\"open\"}";
  for (int i = 1; i <= kLimit; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    streams.push_back(read());  // which waits until the request has been sent
    // Few at once, so that the server need not refuse any for want of memory.
    if (i % 50 == 0) {
      ASSERT_TRUE(IsSoon([&] { return server_.Metric(open) == i; }));
    }
  }
  contexts.push_back(std::make_unique<grpc::ClientContext>());
  std::atomic<bool> is_sent{false};
  std::thread waits([&] {
    streams.push_back(read());
    is_sent = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(is_sent.load());
  EXPECT_EQ(server_.Metric(open), kLimit);
  // Other connections are served.
  EXPECT_TRUE(PressedServer::WriteRow(stub.get(), "meanwhile", 100).ok());
  contexts.front()->TryCancel();
  waits.join();
  EXPECT_TRUE(IsSoon([&] { return server_.Metric(open) == kLimit; }));
  for (const auto& context : contexts) context->TryCancel();
  for (const auto& stream : streams) {
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  EXPECT_TRUE(IsSoon([&] { return server_.Metric(open) == 0; }));
  EXPECT_TRUE(PressedServer::WriteRow(reads.get(), "afterwards", 100).ok());
  EXPECT_EQ(server_.End(), 0);
}

// Clients that connect and go at once, some after the beginning of HTTP/2, of a call or of TLS.
TEST_F(ConnectionPressureTest, RandomClientsThatComeAndGoLeaveNothing) {
  Start({"--connections", "200", "--memory", "32MB"});
  const auto stub = server_.NewData();
  ASSERT_TRUE(PressedServer::WriteRow(stub.get(), "early", 100).ok());
  const int before = server_.Descriptors();
  ForEachSeed(1, [&](uint64_t seed) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    std::vector<std::thread> clients;
    for (uint64_t client = 0; client < 4; ++client) {
      clients.emplace_back([&, client] {
        std::mt19937_64 random(seed * 100 + client);
        std::string bytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
        for (int i = 0; i < 30; ++i) bytes.push_back(static_cast<char>(random()));
        std::vector<int> open;
        while (std::chrono::steady_clock::now() < until) {
          const int connection = PressedServer::ConnectTo(server_.port());
          if (connection < 0) continue;
          const size_t sent = random() % (bytes.size() + 1);
          send(connection, bytes.data(), sent, MSG_NOSIGNAL);
          open.push_back(connection);
          if (open.size() < random() % 100) continue;
          // Some with a reset.
          const linger at_once = {.l_onoff = static_cast<int>(random() % 2), .l_linger = 0};
          for (const int each : open) {
            setsockopt(each, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
            close(each);
          }
          open.clear();
        }
        for (const int each : open) close(each);
      });
    }
    for (int i = 0; std::chrono::steady_clock::now() < until; ++i) {
      const grpc::Status status = PressedServer::WriteRow(stub.get(), absl::StrCat(i), 1000);
      EXPECT_TRUE(status.ok()) << status.error_message();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    for (std::thread& client : clients) client.join();
    ASSERT_TRUE(server_.IsAlive());
    EXPECT_TRUE(IsSoon([&] { return server_.Descriptors() <= before + 5; }))
        << server_.Descriptors() << " descriptors, and " << before << " before";
    EXPECT_TRUE(IsSoon([&] { return CanWrite("afterwards"); }));
  });
  EXPECT_EQ(server_.End(), 0);
}

}  // namespace
}  // namespace bigtable::server
