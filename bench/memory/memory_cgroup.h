// A control group of Linux that limits the memory of its processes, page cache included.
#ifndef BIGTABLE_BENCH_MEMORY_MEMORY_CGROUP_H_
#define BIGTABLE_BENCH_MEMORY_MEMORY_CGROUP_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bench {

// The destructor removes it; its processes must have ended. Movable.
class MemoryCgroup {
 public:
  // Of version 1 or 2, whichever has the memory controller. FailedPrecondition, with the reason, if
  // none can be created: there is no such controller, or this user has no right to.
  static absl::StatusOr<MemoryCgroup> Make(uint64_t limit);
  ~MemoryCgroup();
  MemoryCgroup(MemoryCgroup&& other) noexcept;
  MemoryCgroup& operator=(MemoryCgroup&&) = delete;

  const std::string& path() const { return path_; }

  // Moves the calling process into the group.
  static absl::Status Enter(const std::string& path);

 private:
  explicit MemoryCgroup(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty: moved from
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_MEMORY_MEMORY_CGROUP_H_
