#include "server/connections/listening_sockets.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/connections/host_addresses.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kOption = "--address";
constexpr std::string_view kUnixPrefix = "unix:";

void SetOption(int socket, int level, int name, int value) {
  setsockopt(socket, level, name, &value, sizeof(value));
}

// A socket that listens, or -1 and errno.
int Listen(const sockaddr* address, socklen_t size, milliseconds unacknowledged) {
  const int listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -1;
  if (address->sa_family != AF_UNIX) {
    SetOption(listener, SOL_SOCKET, SO_REUSEADDR, 1);
    // The accepted ones inherit these.
    SetOption(listener, IPPROTO_TCP, TCP_NODELAY, 1);
    SetOption(listener, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(unacknowledged.count()));
  }
  if (address->sa_family == AF_INET6) SetOption(listener, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(listener, address, size) == 0 && listen(listener, SOMAXCONN) == 0) return listener;
  const int error = errno;
  close(listener);
  errno = error;
  return -1;
}

// 0: the address has none.
uint16_t PortOf(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

void SetPort(uint16_t port, sockaddr* address) {
  if (address->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = htons(port);
  }
}

bool IsAllOfV4(const sockaddr* address) {
  return address->sa_family == AF_INET &&
         reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr == htonl(INADDR_ANY);
}

// All addresses of both kinds, with the port of `v4`; or -1 where there is no IPv6.
int ListenOnAll(const sockaddr_in& v4, milliseconds unacknowledged) {
  sockaddr_in6 all = {};
  all.sin6_family = AF_INET6;
  all.sin6_addr = in6addr_any;
  all.sin6_port = v4.sin_port;
  return Listen(reinterpret_cast<const sockaddr*>(&all), sizeof(all), unacknowledged);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ListeningSockets>> ListeningSockets::Open(
    const std::string& address, milliseconds unacknowledged) {
  std::unique_ptr<ListeningSockets> sockets(new ListeningSockets);
  SERVER_RETURN_IF_ERROR(address.starts_with(kUnixPrefix)
                             ? sockets->OpenFile(address)
                             : sockets->OpenPort(address, unacknowledged));
  return sockets;
}

ListeningSockets::~ListeningSockets() {
  for (const int descriptor : descriptors_) close(descriptor);
  if (!file_.empty()) unlink(file_.c_str());
}

absl::Status ListeningSockets::OpenFile(const std::string& address) {
  const std::string path = address.substr(kUnixPrefix.size());
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof(to.sun_path)) return CannotListen(kOption, address, ENAMETOOLONG);
  std::memcpy(to.sun_path, path.data(), path.size());
  struct stat status = {};
  if (lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) unlink(path.c_str());
  const int listener = Listen(reinterpret_cast<const sockaddr*>(&to), sizeof(to), milliseconds(0));
  if (listener < 0) return CannotListen(kOption, address, errno);
  descriptors_.push_back(listener);
  file_ = path;
  address_ = address;
  return absl::OkStatus();
}

absl::Status ListeningSockets::OpenPort(const std::string& address, milliseconds unacknowledged) {
  SERVER_ASSIGN_OR_RETURN(const HostAddresses found, AddressesOf(kOption, address));
  uint16_t port = 0;  // the first one's is that of the others
  int error = 0;
  for (addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    if (port != 0) SetPort(port, each->ai_addr);
    int listener = -1;
    if (IsAllOfV4(each->ai_addr)) {
      listener = ListenOnAll(*reinterpret_cast<const sockaddr_in*>(each->ai_addr), unacknowledged);
    }
    if (listener < 0) listener = Listen(each->ai_addr, each->ai_addrlen, unacknowledged);
    if (listener < 0) {
      error = errno;
      continue;
    }
    descriptors_.push_back(listener);
    port = PortOf(listener);
  }
  if (descriptors_.empty()) return CannotListen(kOption, address, error);
  address_ = Cat(address.substr(0, address.rfind(':') + 1), port);
  return absl::OkStatus();
}

}  // namespace bigtable::server
