// A control group of Linux whose processes have only so much memory together, page cache included.
#ifndef BIGTABLE_BENCH_MEMORY_MEMORY_CGROUP_H_
#define BIGTABLE_BENCH_MEMORY_MEMORY_CGROUP_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bench {

// Removed with this object; its processes have ended by then. Movable.
class MemoryCgroup {
 public:
  // Of version 1 or 2, whichever has the memory controller. FailedPrecondition, with the reason,
  // where none can be made: there is no such controller, or this user may not.
  static absl::StatusOr<MemoryCgroup> Make(uint64_t limit);
  ~MemoryCgroup();
  MemoryCgroup(MemoryCgroup&& other) noexcept;
  MemoryCgroup& operator=(MemoryCgroup&&) = delete;

  const std::string& path() const { return path_; }

  // For a process that is to be in the group: the calling one enters.
  static absl::Status Enter(const std::string& path);

 private:
  explicit MemoryCgroup(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: moved from
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_MEMORY_CGROUP_H_
