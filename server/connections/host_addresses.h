// The addresses that a HOST:PORT to listen on has.
#ifndef BIGTABLE_SERVER_CONNECTIONS_HOST_ADDRESSES_H_
#define BIGTABLE_SERVER_CONNECTIONS_HOST_ADDRESSES_H_

#include <memory>
#include <netdb.h>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bigtable::server {

// A list, which is not empty.
using HostAddresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// For an address that CheckOptions takes, which is no unix:PATH, and the option that has it. May
// ask a name server. InvalidArgument: the name of the host is not known.
absl::StatusOr<HostAddresses> AddressesOf(std::string_view option, const std::string& address);

// Unavailable: none of them can be listened on, with this error of the system.
absl::Status CannotListen(std::string_view option, const std::string& address, int error);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONNECTIONS_HOST_ADDRESSES_H_
