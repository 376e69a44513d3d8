// How a compaction merges the contributions to a cell of an aggregate family.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/status.h"
#include "base/strings.h"
#include "compaction/collecting_cursor.h"

namespace bigtable {

bool CollectingCursor::MergeContributions(EntryKind kind, EntryVersion version) {
  ABSL_ASSERT(family_ != nullptr && "entries of no family were dropped");
  state_.assign(input_->value());
  made_key_ = input_->key();
  const AggregateOperator* const op =
      family_->aggregate == nullptr ? nullptr : family_->aggregate->operator_or_null();
  if (op == nullptr && major_ && version.sequence <= horizon_) {
    // A major compaction leaves one entry of each cell, so they cannot stay as they are.
    paid_ = family_->aggregate == nullptr
                ? absl::DataLossError(Cat("family ", Quoted(family_->name),
                                          " holds bytes, and has a contribution to an aggregate"))
                : family_->aggregate->MissingError(family_->name);
    return false;
  }
  if (!PayForEntry()) return false;
  input_->Next();
  has_moved_ = true;
  if (op != nullptr && !TakeOlder(*op, kind, version)) return false;
  return input_->status().ok();
}

bool CollectingCursor::TakeOlder(const AggregateOperator& op, EntryKind kind,
                                 EntryVersion version) {
  bool is_merged = false;
  while (input_->valid() && CanMerge(version)) {
    absl::Status merged = is_merged ? absl::OkStatus() : MakeState(op, kind, &state_);
    is_merged = true;
    const std::string_view key = input_->key();
    if (merged.ok()) merged = MergeOlder(op, KindOf(key), input_->value(), &state_);
    if (!merged.ok()) {
      paid_ = Annotate(merged, Cat("family ", Quoted(family_->name)));
      return false;
    }
    version = VersionOf(key);
    if (!PayForEntry()) return false;
    input_->Next();
  }
  if (is_merged) made_key_.back() = static_cast<char>(EntryKind::kMergeToCell);
  return paid_.ok();
}

bool CollectingCursor::CanMerge(EntryVersion newer) {
  const std::string_view key = input_->key();
  const EntryVersion version = VersionOf(key);
  if (!IsContribution(KindOf(key)) || key.size() != column_prefix_.size() + kTrailerSize ||
      !key.starts_with(column_prefix_) || TimestampOf(key) != timestamp_ ||
      version.sequence <= family_->created ||
      family_->past.HasExpired(version.sequence, timestamp_) ||
      deletions_.FirstAfter(version, timestamp_) < newer ||
      retention_->SeenBetween(version.sequence, newer.sequence)) {
    return false;
  }
  const bool is_resolved = major_ && version.sequence <= horizon_;
  if (is_resolved && newer.sequence > horizon_) return false;
  if (!counts_versions_) return true;
  return is_resolved ? version >= first_ : AreConsecutive(version, newer);
}

bool CollectingCursor::AreConsecutive(EntryVersion older, EntryVersion newer) {
  const auto separates = [&](const PastRules::Versions& change) {
    return older.sequence < change.before && change.before <= newer.sequence;
  };
  const std::vector<PastRules::Versions>& changes = family_->past.versions;
  if (std::any_of(changes.begin(), changes.end(), separates)) return false;
  if (versions_.empty() && !ReadVersions()) return false;
  return *std::upper_bound(versions_.begin(), versions_.end(), older) == newer;
}

bool CollectingCursor::ReadVersions() {
  constexpr size_t kEntriesBetweenPay = 256;
  const std::string here(input_->key());
  input_->Seek(column_prefix_);
  for (; input_->valid(); input_->Next()) {
    const std::string_view key = input_->key();
    if (key.size() != here.size() || !key.starts_with(column_prefix_)) break;
    versions_.push_back(VersionOf(key));
    if (versions_.size() % kEntriesBetweenPay == 0 && !PayFor(0)) return false;
  }
  if (!input_->status().ok()) return false;
  std::sort(versions_.begin(), versions_.end());
  input_->Seek(here);
  return input_->valid();
}

}  // namespace bigtable
