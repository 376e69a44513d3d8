#include "common/machine.h"

#include <fstream>
#include <string_view>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

#include "absl/strings/str_format.h"

#include "common/strings.h"

namespace bench {
namespace {

std::string CpuModel() {
  constexpr std::string_view kName = "model name";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with(kName) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

double MemoryGigabytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) /
         1e9;
}

std::string Kernel() {
  utsname name = {};
  if (uname(&name) != 0) return "unknown kernel";
  return Concat(std::string(name.sysname), " ", std::string(name.release), " ",
                std::string(name.machine));
}

std::string Compiler() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

std::string DescribeMachine() {
  return absl::StrFormat("%s, %d cores, %.1f GB of memory, %s, %s", CpuModel(),
                         std::thread::hardware_concurrency(), MemoryGigabytes(), Kernel(),
                         Compiler());
}

}  // namespace bench
