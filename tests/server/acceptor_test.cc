// What stops the acceptance of connections, and what does not.
#include "server/connections/acceptor.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "gtest/gtest.h"

#include "grpc/grpc.h"
#include "server/pressed_server.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

TEST(AcceptorTest, ErrorsOfTheNetworkAreNoLackOfDescriptors) {
  for (const int error : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) {
    EXPECT_EQ(Acceptor::FailureOf(error).reason, Acceptor::Reason::kNoDescriptor) << error;
    EXPECT_FALSE(Acceptor::FailureOf(error).is_of_connection) << error;
  }
  for (const int error : {ENETDOWN, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH, EOPNOTSUPP, EBADF}) {
    EXPECT_EQ(Acceptor::FailureOf(error).reason, Acceptor::Reason::kNetwork) << error;
    EXPECT_FALSE(Acceptor::FailureOf(error).is_of_connection) << error;
  }
  for (const int error : {ECONNABORTED, EPROTO, EPERM}) {
    EXPECT_EQ(Acceptor::FailureOf(error).reason, Acceptor::Reason::kNetwork) << error;
    EXPECT_TRUE(Acceptor::FailureOf(error).is_of_connection) << error;
  }
}

// A pipe that nobody reads, and that is full.
class FullPipe {
 public:
  explicit FullPipe(const std::string& path) {
    mkfifo(path.c_str(), 0600);
    descriptor_ = open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    const std::array<char, 4096> bytes = {};
    while (write(descriptor_, bytes.data(), bytes.size()) > 0) {
    }
    while (write(descriptor_, bytes.data(), 1) > 0) {
    }
  }
  ~FullPipe() { close(descriptor_); }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

  // Others may write from now on.
  void Drain() const {
    std::array<char, 65536> bytes;
    while (read(descriptor_, bytes.data(), bytes.size()) > 0) {
    }
  }

 private:
  int descriptor_ = -1;
};

TEST(AcceptorTest, ConnectionsAreAcceptedWhileTheLogBlocks) {
  grpc_init();
  const TempDirectory directory;
  const FullPipe errors(directory.path() + "/errors");
  PressedServer server;
  ASSERT_TRUE(server.Start(directory.path() + "/database",
                           {"--connections", "20", "--http", "127.0.0.1:0"},
                           {.in_child = {}, .errors = directory.path() + "/errors"}));
  std::vector<int> idle;
  for (int i = 0; i < 60; ++i) idle.push_back(PressedServer::ConnectTo(server.port()));
  const std::string refused =
      "bigtable_grpc_refused_connections_total{reason=\"too_many_connections\"}";
  EXPECT_TRUE(IsSoon([&] { return server.Metric(refused) >= 40; }));
  // By now the server has tried to log that.
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  for (const int connection : idle) close(connection);
  EXPECT_TRUE(IsSoon([&] { return PressedServer::CreateTable(server.NewAdmin().get(), "t").ok(); }))
      << "there is room, and nobody reads the log";
  errors.Drain();
  EXPECT_EQ(server.End(), 0);
}

}  // namespace
}  // namespace bigtable::server
