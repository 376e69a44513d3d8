#include "lockservice/file_name.h"

#include "base/strings.h"
#include "lockservice/lock_service.h"

namespace bigtable {
namespace {

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_.+=@%").find(c) != std::string_view::npos;
}

// The error in the component, or "".
std::string_view Fault(std::string_view component) {
  if (component.empty()) return "a component is empty";
  if (component.size() > LockSession::kMaxComponentLength) return "a component is too long";
  if (component.front() == '.') return "a component begins with '.'";
  for (const char c : component) {
    if (!IsPlain(c)) return "a component has other bytes than letters, digits and -_.+=@%";
  }
  return "";
}

}  // namespace

absl::Status CheckLockFileName(std::string_view name) {
  if (name.size() > LockSession::kMaxNameLength) {
    return absl::InvalidArgumentError(
        Cat("the name ", Quoted(name), " is longer than ", LockSession::kMaxNameLength, " bytes"));
  }
  std::string_view rest = name;
  while (true) {
    const size_t slash = rest.find('/');
    const std::string_view fault = Fault(rest.substr(0, slash));
    if (!fault.empty()) {
      return absl::InvalidArgumentError(Cat("the name ", Quoted(name), ": ", fault));
    }
    if (slash == std::string_view::npos) return absl::OkStatus();
    rest.remove_prefix(slash + 1);
  }
}

absl::Status CheckLockDirectoryName(std::string_view name) {
  return name.empty() ? absl::OkStatus() : CheckLockFileName(name);
}

}  // namespace bigtable
