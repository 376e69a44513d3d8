// What must hold of the system before a server begins: checked before anything is created, so that
// a server that cannot serve leaves no database behind, and so that errors name what is wrong.
#ifndef BIGTABLE_SERVER_START_CHECKS_H_
#define BIGTABLE_SERVER_START_CHECKS_H_

#include "absl/status/status.h"

#include "server/options.h"

namespace bigtable::server {

// The fewest files that the process must be allowed to open (ulimit -n). The database may use half
// of them for SSTables; logs, other files and gRPC need some dozens, and each connection one.
inline constexpr int kLeastOpenFiles = 256;

// The threads that the process must be able to start: a server without load has about 40, and gRPC
// ends the process that has no thread for it.
inline constexpr int kLeastThreads = 64;

// For options that CheckOptions takes. FailedPrecondition: too few open files or threads.
// Unavailable: an address cannot be listened on; it is, for a moment, and another process may still
// take it before the server does. InvalidArgument: the name of a host is not known.
absl::Status CheckSystem(const ServerOptions& options);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_START_CHECKS_H_
