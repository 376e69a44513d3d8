// What the server is started with: its flags, checked.
#ifndef BIGTABLE_SERVER_OPTIONS_H_
#define BIGTABLE_SERVER_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/options.h"

#include "server/text/resource_name.h"

namespace bigtable::server {

// Where the database and the server report what happens.
enum class LogFormat {
  kFile,  // the database alone, in the file LOG of its directory
  kJson,  // both, as lines of JSON to the standard error (monitor/json_log.h)
};

// Plain value.
struct ServerOptions {
  std::string directory;
  std::string address = "127.0.0.1:8086";  // port 0: any that is free
  // Of the status page and the metrics; empty: none. Port 0: any that is free.
  std::string http = "127.0.0.1:0";
  InstanceName default_instance{"local", "local"};
  Durability durability = Durability::kBuffered;
  uint64_t memory = uint64_t{512} << 20;  // bytes: see calls/request_limits.h
  int threads = 2048;                     // the most that run calls of one kind
  // The most that are open to `address`; 0: as --memory allows (connections/connection_limit.h).
  uint64_t connections = 0;

  // Files of PEM. The certificate and its key go together; with `client_authority`, clients must
  // have a certificate that it has signed.
  std::string certificate;
  std::string key;
  std::string client_authority;
  std::string tokens;          // a file: see Authentication::ReadTokens
  std::string administrators;  // callers, with commas between
  bool plaintext = false;      // allows addresses that are not loopback without TLS

  LogFormat log = LogFormat::kFile;

  // How long a server that ends waits for calls that are under way, in seconds.
  int drain_seconds = 10;

  std::string backups;  // the directory of backups; empty: there are none
};

// The parts of an address that CheckOptions takes; an IPv6 address without its brackets. Plain
// value.
struct HostAndPort {
  std::string host;
  std::string port;
};
HostAndPort SplitAddress(std::string_view address);

// Whether `address`, host:port, can be reached from this machine only.
bool IsLoopback(std::string_view address);

// InvalidArgument: an option that is not as its rule has it, options that do not fit together, or
// with which a caller from another machine need not say who it is.
absl::Status CheckOptions(const ServerOptions& options);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_OPTIONS_H_
