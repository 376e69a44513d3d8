#include "compaction/collecting_cursor.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

#include "base/sequence.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/time_range.h"

namespace bigtable {

CollectingCursor::CollectingCursor(EntryCursor* input, const Retention* retention, bool major,
                                   Pay pay)
    : retention_(retention),
      input_(input, std::move(pay)),
      column_(retention, major),
      unresolved_(&column_),
      resolved_(&column_, &input_),
      contributions_(&column_, &input_),
      filters_(&column_, &input_, major) {
  ABSL_ASSERT(std::is_sorted(retention->snapshots.begin(), retention->snapshots.end()) &&
              "snapshots ascend, for searches");
  ABSL_ASSERT(std::is_sorted(retention->families.begin(), retention->families.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }) &&
              "families are sorted by name, for searches");
  for (const RetainedFamily& family : retention->families) {
    keeps_versions_ |= family.counts_versions();
  }
}

void CollectingCursor::SeekToFirst() {
  input_.SeekToFirst();
  Find();
}

void CollectingCursor::Next() {
  ABSL_ASSERT(valid_ && "only a valid cursor moves on");
  if (verdict_ == EntryVerdict::kMark || verdict_ == EntryVerdict::kMarkedShadow) {
    return ShowMarked();
  }
  if (!std::exchange(has_moved_, false)) input_.Next();
  Find();
}

void CollectingCursor::Find() {
  for (; input_.valid(); input_.Next()) {
    const std::string_view key = input_.key();
    const EntryKind kind = KindOf(key);
    const EntryVersion version = VersionOf(key);
    is_replaced_ = false;
    EntryVerdict verdict = Judge(key, kind, version);
    if (!input_.valid()) break;  // an error, perhaps of a look-ahead
    const bool is_kept = verdict == EntryVerdict::kKeep || verdict == EntryVerdict::kMark;
    if (is_kept && kind == EntryKind::kCell) verdict = Filter(verdict, version);
    if (!input_.valid()) break;
    if (verdict == EntryVerdict::kDrop) continue;
    verdict_ = verdict;
    valid_ = true;
    if (verdict != EntryVerdict::kKeep) return ShowMade();
    valid_ = ShowKept(kind, version);
    return;
  }
  valid_ = false;
}

// --- What stays ---

inline EntryVerdict CollectingCursor::Judge(std::string_view key, EntryKind kind,
                                            EntryVersion version) {
  if (retention_->held) return EntryVerdict::kKeep;
  if (!column_.Has(key)) EnterColumn(key);
  return HasTimestamp(kind) ? JudgeTimestamped(key, kind, version) : JudgeWide(kind, version);
}

void CollectingCursor::EnterColumn(std::string_view key) {
  column_.EnterColumn(key);
  unresolved_.EnterColumn();
  resolved_.EnterColumn();
  contributions_.EnterColumn();
}

inline void CollectingCursor::EnterTimestamp(int64_t timestamp) {
  if (!column_.EnterTimestamp(timestamp)) return;
  unresolved_.EnterTimestamp();
  resolved_.EnterTimestamp();
}

EntryVerdict CollectingCursor::JudgeWide(EntryKind kind, EntryVersion version) {
  const bool of_row = ScopeOf(kind) == EntryScope::kRow;
  const RetainedFamily* const family = column_.family();
  if (!of_row && (family == nullptr || version.sequence <= family->created)) {
    return EntryVerdict::kDrop;
  }
  // A later deletion of at least the same scope has the same effect, unless versions between the
  // two are counted.
  const bool counted = of_row ? keeps_versions_ : column_.counts_versions();
  const bool idle =
      !counted && column_.IsHiddenFromAll(version, column_.deletions().FirstAfter(version));
  if (kind == EntryKind::kDeleteTimeRange) {
    if (!AddTimeRange(version)) return EntryVerdict::kDrop;
  } else {
    column_.deletions().Add(kind, version, CollectedColumn::kGroup);
  }
  return idle || column_.Resolves(version) ? EntryVerdict::kDrop : EntryVerdict::kKeep;
}

bool CollectingCursor::AddTimeRange(EntryVersion version) {
  TimeRange range;
  if (ParseTimeRange(input_.value(), &range)) {
    column_.deletions().AddTimeRange(range, version);
    return true;
  }
  input_.Fail(
      absl::DataLossError(Cat("malformed time-range deletion: ", DebugString(input_.key()))));
  return false;
}

EntryVerdict CollectingCursor::JudgeTimestamped(std::string_view key, EntryKind kind,
                                                EntryVersion version) {
  const RetainedFamily* const family = column_.family();
  if (family == nullptr || version.sequence <= family->created) return EntryVerdict::kDrop;
  const int64_t timestamp = TimestampOf(key);
  if (timestamp < family->min_timestamp || family->past.HasExpired(version.sequence, timestamp)) {
    has_collected_ |= IsCell(kind);
    return EntryVerdict::kDrop;
  }
  EnterTimestamp(timestamp);

  const bool hidden = column_.IsHiddenFromAll(version);
  EntryVerdict verdict;
  if (!column_.counts_versions()) {
    verdict = JudgeSimple(kind, version, hidden);
  } else if (column_.Resolves(version)) {
    verdict = resolved_.Judge(kind, version);
  } else {
    verdict = unresolved_.Judge(kind, version, hidden);
  }
  const bool stays = verdict == EntryVerdict::kKeep || verdict == EntryVerdict::kMark;
  has_collected_ |= !stays && !hidden && IsCell(kind);
  column_.AddWrite(kind, version);
  return verdict;
}

inline EntryVerdict CollectingCursor::JudgeSimple(EntryKind kind, EntryVersion version,
                                                  bool hidden) const {
  const bool is_done = !IsCell(kind) && column_.Resolves(version);
  return hidden || is_done ? EntryVerdict::kDrop : EntryVerdict::kKeep;
}

EntryVerdict CollectingCursor::Filter(EntryVerdict kept, EntryVersion version) {
  if (!filters_.Applies(version)) return kept;
  switch (filters_.Apply()) {
    case CompactionFilter::Decision::kKeep:
      return kept;
    case CompactionFilter::Decision::kReplace:
      is_replaced_ = true;
      return kept;
    case CompactionFilter::Decision::kRemove:
      break;
  }
  // A mark is for an older cell that stays.
  if (kept == EntryVerdict::kMark) return EntryVerdict::kMarkedShadow;
  return column_.counts_versions() && resolved_.CountsAgainstOlder() ? EntryVerdict::kShadow
                                                                     : EntryVerdict::kDrop;
}

// --- What is written ---

inline bool CollectingCursor::ShowKept(EntryKind kind, EntryVersion version) {
  made_key_.clear();
  const bool is_merged = IsContribution(kind) && !retention_->held;
  if (is_merged) {
    if (!contributions_.Merge(kind, version, resolved_.first(), &made_key_)) return false;
    has_moved_ = true;
    kind = KindOf(made_key_);
  }
  if (IsCell(kind) && column_.Resolves(version) && !retention_->held) Settle(kind, version);
  key_ = made_key_.empty() ? input_.key() : made_key_;
  value_ = is_merged      ? std::string_view(contributions_.state())
           : is_replaced_ ? std::string_view(filters_.value())
                          : input_.value();
  return true;
}

void CollectingCursor::ShowMarked() {
  if (verdict_ == EntryVerdict::kMarkedShadow) {
    verdict_ = EntryVerdict::kShadow;
    return ShowMade();
  }
  verdict_ = EntryVerdict::kKeep;
  key_ = input_.key();
  value_ = is_replaced_ ? std::string_view(filters_.value()) : input_.value();
}

void CollectingCursor::ShowMade() {
  value_ = {};
  made_key_ = column_.prefix();
  const int64_t timestamp = column_.timestamp();
  switch (verdict_) {
    case EntryVerdict::kShadow:
      made_key_ = input_.key();
      made_key_.back() = static_cast<char>(EntryKind::kShadow);
      break;
    case EntryVerdict::kGhost:
      AppendTrailer(&made_key_, timestamp, resolved_.written_version(), EntryKind::kGhost);
      break;
    case EntryVerdict::kMark:
    case EntryVerdict::kMarkedShadow:
      AppendTrailer(&made_key_, timestamp, resolved_.written_version(), EntryKind::kCountedOut);
      break;
    case EntryVerdict::kKeep:
    case EntryVerdict::kDrop:
      ABSL_ASSERT(false && "no entry is made for it");
      break;
  }
  key_ = made_key_;
}

void CollectingCursor::Settle(EntryKind kind, EntryVersion version) {
  const RetainedFamily& family = *column_.family();
  // When a cell was counted out depends on when those before it were written.
  if (!family.versions.by_age.empty()) return;
  // The version after the last change of the rules before it, or after the last complete change.
  const SequenceNumber horizon = column_.horizon();
  const SequenceNumber over =
      std::max(version.sequence, std::min(horizon, retention_->complete_through));
  // Those below are for what is ingested as older than everything else.
  const SequenceNumber left = family.created + kLeftForOldest;
  const SequenceNumber change = family.past.LastChangeUpTo(over);
  // An entry that was ingested so keeps its own beside a file that has such entries, perhaps of
  // another tablet: the first one would leave no others.
  const SequenceNumber complete = retention_->complete_through;
  if (complete != 0 && complete < left && left > over && change <= version.sequence) return;
  const EntryVersion settled{std::max(left <= over ? left : family.created + 1, change), 0};
  ABSL_ASSERT(settled.sequence > family.created && settled.sequence <= horizon &&
              "it stays in its family, and looks the same to all reads");
  if (version == settled || resolved_.has_traces()) return;
  made_key_ = column_.prefix();
  AppendTrailer(&made_key_, column_.timestamp(), settled, kind);
}

}  // namespace bigtable
