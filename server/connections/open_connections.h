// Which of the connections that gRPC was given are still open.
//
// gRPC does not say when it closes a connection. But a descriptor is of the same socket as long as
// its device and its inode are the same, so this looks. It looks at all that it knows, and so that
// it has one percent of a processor at most: after a look it does not look for a hundred times as
// long.
//
// Thread-safe.
#ifndef BIGTABLE_SERVER_CONNECTIONS_OPEN_CONNECTIONS_H_
#define BIGTABLE_SERVER_CONNECTIONS_OPEN_CONNECTIONS_H_

#include <chrono>
#include <cstddef>
#include <mutex>
#include <sys/types.h>

#include "absl/container/flat_hash_map.h"

namespace bigtable::server {

class OpenConnections {
 public:
  // At most `most` are open at a time.
  explicit OpenConnections(size_t most) : most_(most) {}
  OpenConnections(const OpenConnections&) = delete;
  OpenConnections& operator=(const OpenConnections&) = delete;

  // Adds a connection, which is open. False: there are as many as there may be, or were when this
  // looked. Cost: a system call; when it seems to be full, now and then one for each open
  // connection.
  bool Add(int descriptor);
  // Cost: a system call for each open connection.
  size_t Count();
  size_t most() const { return most_; }

 private:
  struct File {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const File&) const = default;
  };
  static File FileOf(int descriptor);
  void ForgetClosed();

  const size_t most_;
  std::mutex mutex_;
  absl::flat_hash_map<int, File> files_;  // by descriptor; some may be closed
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONNECTIONS_OPEN_CONNECTIONS_H_
