#include "server/http/status_source.h"

#include <cstdio>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace bigtable::server {

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
  return use;
}

}  // namespace bigtable::server
