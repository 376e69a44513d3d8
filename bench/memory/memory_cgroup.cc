#include "memory_cgroup.h"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/match.h"

#include "common/strings.h"

namespace bench {
namespace {

// A directory below which groups with a memory controller can possibly be created.
struct Parent {
  std::string path;
  bool is_v2 = false;
};

// In one call, since the kernel takes each call as a command.
absl::Status WriteFile(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  const bool is_written =
      ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  ::close(fd);
  return is_written ? absl::OkStatus()
                    : absl::ErrnoToStatus(error, Concat("writing \"", text, "\" to ", path));
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Parent> Parents() {
  std::vector<Parent> parents;
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    const std::vector<std::string> words = Split(line, ' ');
    if (words.size() < 4) continue;
    if (words[2] == "cgroup" && absl::StrContains(Concat(",", words[3], ","), ",memory,")) {
      parents.push_back({words[1], false});
    }
    if (words[2] == "cgroup2" &&
        absl::StrContains(ReadFile(words[1] + "/cgroup.controllers"), "memory")) {
      parents.push_back({words[1], true});
    }
  }
  return parents;
}

}  // namespace

absl::StatusOr<MemoryCgroup> MemoryCgroup::Make(uint64_t limit) {
  const std::vector<Parent> parents = Parents();
  if (parents.empty()) {
    return absl::FailedPreconditionError(
        "no memory control group can be made here: /proc/self/mounts has no cgroup or cgroup2 file "
        "system with the memory controller");
  }
  absl::Status status;
  for (const Parent& parent : parents) {
    // Errors show when the group is created: the controller may already be on, or may not be turned
    // on.
    if (parent.is_v2) WriteFile(parent.path + "/cgroup.subtree_control", "+memory").IgnoreError();
    MemoryCgroup group(Concat(parent.path, "/bigtable-bench-", ::getpid()));
    if (::mkdir(group.path_.c_str(), 0755) != 0) {
      status = absl::ErrnoToStatus(errno, Concat("mkdir ", group.path_));
      group.path_.clear();
      continue;
    }
    status = WriteFile(group.path_ + (parent.is_v2 ? "/memory.max" : "/memory.limit_in_bytes"),
                       Concat(limit));
    if (status.ok()) return group;
  }
  return absl::FailedPreconditionError(
      Concat("no memory control group can be made here: ", std::string(status.message())));
}

MemoryCgroup::~MemoryCgroup() {
  if (!path_.empty()) ::rmdir(path_.c_str());
}

MemoryCgroup::MemoryCgroup(MemoryCgroup&& other) noexcept : path_(std::exchange(other.path_, {})) {}

absl::Status MemoryCgroup::Enter(const std::string& path) {
  return WriteFile(path + "/cgroup.procs", Concat(::getpid()));
}

}  // namespace bench
