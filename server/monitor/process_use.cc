#include "server/monitor/process_use.h"

#include <cstdio>
#include <dirent.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace bigtable::server {
namespace {

size_t CountDescriptors() {
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  size_t count = 0;
  while (const dirent* const entry = readdir(directory)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(directory);
  return count - 1;  // without the one that counts
}

}  // namespace

ProcessUse ReadProcessUse() {
  ProcessUse use;
  size_t total = 0;
  size_t resident = 0;  // in pages
  std::ifstream file("/proc/self/statm");
  if (file >> total >> resident) {
    use.resident_bytes = resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  }
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      use.cpu_seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
  }
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (std::sscanf(line.c_str(), "Threads: %zu", &use.threads) == 1) break;
  }
  use.descriptors = CountDescriptors();
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) use.descriptor_limit = limit.rlim_cur;
  return use;
}

std::optional<DiskUse> ReadDiskUse(const std::string& directory) {
  struct statvfs disk = {};
  if (statvfs(directory.c_str(), &disk) != 0) return std::nullopt;
  return DiskUse{.free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize,
                 .total_bytes = uint64_t{disk.f_blocks} * disk.f_frsize,
                 .free_files = disk.f_favail,
                 .total_files = disk.f_files};
}

}  // namespace bigtable::server
