#include "plugin.h"

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"

#include "bigtable/compaction_policy.h"

#include "common/strings.h"

namespace bench {
namespace {

constexpr const char* kFunction = "bigtable_register_policies";

constexpr const char* kByName = "bigtable_register_policy";
using RegisterNamed = bool (*)(const char* name);

// Of all objects that were loaded.
std::vector<RegisterNamed>& NamedRegistrations() {
  static std::vector<RegisterNamed> all;
  return all;
}

absl::Status Refuse(std::string_view argument, std::string_view why) {
  return absl::InvalidArgumentError(Concat("--policy ", argument, ": ", why));
}

// Runs the function of the shared object.
absl::Status Register(std::string_view argument, const std::string& path) {
  std::error_code ignored;
  const std::string absolute = std::filesystem::absolute(path, ignored).string();
  void* const object = ::dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) return Refuse(argument, ::dlerror());
  auto* const function = reinterpret_cast<bool (*)()>(::dlsym(object, kFunction));
  if (function == nullptr) {
    return Refuse(argument, Concat("has no function extern \"C\" bool ", kFunction, "()"));
  }
  if (void* const by_name = ::dlsym(object, kByName)) {
    NamedRegistrations().push_back(reinterpret_cast<RegisterNamed>(by_name));
  }
  return function() ? absl::OkStatus() : Refuse(argument, Concat(kFunction, "() has failed"));
}

}  // namespace

absl::StatusOr<std::vector<Policy>> LoadPolicies(std::string_view argument) {
  const size_t colon = argument.rfind(':');
  const bool has_name =
      colon != std::string_view::npos && argument.find('/', colon) == std::string_view::npos;
  const std::string path(argument.substr(0, has_name ? colon : argument.size()));
  const std::string name(has_name ? argument.substr(colon + 1) : std::string_view());

  const std::vector<std::string> before = bigtable::CompactionPolicyNames();
  if (absl::Status s = Register(argument, path); !s.ok()) return s;
  const std::vector<std::string> after = bigtable::CompactionPolicyNames();
  std::vector<std::string> added;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(added));
  if (added.empty()) {
    return Refuse(argument,
                  "registers nothing in this program; is it linked with a library of its "
                  "own?");
  }
  if (has_name) {
    if (std::find(added.begin(), added.end(), name) == added.end()) {
      return Refuse(argument, Concat("registers ", absl::StrJoin(added, ", "), ", and not ", name));
    }
    added = {name};
  }
  std::vector<Policy> policies;
  for (const std::string& registered : added) {
    policies.push_back({.style = registered, .registered = registered});
  }
  return policies;
}

bool RegisterByName(const std::string& name) {
  const std::vector<std::string> known = bigtable::CompactionPolicyNames();
  if (std::find(known.begin(), known.end(), name) != known.end()) return true;
  return std::any_of(NamedRegistrations().begin(), NamedRegistrations().end(),
                     [&](RegisterNamed by_name) { return by_name(name.c_str()); });
}

}  // namespace bench
