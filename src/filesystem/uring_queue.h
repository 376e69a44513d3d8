// Reads that are under way together, by io_uring: one system call begins many, and one waits for
// them. Without liburing in the build, or where the kernel refuses it, there are none.
#ifndef BIGTABLE_FILESYSTEM_URING_QUEUE_H_
#define BIGTABLE_FILESYSTEM_URING_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bigtable/file_system.h"

#include "filesystem/posix_io.h"

namespace bigtable {

class UringQueue : public ReadQueue {
 public:
  // Adds a read of `n` bytes of the descriptor, which stays open for as long, at `begin` into `to`.
  // The read needs those of `read`, which are among them. False: it is full.
  virtual bool Add(std::shared_ptr<const Fd> fd, uint64_t begin, size_t n, char* to,
                   Read* read) = 0;
};

// Takes one of those that the process keeps, or makes one; each has a descriptor. Null: too many
// are in use, or the kernel refuses it. Thread-safe.
std::unique_ptr<UringQueue> NewUringQueue();

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_URING_QUEUE_H_
