#include "server/connections/connection_limit.h"

#include <algorithm>
#include <limits>
#include <sys/resource.h>
#include <thread>

namespace bigtable::server {
namespace {

constexpr uint64_t kFewest = 16;
constexpr uint64_t kFewestByMemory = 256;
// Descriptors of logs, of the status page, of gRPC and of the server; and of the log of each tablet
// server, of which there are as many as processors.
constexpr uint64_t kOtherFiles = 64;
constexpr uint64_t kFilesOfAServer = 4;

// What SSTables and other files leave.
uint64_t DescriptorsForConnections() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<uint64_t>::max();
  }
  const uint64_t others = kOtherFiles + kFilesOfAServer * std::thread::hardware_concurrency();
  const uint64_t half = limit.rlim_cur / 2;
  return half > others ? half - others : 0;
}

}  // namespace

size_t MostConnections(uint64_t wanted, uint64_t memory) {
  const uint64_t by_memory = std::max(memory / kMemoryOfAConnection, kFewestByMemory);
  const uint64_t most = wanted > 0 ? wanted : by_memory;
  return std::max(std::min(most, DescriptorsForConnections()), kFewest);
}

}  // namespace bigtable::server
