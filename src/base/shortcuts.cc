#include "base/shortcuts.h"

#include <cstdlib>
#include <string_view>

namespace bigtable {
namespace {

uint64_t OffByEnvironment() {
  const char* const value = std::getenv("BIGTABLE_SHORTCUTS");
  return value != nullptr && std::string_view(value) == "off" ? UINT64_MAX : 0;
}

}  // namespace

std::atomic<uint64_t> shortcuts_off{OffByEnvironment()};

}  // namespace bigtable
