#include "tools/plugin.h"

#include <dlfcn.h>

#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {

absl::Status LoadPlugin(const std::string& file) {
  // Without a slash, dlopen would look in the directories of the system.
  const std::string path = file.find('/') == std::string::npos ? Cat("./", file) : file;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return UsageError(Cat("the plugin cannot be loaded: ", dlerror()));
  using Entry = const char* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "bigtable_plugin"));
  if (entry == nullptr) {
    return UsageError(Cat("the plugin ", file, " has no function bigtable_plugin"));
  }
  const char* const error = entry();
  if (error != nullptr) return UsageError(Cat("the plugin ", file, ": ", error));
  return absl::OkStatus();
}

}  // namespace bigtable::tools
