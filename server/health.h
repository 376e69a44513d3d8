// Whether the server can serve: what gRPC's health service says.
//
// Reads are served unless the database's directory is not there any more. A server that serves them
// stays in the rotation of a load balancer, and is not started anew by what looks after it: there
// is no other one that has the data, and its own start would not make room.
//
// Writes are served unless reads are not, writes fail because of the commit log or METADATA, a
// flush fails (the disk is full), or the disk has no room for another segment of the log, which a
// new table may need at once and writes need sooner or later. Looked at once a second.
#ifndef BIGTABLE_SERVER_HEALTH_H_
#define BIGTABLE_SERVER_HEALTH_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"

#include "bigtable/database.h"

namespace bigtable::server {

// A thread, which ends with the object.
class Health {
 public:
  // Bytes that must be free on the disk: a segment of the log.
  static const uint64_t kLeastFreeBytes;

  // OK, or why they cannot be served.
  struct State {
    absl::Status reads;
    absl::Status writes;
  };

  // `report` is called with each change, by one thread at a time. The database outlives this.
  Health(Database* database, std::string directory, std::function<void(const State&)> report,
         uint64_t least_free_bytes = kLeastFreeBytes);
  ~Health();
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;

  State Check() const;
  absl::Status CheckReads() const;

 private:
  absl::Status CheckWrites() const;
  absl::Status CheckSpace() const;
  void Run();

  Database* const database_;
  const std::string directory_;
  const std::function<void(const State&)> report_;
  const uint64_t least_free_bytes_;
  uint64_t device_ = 0;  // of the directory when the server began
  uint64_t inode_ = 0;

  std::mutex mutex_;
  std::condition_variable ends_changed_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_HEALTH_H_
