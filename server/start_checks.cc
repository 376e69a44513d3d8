#include "server/start_checks.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <latch>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "server/calls/start_thread.h"
#include "server/connections/host_addresses.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

constexpr std::string_view kUnix = "unix:";

absl::Status CheckOpenFiles() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kLeastOpenFiles) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(Cat("the process must be allowed to open at least ",
                                           kLeastOpenFiles, " files (ulimit -n), and may open ",
                                           limit.rlim_cur));
}

// Starts that many threads, which end at once. Those of other processes of the user count, too, so
// this is what is left now.
absl::Status CheckThreads() {
  std::vector<std::thread> threads(kLeastThreads);
  std::latch all_started(1);
  int started = 0;
  for (std::thread& thread : threads) {
    if (!StartThread(
             "", [&] { all_started.wait(); }, &thread)
             .ok())
      break;
    ++started;
  }
  all_started.count_down();
  for (int i = 0; i < started; ++i) threads[static_cast<size_t>(i)].join();
  if (started == kLeastThreads) return absl::OkStatus();
  return absl::FailedPreconditionError(
      Cat("the process must be allowed to start at least ", kLeastThreads,
          " threads (ulimit -u, or TasksMax of systemd), and may start ", started));
}

// 0, or the error of listening on the address for a moment.
int TryToListen(const addrinfo& address) {
  const int listener = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return errno;
  const int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool listens =
      bind(listener, address.ai_addr, address.ai_addrlen) == 0 && listen(listener, 1) == 0;
  const int error = listens ? 0 : errno;
  close(listener);
  return error;
}

absl::Status CheckSocketFile(std::string_view flag, const std::string& address) {
  constexpr size_t kMostBytes = sizeof(sockaddr_un::sun_path) - 1;
  const std::string path = address.substr(kUnix.size());
  if (path.size() > kMostBytes) {
    return Invalid(flag, " ", address, ": the path must have at most ", kMostBytes,
                   " bytes, and has ", path.size());
  }
  const size_t slash = path.rfind('/');
  const std::string parent =
      slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  if (access(parent.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return CannotListen(flag, address, errno);
}

// A host may have several addresses, of which the machine does not have all.
absl::Status CheckListening(std::string_view flag, const std::string& address) {
  if (address.empty()) return absl::OkStatus();
  if (address.starts_with(kUnix)) return CheckSocketFile(flag, address);
  SERVER_ASSIGN_OR_RETURN(const HostAddresses found, AddressesOf(flag, address));
  bool listens = false;
  int error = 0;
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    const int failed = TryToListen(*each);
    if (failed == EADDRINUSE) return CannotListen(flag, address, failed);
    listens |= failed == 0;
    error = failed;
  }
  return listens ? absl::OkStatus() : CannotListen(flag, address, error);
}

}  // namespace

absl::Status CheckSystem(const ServerOptions& options) {
  SERVER_RETURN_IF_ERROR(CheckOpenFiles());
  SERVER_RETURN_IF_ERROR(CheckThreads());
  SERVER_RETURN_IF_ERROR(CheckListening("--address", options.address));
  return CheckListening("--http", options.http);
}

}  // namespace bigtable::server
