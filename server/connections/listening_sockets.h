// The sockets that listen on the address of gRPC.
//
// The server listens and accepts by itself (acceptor.h), because gRPC ends its listener for good
// when accept fails once, as it does while the process has no descriptor left.
#ifndef BIGTABLE_SERVER_CONNECTIONS_LISTENING_SOCKETS_H_
#define BIGTABLE_SERVER_CONNECTIONS_LISTENING_SOCKETS_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bigtable::server {

// Immutable once open.
class ListeningSockets {
 public:
  // For an address that CheckOptions takes: HOST:PORT, or unix:PATH. A host may have several
  // addresses, of which the machine need not have all. 0.0.0.0 and [::] are all addresses of the
  // machine, of both kinds. A socket file that is there is replaced. Unavailable: it cannot be
  // listened on. InvalidArgument: the name of the host is not known. A connection of TCP that was
  // accepted from them ends when its client acknowledges nothing for as long as `unacknowledged`.
  static absl::StatusOr<std::unique_ptr<ListeningSockets>> Open(
      const std::string& address, std::chrono::milliseconds unacknowledged);
  // Closes them, and removes the file of unix:PATH.
  ~ListeningSockets();
  ListeningSockets(const ListeningSockets&) = delete;
  ListeningSockets& operator=(const ListeningSockets&) = delete;

  // With the port.
  const std::string& address() const { return address_; }
  // Non-blocking, as what is accepted from them is to be.
  const std::vector<int>& descriptors() const { return descriptors_; }

 private:
  ListeningSockets() = default;
  absl::Status OpenFile(const std::string& address);
  absl::Status OpenPort(const std::string& address, std::chrono::milliseconds unacknowledged);

  std::string address_;
  std::string file_;  // to remove
  std::vector<int> descriptors_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONNECTIONS_LISTENING_SOCKETS_H_
