// The kernel's readahead on a disk, which a sweep can set.
#ifndef BIGTABLE_BENCH_MEMORY_DISK_READAHEAD_H_
#define BIGTABLE_BENCH_MEMORY_DISK_READAHEAD_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bench {

// The destructor restores the setting. A file has the setting of the time when it was opened.
// Movable.
class DiskReadahead {
 public:
  // The readahead of the disk of `directory`. NotFound if it has none, such as a file system in
  // memory.
  static absl::StatusOr<DiskReadahead> Of(const std::string& directory);
  ~DiskReadahead();
  DiskReadahead(DiskReadahead&& other) noexcept;
  DiskReadahead& operator=(DiskReadahead&&) = delete;

  uint64_t found() const { return found_; }  // KiB
  // PermissionDenied for users without the right to set it.
  absl::Status Set(uint64_t kilobytes);

 private:
  DiskReadahead(std::string path, uint64_t found) : path_(std::move(path)), found_(found) {}

  std::string path_;  // empty: moved from
  uint64_t found_;
  bool is_changed_ = false;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_DISK_READAHEAD_H_
