#include "server/monitor/process_use.h"

#include <charconv>
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

// The lines of one of the system's tables of sockets. False: there is no such table.
bool AddConnections(const char* table, unsigned port, size_t* count) {
  constexpr unsigned kEstablished = 1;
  std::ifstream file(table);
  if (!file) return false;
  for (std::string line; std::getline(file, line);) {
    unsigned local = 0;
    unsigned state = 0;
    // "  12: 0100007F:1F96 0100007F:C35A 01 ..."
    if (std::sscanf(line.c_str(), " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &local, &state) != 2) {
      continue;
    }
    *count += local == port && state == kEstablished ? 1 : 0;
  }
  return true;
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

std::optional<size_t> CountConnections(std::string_view address) {
  const std::string_view digits = address.substr(address.rfind(':') + 1);
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  size_t count = 0;
  const bool has_v4 = AddConnections("/proc/self/net/tcp", port, &count);
  const bool has_v6 = AddConnections("/proc/self/net/tcp6", port, &count);
  if (!has_v4 && !has_v6) return std::nullopt;
  return count;
}

}  // namespace bigtable::server
