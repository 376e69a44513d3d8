#include "compaction/unresolved_versions.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/base/macros.h"

namespace bigtable {

void UnresolvedVersions::EnterTimestamp() {
  counted_timestamp_ = false;
  if (const EntryVersion last = std::exchange(last_contribution_, {}); last != EntryVersion{}) {
    CountNewer(last);
    counted_timestamp_ = false;
  }
}

EntryVerdict UnresolvedVersions::Judge(EntryKind kind, EntryVersion version, bool hidden) {
  const RetainedFamily& family = *column_.family();
  // Entries after the last change are counted only by the present rule, if there is one.
  const bool counted = family.versions.any() || version.sequence < family.past.versions_changed();
  if (!counted && hidden) return EntryVerdict::kDrop;
  if (TraitsOf(kind).is_deletion || kind == EntryKind::kCountedOut) {
    saw_deletion_ = true;
    return EntryVerdict::kKeep;
  }
  if (!saw_deletion_ && !column_.deletions().any() && HasEnoughNewer(version)) {
    return EntryVerdict::kDrop;
  }
  if (kind == EntryKind::kShadow) {
    saw_deletion_ = true;
    return EntryVerdict::kKeep;
  }
  if (hidden) return JudgeHidden(version);
  if (!IsContribution(kind)) {
    CountNewer(version);
  } else if (last_contribution_ == EntryVersion{}) {
    last_contribution_ = version;
  }
  return EntryVerdict::kKeep;
}

EntryVerdict UnresolvedVersions::JudgeHidden(EntryVersion version) {
  const RetainedFamily& family = *column_.family();
  if (column_.is_overwritten() && column_.HiderOf(version) == column_.newer() &&
      family.versions.most == 1 && family.past.versions.empty()) {
    return EntryVerdict::kDrop;
  }
  saw_deletion_ = true;
  return EntryVerdict::kShadow;
}

bool UnresolvedVersions::HasEnoughNewer(EntryVersion version) const {
  const RetainedFamily& family = *column_.family();
  const int64_t most = family.versions.most;
  if (static_cast<int64_t>(births_.size()) < most) return false;
  if (column_.timestamp() >= family.versions.MinTimestamp(most)) return false;
  // Even the earliest of them must count by the present rule.
  const EntryVersion counted_from = std::max(version, {family.past.versions_changed(), 0});
  if (births_.front() < counted_from) return false;
  const EntryVersion last = *std::max_element(births_.begin(), births_.end());
  return !column_.retention().SeenBetween(version.sequence, last.sequence);
}

void UnresolvedVersions::CountNewer(EntryVersion version) {
  const VersionLimits& limits = column_.family()->versions;
  if (counted_timestamp_ || !limits.any()) return;
  counted_timestamp_ = true;
  births_.push_back(version);
  std::push_heap(births_.begin(), births_.end(), std::greater<>());
  if (static_cast<int64_t>(births_.size()) > limits.most) {
    std::pop_heap(births_.begin(), births_.end(), std::greater<>());
    births_.pop_back();
  }
  ABSL_ASSERT(static_cast<int64_t>(births_.size()) <= limits.most &&
              "only as many as the rule keeps are remembered");
}

}  // namespace bigtable
