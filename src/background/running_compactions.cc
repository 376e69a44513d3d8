#include "background/running_compactions.h"

#include <algorithm>

#include "absl/base/macros.h"

namespace bigtable {

RunningCompactions::Handle RunningCompactions::Begin(const Group& group,
                                                     const CompactionReach& reach) {
  ABSL_ASSERT(std::none_of(running_.begin(), running_.end(),
                           [&](const auto& running) {
                             return running.first == group && running.second.Meets(reach);
                           }) &&
              "compactions at the same time are apart");
  return running_.insert(running_.end(), {group, reach});
}

bool RunningCompactions::HasTablet(const Tablet* tablet) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const auto& running) { return running.first.first == tablet; });
}

std::vector<CompactionReach> RunningCompactions::Of(const Group& group) const {
  std::vector<CompactionReach> reaches;
  for (const auto& [of, reach] : running_) {
    if (of == group) reaches.push_back(reach);
  }
  return reaches;
}

}  // namespace bigtable
