#include "server/connections/host_addresses.h"

#include <cstring>
#include <sys/socket.h>

#include "server/options.h"
#include "server/text/errors.h"

namespace bigtable::server {

absl::StatusOr<HostAddresses> AddressesOf(std::string_view option, const std::string& address) {
  const HostAndPort parsed = SplitAddress(address);
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int unknown = getaddrinfo(parsed.host.c_str(), parsed.port.c_str(), &hints, &found);
  if (unknown != 0) {
    return Invalid(option, " ", address, ": the host is not known: ", gai_strerror(unknown));
  }
  return HostAddresses(found, &freeaddrinfo);
}

absl::Status CannotListen(std::string_view option, const std::string& address, int error) {
  return absl::UnavailableError(
      Cat(option, " ", address, ": cannot be listened on: ", std::strerror(error)));
}

}  // namespace bigtable::server
