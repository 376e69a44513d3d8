// Garbage collection rules in their simplest form: a staircase of steps, each with more versions
// and a smaller age than the one before it. Every rule that is made of MaxVersions, MaxAge, Union
// and Intersection has one, because the number of newer versions and the age only grow: so what is
// dropped stays dropped.
#include <algorithm>
#include <utility>
#include <vector>

#include "bigtable/schema.h"

namespace bigtable {
namespace {

using Step = GcRule::Step;

// Drops the steps that drop nothing which another one does not drop, and sorts the others.
std::vector<Step> Simplest(std::vector<Step> steps) {
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return a.versions != b.versions ? a.versions < b.versions : a.age < b.age;
  });
  std::vector<Step> simplest;
  for (const Step& step : steps) {
    if (simplest.empty() || step.age < simplest.back().age) simplest.push_back(step);
  }
  return simplest;
}

}  // namespace

GcRule GcRule::Union(const GcRule& a, const GcRule& b) {
  std::vector<Step> steps = a.steps_;
  steps.insert(steps.end(), b.steps_.begin(), b.steps_.end());
  GcRule rule;
  rule.steps_ = Simplest(std::move(steps));
  return rule;
}

GcRule GcRule::Intersection(const GcRule& a, const GcRule& b) {
  std::vector<Step> steps;
  for (const Step& one : a.steps_) {
    for (const Step& other : b.steps_) {
      steps.push_back({std::max(one.versions, other.versions), std::max(one.age, other.age)});
    }
  }
  GcRule rule;
  rule.steps_ = Simplest(std::move(steps));
  return rule;
}

std::optional<int64_t> GcRule::max_versions() const {
  if (steps_.empty() || steps_.back().age != -absl::InfiniteDuration()) return std::nullopt;
  return steps_.back().versions;
}

std::optional<absl::Duration> GcRule::max_age() const {
  if (steps_.empty() || steps_.front().versions != 0) return std::nullopt;
  return steps_.front().age;
}

}  // namespace bigtable
