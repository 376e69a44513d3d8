// What the process and its disk have left, as the operating system counts it.
#ifndef BIGTABLE_SERVER_MONITOR_PROCESS_USE_H_
#define BIGTABLE_SERVER_MONITOR_PROCESS_USE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace bigtable::server {

// Of this process.
struct ProcessUse {
  size_t resident_bytes = 0;
  double cpu_seconds = 0;
  size_t threads = 0;
  size_t descriptors = 0;  // open ones
  size_t descriptor_limit = 0;
};
ProcessUse ReadProcessUse();

// Of the file system of a directory, for users that are not root. Null: it cannot be read.
struct DiskUse {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t free_files = 0;  // inodes; of some file systems 0 of 0
  uint64_t total_files = 0;
};
std::optional<DiskUse> ReadDiskUse(const std::string& directory);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_PROCESS_USE_H_
