#include "fuzz/target.h"

#include <map>

namespace bigtable {
namespace {

std::map<std::string_view, FuzzTarget>& FuzzTargets() {
  static auto* const targets = new std::map<std::string_view, FuzzTarget>;
  return *targets;
}

}  // namespace

FuzzTarget FindFuzzTarget(std::string_view name) {
  const auto found = FuzzTargets().find(name);
  return found == FuzzTargets().end() ? nullptr : found->second;
}

FuzzTargetRegistration::FuzzTargetRegistration(std::string_view name, FuzzTarget target) {
  FuzzTargets().emplace(name, target);
}

}  // namespace bigtable
