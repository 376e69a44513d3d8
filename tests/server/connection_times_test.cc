// How long a client may let its connection wait: what the system and gRPC are told, and do.
#include "server/connections/connection_times.h"

#include <arpa/inet.h>
#include <chrono>
#include <cstddef>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"

#include "grpc/grpc.h"
#include "server/pressed_server.h"
#include "server/server.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kHello("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);

class ConnectionTimesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { grpc_init(); }
  void TearDown() override {
    if (connection_ >= 0) close(connection_);
  }
  // A server, and a connection to it that has sent the beginning of HTTP/2 if it is to begin.
  void StartAndConnect(const ConnectionTimes& times, bool begins) {
    ServerOptions options;
    options.directory = directory_.database();
    options.address = "127.0.0.1:0";
    options.http = "";
    options.memory = 16 << 20;
    auto server = Server::Start(options, times);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    int port = 0;
    const std::string& address = server_->address();
    ASSERT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
    connection_ = PressedServer::ConnectTo(port);
    ASSERT_GE(connection_, 0);
    if (begins) send(connection_, kHello.data(), kHello.size(), MSG_NOSIGNAL);
  }
  // The other end of the connection, which is the server's, in this process.
  std::optional<int> ServersEnd() const {
    sockaddr_in client = {};
    socklen_t size = sizeof(client);
    getsockname(connection_, reinterpret_cast<sockaddr*>(&client), &size);
    for (int descriptor = 0; descriptor < 1024; ++descriptor) {
      sockaddr_in peer = {};
      size = sizeof(peer);
      if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
          peer.sin_family == AF_INET && peer.sin_port == client.sin_port) {
        return descriptor;
      }
    }
    return std::nullopt;
  }
  // Of the server's end, in milliseconds; -1: there is none.
  int UnacknowledgedTime() const {
    const std::optional<int> descriptor = ServersEnd();
    unsigned time = 0;
    socklen_t size = sizeof(time);
    if (!descriptor.has_value() ||
        getsockopt(*descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &time, &size) != 0) {
      return -1;
    }
    return static_cast<int>(time);
  }
  // What the server sends first is there, so gRPC has made a transport of the connection.
  void WaitForGrpc() const {
    char byte = 0;
    ASSERT_EQ(recv(connection_, &byte, 1, MSG_PEEK), 1);
  }
  // -1: it was not closed within `most`.
  milliseconds TimeUntilClosed(milliseconds most) const {
    const auto before = steady_clock::now();
    if (!IsSoon([&] { return PressedServer::IsClosed(connection_); }, most))
      return milliseconds(-1);
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - before);
  }

  TempDirectory directory_{TempDirectory::Where::kMemory};
  std::unique_ptr<Server> server_;
  int connection_ = -1;
};

TEST_F(ConnectionTimesTest, AConnectionEndsIfNothingIsAcknowledgedFor20Seconds) {
  StartAndConnect({}, /*begins=*/true);
  WaitForGrpc();
  EXPECT_EQ(UnacknowledgedTime(), 20'000);
}

TEST_F(ConnectionTimesTest, TheSystemHasTheTimeThatTheServerIsGiven) {
  StartAndConnect({.unacknowledged = milliseconds(4321)}, /*begins=*/true);
  WaitForGrpc();
  EXPECT_EQ(UnacknowledgedTime(), 4321);
}

TEST_F(ConnectionTimesTest, AConnectionThatDoesNotBeginIsClosed) {
  StartAndConnect({.handshake = milliseconds(500)}, /*begins=*/false);
  const milliseconds time = TimeUntilClosed(std::chrono::seconds(15));
  EXPECT_GE(time, milliseconds(300));
  EXPECT_LT(time, std::chrono::seconds(10));
}

TEST_F(ConnectionTimesTest, AConnectionWhoseClientDoesNotAnswerAPingIsClosed) {
  StartAndConnect({.ping_after = std::chrono::seconds(1), .ping = milliseconds(500)},
                  /*begins=*/true);
  WaitForGrpc();
  const milliseconds time = TimeUntilClosed(std::chrono::seconds(15));
  EXPECT_GE(time, milliseconds(1000));
  EXPECT_LT(time, std::chrono::seconds(10));
}

}  // namespace
}  // namespace bigtable::server
