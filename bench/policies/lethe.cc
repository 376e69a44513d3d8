#include "bench/policies/lethe.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace policies {

using bigtable::CompactionPick;

Lethe::Lethe(std::unique_ptr<bigtable::CompactionPolicy> policy, absl::Duration deadline,
             int size_ratio)
    : policy_(std::move(policy)), deadline_(deadline), size_ratio_(size_ratio) {}

// Shares 1, T, T^2, ... for the runs above the oldest, which has no deletions; added up.
absl::Duration Lethe::MostAge(absl::Duration deadline, int size_ratio, size_t run, size_t runs) {
  const size_t levels = runs - 1;
  const double all = std::pow(size_ratio, static_cast<double>(levels)) - 1;
  const double until = std::pow(size_ratio, static_cast<double>(run + 1)) - 1;
  return deadline * (until / all);
}

std::optional<CompactionPick> Lethe::Pick(const bigtable::GroupSummary& group) {
  absl::Duration next = absl::InfiniteDuration();
  for (size_t run = 0; run + 1 < group.runs.size(); ++run) {
    const absl::Duration most = MostAge(deadline_, size_ratio_, run, group.runs.size());
    CompactionPick push{.kind = CompactionPick::Kind::kPush,
                        .first = run,
                        .count = 2,
                        .reason = "deletions are over their time"};
    for (const bigtable::FileSummary& file : group.runs[run].files) {
      if (file.deletions == 0) continue;
      const absl::Duration left = file.oldest_deletion + most - group.now;
      if (left <= absl::ZeroDuration()) push.files.push_back(file.number);
      if (left > absl::ZeroDuration()) next = std::min(next, left);
    }
    if (!push.files.empty()) return push;
  }
  std::optional<CompactionPick> pick = policy_->Pick(group);
  if (pick.has_value() || next == absl::InfiniteDuration()) return pick;
  return CompactionPick{.kind = CompactionPick::Kind::kWait, .delay = next};
}

}  // namespace policies
