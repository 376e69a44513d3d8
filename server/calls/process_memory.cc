#include "server/calls/process_memory.h"

#include <array>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace bigtable::server {

// /proc/self/statm has numbers of pages: all that is mapped, of it in memory, of this of files.
uint64_t ResidentMemory() {
  // Kept open, so that it can be read while the process has no descriptor left.
  static const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 128> text;
  const ssize_t size = pread(file, text.data(), text.size() - 1, 0);
  if (size <= 0) return 0;
  text[static_cast<size_t>(size)] = '\0';
  uint64_t resident = 0;
  uint64_t of_files = 0;
  if (std::sscanf(text.data(), "%*u %" SCNu64 " %" SCNu64, &resident, &of_files) != 2) return 0;
  return (resident - of_files) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace bigtable::server
