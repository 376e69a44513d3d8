#include "compaction/merged_contributions.h"

#include <algorithm>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/entry_key.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

bool MergedContributions::Merge(EntryKind kind, EntryVersion version, EntryVersion first,
                                std::string* key) {
  ABSL_ASSERT(column_.family() != nullptr && "entries of no family were dropped");
  ABSL_ASSERT(column_.Has(input_.key()) && IsContribution(kind) &&
              "the input is at a contribution to the current cell");
  const Aggregate* const aggregate = column_.family()->aggregate;
  const AggregateOperator* const op =
      aggregate == nullptr ? nullptr : aggregate->operator_or_null();
  first_ = first;
  state_.assign(input_.value());
  *key = input_.key();
  if (op == nullptr && column_.Resolves(version)) {
    FailWithoutOperator();
    return false;
  }
  input_.Next();
  if (op == nullptr) return input_.status().ok();
  if (TakeOlder(*op, kind, version)) key->back() = static_cast<char>(EntryKind::kMergeToCell);
  return input_.status().ok();
}

// A major compaction leaves one entry of each cell, so they cannot stay as they are.
void MergedContributions::FailWithoutOperator() {
  const RetainedFamily& family = *column_.family();
  input_.Fail(family.aggregate == nullptr
                  ? absl::DataLossError(Cat("family ", Quoted(family.name),
                                            " holds bytes, and has a contribution to an aggregate"))
                  : family.aggregate->MissingError(family.name));
}

bool MergedContributions::TakeOlder(const AggregateOperator& op, EntryKind kind,
                                    EntryVersion version) {
  if (!input_.valid() || !CanMerge(version)) return false;
  absl::Status merged = MakeState(op, kind, &state_);
  do {
    const std::string_view key = input_.key();
    if (merged.ok()) merged = MergeOlder(op, KindOf(key), input_.value(), &state_);
    if (!merged.ok()) {
      input_.Fail(Annotate(merged, Cat("family ", Quoted(column_.family()->name))));
      return false;
    }
    version = VersionOf(key);
    input_.Next();
  } while (input_.valid() && CanMerge(version));
  return true;
}

bool MergedContributions::CanMerge(EntryVersion newer) {
  const std::string_view key = input_.key();
  const EntryVersion version = VersionOf(key);
  const int64_t timestamp = column_.timestamp();
  const RetainedFamily& family = *column_.family();
  if (!IsContribution(KindOf(key)) || !column_.Has(key) || TimestampOf(key) != timestamp ||
      version.sequence <= family.created || family.past.HasExpired(version.sequence, timestamp) ||
      column_.deletions().FirstAfter(version, timestamp) < newer ||
      column_.retention().SeenBetween(version.sequence, newer.sequence)) {
    return false;
  }
  const bool is_resolved = column_.Resolves(version);
  if (is_resolved && !column_.Resolves(newer)) return false;
  if (!column_.counts_versions()) return true;
  return is_resolved ? version >= first_ : AreConsecutive(version, newer);
}

bool MergedContributions::AreConsecutive(EntryVersion older, EntryVersion newer) {
  const auto separates = [&](const PastRules::Versions& change) {
    return older.sequence < change.before && change.before <= newer.sequence;
  };
  const std::vector<PastRules::Versions>& changes = column_.family()->past.versions;
  if (std::any_of(changes.begin(), changes.end(), separates)) return false;
  if (versions_.empty() && !ReadVersions()) return false;
  const auto after = std::upper_bound(versions_.begin(), versions_.end(), older);
  ABSL_ASSERT(after != versions_.end() && "the newer contribution is an entry of the column");
  return *after == newer;
}

bool MergedContributions::ReadVersions() {
  const std::string here(input_.key());
  EntryCursor* const entries = input_.cursor();
  entries->Seek(column_.prefix());
  for (; entries->valid(); entries->Next()) {
    const std::string_view key = entries->key();
    if (!column_.Has(key)) break;
    versions_.push_back(VersionOf(key));
    if (versions_.size() % PaidInput::kEntriesBetweenPay == 0 && !input_.KeepGoing()) return false;
  }
  if (!entries->status().ok()) return false;
  std::sort(versions_.begin(), versions_.end());
  input_.ReturnTo(here);
  return input_.valid();
}

}  // namespace bigtable
