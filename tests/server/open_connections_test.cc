// Which connections count as open: those whose descriptors are still of the same socket.
#include "server/connections/open_connections.h"

#include <array>
#include <chrono>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "gtest/gtest.h"

#include "server/connections/connection_limit.h"

namespace bigtable::server {
namespace {

int NewSocket() { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

TEST(OpenConnectionsTest, ClosedOnesMakeRoom) {
  OpenConnections connections(3);
  std::array<int, 4> sockets;
  for (int& each : sockets) each = NewSocket();
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(connections.Add(sockets[i]));
  EXPECT_FALSE(connections.Add(sockets[3]));
  EXPECT_EQ(connections.Count(), 3U);
  close(sockets[1]);
  EXPECT_EQ(connections.Count(), 2U);
  EXPECT_TRUE(connections.Add(sockets[3]));
  EXPECT_EQ(connections.Count(), 3U);
  for (const size_t i : {0, 2, 3}) close(sockets[i]);
  EXPECT_EQ(connections.Count(), 0U);
}

// It looks for room by itself, but not for each connection that finds none.
TEST(OpenConnectionsTest, ClosedOnesAreFoundSoon) {
  OpenConnections connections(1);
  const int first = NewSocket();
  const int second = NewSocket();
  EXPECT_TRUE(connections.Add(first));
  EXPECT_FALSE(connections.Add(second));
  close(first);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(connections.Add(second));
  close(second);
}

TEST(OpenConnectionsTest, ADescriptorThatIsUsedAgainIsAnotherConnection) {
  OpenConnections connections(2);
  const int first = NewSocket();
  EXPECT_TRUE(connections.Add(first));
  close(first);
  // Of a file, say: the number of the descriptor is the same.
  const int other = NewSocket();
  ASSERT_EQ(other, first);
  EXPECT_EQ(connections.Count(), 0U);
  EXPECT_TRUE(connections.Add(other));
  EXPECT_TRUE(connections.Add(other));
  EXPECT_EQ(connections.Count(), 1U);
  close(other);
}

TEST(OpenConnectionsTest, TheLimitFollowsFromMemoryAndDescriptors) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto most = [&](rlim_t files, uint64_t wanted, uint64_t memory) {
    const rlimit limit = {files, before.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    const size_t connections = MostConnections(wanted, memory);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    return connections;
  };
  const uint64_t others = 64 + 4 * std::thread::hardware_concurrency();
  const rlim_t files = 2 * (others + 300);
  EXPECT_EQ(most(files, 0, 512 << 20), 300U);
  EXPECT_EQ(most(files, 100, 512 << 20), 100U);
  EXPECT_EQ(most(files, 1000, 8 << 20), 300U);
  EXPECT_EQ(most(files, 0, 8 << 20), 256U);
  EXPECT_EQ(most(others, 1000, 512 << 20), 16U);
}

}  // namespace
}  // namespace bigtable::server
