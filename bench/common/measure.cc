#include "common/measure.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <time.h>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

#include "common/strings.h"

namespace bench {
namespace {

// The number on the line "NAME: 123" of a file in /proc.
absl::StatusOr<uint64_t> NumberIn(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(": \t"), absl::SkipEmpty());
    uint64_t number = 0;
    if (words.size() >= 2 && words[0] == name && absl::SimpleAtoi(words[1], &number)) {
      return number;
    }
  }
  return absl::NotFoundError(Concat(path, " has no line ", name));
}

}  // namespace

absl::StatusOr<absl::Duration> CpuTime() {
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return absl::ErrnoToStatus(errno, "getrusage");
  return absl::DurationFromTimeval(usage.ru_utime) + absl::DurationFromTimeval(usage.ru_stime);
}

absl::Duration ThreadCpuTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return absl::DurationFromTimespec(time);
}

absl::StatusOr<uint64_t> BytesWritten() { return NumberIn("/proc/self/io", "wchar"); }

absl::StatusOr<Memory> ResidentMemory() {
  absl::StatusOr<uint64_t> anonymous = NumberIn("/proc/self/status", "RssAnon");
  if (!anonymous.ok()) return anonymous.status();
  absl::StatusOr<uint64_t> resident = NumberIn("/proc/self/status", "VmRSS");
  if (!resident.ok()) return resident.status();
  return Memory{*anonymous << 10, *resident << 10};
}

absl::StatusOr<uint64_t> SpaceUsed(const std::string& directory) {
  constexpr uint64_t kBlock = 512;  // of st_blocks, whatever the file system's own is
  uint64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator i(directory, error), end; !error && i != end;
       i.increment(error)) {
    struct stat status = {};
    // A file may be removed during the walk.
    if (lstat(i->path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
      bytes += static_cast<uint64_t>(status.st_blocks) * kBlock;
    }
  }
  if (error) return absl::InternalError(Concat(directory, ": ", error.message()));
  return bytes;
}

absl::Status SyncFileSystem(const std::string& directory) {
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, directory);
  const bool synced = syncfs(fd) == 0;
  const int error = errno;
  close(fd);
  return synced ? absl::OkStatus() : absl::ErrnoToStatus(error, Concat("syncfs ", directory));
}

void Latencies::Add(const Latencies& other) {
  nanoseconds_.insert(nanoseconds_.end(), other.nanoseconds_.begin(), other.nanoseconds_.end());
}

double Latencies::Percentile(double share) {
  if (nanoseconds_.empty()) return std::nan("");
  const auto rank =
      static_cast<size_t>(std::ceil(share * static_cast<double>(nanoseconds_.size())));
  const auto place = nanoseconds_.begin() + static_cast<ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(nanoseconds_.begin(), place, nanoseconds_.end());
  return *place / 1e3;
}

}  // namespace bench
