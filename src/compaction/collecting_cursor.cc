#include "compaction/collecting_cursor.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "absl/base/macros.h"
#include "absl/types/span.h"

#include "base/status.h"
#include "base/strings.h"
#include "base/time_range.h"

namespace bigtable {
namespace {

// All inputs of a compaction are of the same locality group.
constexpr uint32_t kGroup = 0;
constexpr EntryVersion kNever = DeletionTracker::kNever;

}  // namespace

CollectingCursor::CollectingCursor(EntryCursor* input, const Retention* retention, bool major,
                                   Pay pay)
    : input_(input),
      retention_(retention),
      major_(major),
      horizon_(retention->horizon()),
      pay_(std::move(pay)) {
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
  input_->SeekToFirst();
  Find();
}

void CollectingCursor::Next() {
  ABSL_ASSERT(valid_ && "only a valid cursor moves on");
  if (std::exchange(is_mark_, false)) return TakeMarked();
  if (!has_moved_) {
    valid_ = PayForEntry();
    if (!valid_) return;
    input_->Next();
  }
  has_moved_ = false;
  Find();
}

void CollectingCursor::TakeMarked() {
  key_ = input_->key();
  value_ = is_filtered_ ? std::string_view(filtered_) : input_->value();
  if (!marks_shadow_) return;
  made_key_ = input_->key();
  made_key_.back() = static_cast<char>(EntryKind::kShadow);
  key_ = made_key_;
  value_ = {};
}

void CollectingCursor::Find() {
  for (; input_->valid(); input_->Next()) {
    const std::string_view key = input_->key();
    const EntryKind kind = KindOf(key);
    const EntryVersion version = VersionOf(key);
    made_key_.clear();
    is_mark_ = false;
    marks_shadow_ = false;
    is_filtered_ = false;
    Verdict verdict = Judge(key, kind, version);
    if (!input_->valid() || !paid_.ok()) break;  // a read of the rest of the column failed
    if (verdict == Verdict::kKeep && kind == EntryKind::kCell && IsFiltered(version)) {
      verdict = Filter();
      if (!input_->valid() || !paid_.ok()) break;
      // The mark is written first.
      marks_shadow_ = is_mark_ && verdict != Verdict::kKeep;
      if (is_mark_) verdict = Verdict::kKeep;
    }
    if (verdict == Verdict::kDrop) {
      if (!PayForEntry()) break;
      continue;
    }
    if (verdict == Verdict::kShadow && made_key_.empty()) {
      made_key_ = input_->key();
      made_key_.back() = static_cast<char>(EntryKind::kShadow);
    }
    const bool is_aggregate =
        verdict == Verdict::kKeep && IsContribution(kind) && !retention_->held;
    if (is_aggregate && !MergeContributions(kind, version)) break;
    if (verdict == Verdict::kKeep && major_ && IsCell(kind) && version.sequence <= horizon_ &&
        !retention_->held && !is_mark_) {
      Settle(is_aggregate ? KindOf(made_key_) : kind, version);
    }
    key_ = made_key_.empty() ? input_->key() : made_key_;
    value_ = verdict != Verdict::kKeep || is_mark_ ? std::string_view()
             : is_aggregate                        ? std::string_view(state_)
             : is_filtered_                        ? std::string_view(filtered_)
                                                   : input_->value();
    valid_ = true;
    return;
  }
  valid_ = false;
}

bool CollectingCursor::PayForEntry() {
  constexpr uint64_t kPayEvery = 64 << 10;
  unpaid_ += input_->key().size() + input_->value().size();
  return unpaid_ < kPayEvery || PayFor(std::exchange(unpaid_, 0));
}

bool CollectingCursor::PayFor(uint64_t bytes) {
  if (pay_ != nullptr && paid_.ok()) paid_ = pay_(bytes);
  return paid_.ok();
}

CollectingCursor::Verdict CollectingCursor::Judge(std::string_view key, EntryKind kind,
                                                  EntryVersion version) {
  if (retention_->held) return Verdict::kKeep;
  if (key.size() != column_prefix_.size() + kTrailerSize || !key.starts_with(column_prefix_)) {
    EnterColumn(key);
  }
  return HasTimestamp(kind) ? JudgeTimestamped(key, kind, version) : JudgeWide(kind, version);
}

void CollectingCursor::EnterRow(std::string_view key, size_t row_size) {
  row_.assign(key.substr(0, row_size));
  deletions_.EnterRow();
}

void CollectingCursor::EnterColumn(std::string_view key) {
  const bool same_row = !row_.empty() && key.starts_with(row_);
  const size_t row_size = same_row ? row_.size() : RowPrefixSize(key);
  const std::string_view family = FamilyOf(key, row_size);
  if (!same_row) EnterRow(key, row_size);
  if (!same_row || family != family_name_) {
    deletions_.EnterFamily(kGroup);
    family_ = retention_->Find(family);
    counts_versions_ = family_ != nullptr && family_->counts_versions();
  }
  column_prefix_.assign(ColumnPrefix(key));
  family_name_ = std::string_view(column_prefix_).substr(row_size, family.size());
  deletions_.EnterColumn();
  in_timestamp_ = false;
  saw_deletion_ = false;
  newer_births_.clear();
  versions_.clear();
  last_contribution_ = {};
  living_ = 0;
  played_ = false;
}

void CollectingCursor::EnterTimestamp(int64_t timestamp) {
  in_timestamp_ = true;
  timestamp_ = timestamp;
  newer_at_timestamp_ = {};
  counted_timestamp_ = false;
  // Not earlier: the last contribution does not count against older ones to its own cell.
  if (const EntryVersion last = std::exchange(last_contribution_, {}); last != EntryVersion{}) {
    CountNewer(last);
    counted_timestamp_ = false;
  }
  resolved_timestamp_ = false;
}

CollectingCursor::Verdict CollectingCursor::JudgeWide(EntryKind kind, EntryVersion version) {
  const bool of_row = ScopeOf(kind) == EntryScope::kRow;
  if (!of_row && (family_ == nullptr || version.sequence <= family_->created)) {
    return Verdict::kDrop;
  }
  // A later deletion of at least the same scope has the same effect, unless versions between the
  // two are counted.
  const bool counted = of_row ? keeps_versions_ : counts_versions_;
  const bool idle = !counted && IsHiddenFromAll(version, deletions_.FirstAfter(version));
  if (kind == EntryKind::kDeleteTimeRange) {
    if (!AddTimeRange(version)) return Verdict::kDrop;
  } else {
    deletions_.Add(kind, version, kGroup);
  }
  if (idle || (major_ && version.sequence <= horizon_)) return Verdict::kDrop;
  return Verdict::kKeep;
}

bool CollectingCursor::AddTimeRange(EntryVersion version) {
  TimeRange range;
  if (ParseTimeRange(input_->value(), &range)) {
    deletions_.AddTimeRange(range, version);
    return true;
  }
  paid_ = absl::DataLossError(Cat("malformed time-range deletion: ", DebugString(input_->key())));
  return false;
}

CollectingCursor::Verdict CollectingCursor::JudgeTimestamped(std::string_view key, EntryKind kind,
                                                             EntryVersion version) {
  if (family_ == nullptr || version.sequence <= family_->created) return Verdict::kDrop;
  const int64_t timestamp = TimestampOf(key);
  if (timestamp < family_->min_timestamp) return Verdict::kDrop;
  if (family_->past.HasExpired(version.sequence, timestamp)) return Verdict::kDrop;
  if (!in_timestamp_ || timestamp != timestamp_) EnterTimestamp(timestamp);

  const bool hidden = IsHiddenFromAll(version, HiderOf(version));
  Verdict verdict;
  if (!counts_versions_) {
    verdict = JudgeSimple(kind, version, hidden);
  } else if (major_ && version.sequence <= horizon_) {
    verdict = JudgeResolved(kind, version);
  } else {
    verdict = JudgeMerging(kind, version, hidden);
  }
  if (!IsContribution(kind) && kind != EntryKind::kCountedOut) {
    newer_at_timestamp_ = version;
    newer_kind_ = kind;
  }
  return verdict;
}

CollectingCursor::Verdict CollectingCursor::JudgeSimple(EntryKind kind, EntryVersion version,
                                                        bool hidden) {
  if (hidden) return Verdict::kDrop;
  const bool resolved = major_ && version.sequence <= horizon_;
  return !IsCell(kind) && resolved ? Verdict::kDrop : Verdict::kKeep;
}

CollectingCursor::Verdict CollectingCursor::JudgeMerging(EntryKind kind, EntryVersion version,
                                                         bool hidden) {
  // Entries after the last change are counted only by the present rule, if there is one.
  const bool counted =
      family_->versions.any() || version.sequence < family_->past.versions_changed();
  if (!counted && hidden) return Verdict::kDrop;
  if (TraitsOf(kind).is_deletion || kind == EntryKind::kCountedOut) {
    saw_deletion_ = true;
    return Verdict::kKeep;
  }
  if (!saw_deletion_ && !deletions_.any() && HasEnoughNewer(version)) return Verdict::kDrop;
  if (kind == EntryKind::kShadow) {
    saw_deletion_ = true;
    return Verdict::kKeep;
  }
  if (hidden) {
    const bool overwritten =
        newer_at_timestamp_ != EntryVersion{} && newer_kind_ == EntryKind::kCell;
    if (overwritten && HiderOf(version) == newer_at_timestamp_ && family_->versions.most == 1 &&
        family_->past.versions.empty()) {
      return Verdict::kDrop;
    }
    saw_deletion_ = true;
    return Verdict::kShadow;
  }
  if (!IsContribution(kind)) {
    CountNewer(version);
  } else if (last_contribution_ == EntryVersion{}) {
    last_contribution_ = version;
  }
  return Verdict::kKeep;
}

CollectingCursor::Verdict CollectingCursor::JudgeResolved(EntryKind kind, EntryVersion version) {
  // Overwritten or deleted before the horizon, or merged as far as it is a part of the cell.
  if (resolved_timestamp_) return Verdict::kDrop;
  if (kind == EntryKind::kCountedOut) {
    // The cell that it marks follows, and is marked again if need be.
    if (!played_) PlayColumn();
    return Verdict::kDrop;
  }
  resolved_timestamp_ = true;
  first_ = {};
  if (!played_) {
    Verdict verdict;
    if (JudgeLiving(kind, version, &verdict)) return verdict;
    if (!PlayColumn()) return Verdict::kDrop;
  }
  const ColumnHistory::Life* const life = history_.FindLife(timestamp_);
  if (life != nullptr && life->is_visible()) {
    first_ = life->first;
    if (kind == EntryKind::kShadow && IsUseless()) return Verdict::kDrop;
    if (!IsCell(kind)) return Verdict::kShadow;
    if (FindIn(marked_) != nullptr) MakeMark(*life);
    return Verdict::kKeep;
  }
  if (life != nullptr && life->counts()) return Verdict::kShadow;
  const ColumnHistory::Life* const ghost = FindIn(ghosts_);
  if (ghost == nullptr) return Verdict::kDrop;
  made_key_ = column_prefix_;
  AppendTrailer(&made_key_, timestamp_, ghost->ended(), EntryKind::kGhost);
  return Verdict::kShadow;
}

// As long as every cell is alive and judged by one rule, those that stay are simply the newest, and
// of the others those that are not too old. What is left of a cell that was collected by its age
// still counts. The first cell stays under any rule. A cell of contributions may be older than the
// last.
bool CollectingCursor::JudgeLiving(EntryKind kind, EntryVersion version, Verdict* verdict) {
  const SequenceNumber written = IsContribution(kind) ? 0 : version.sequence;
  const bool by_other_rules = written < family_->past.versions_changed();
  const VersionLimits& limits = family_->versions;
  const bool is_expired = !by_other_rules && timestamp_ < limits.MinTimestamp(living_);
  *verdict = Verdict::kDrop;
  if (is_expired && living_ >= limits.most) return true;
  const EntryVersion deletion = deletions_.FirstAfter(version, timestamp_);
  const bool deleted = deletion != kNever && deletion.sequence <= horizon_;
  const bool lives = IsCell(kind) || kind == EntryKind::kShadow;
  if (!lives || deleted || (by_other_rules && living_ > 0)) return false;
  if (kind == EntryKind::kShadow && IsUseless()) return true;
  ++living_;
  *verdict = is_expired || !IsCell(kind) ? Verdict::kShadow : Verdict::kKeep;
  return true;
}

const ColumnHistory::Life* CollectingCursor::FindIn(
    const std::vector<ColumnHistory::Life>& lives) const {
  const auto life = std::partition_point(
      lives.begin(), lives.end(),
      [&](const ColumnHistory::Life& other) { return other.timestamp < timestamp_; });
  return life != lives.end() && life->timestamp == timestamp_ ? &*life : nullptr;
}

// Two entries of a timestamp have different versions, so a cell that was counted out when it was
// written has its mark after it. No older cell that was written before makes a difference then: it
// has as many newer ones.
void CollectingCursor::MakeMark(const ColumnHistory::Life& life) {
  ABSL_ASSERT(life.counted_out != ColumnHistory::kAlive && "the mark says when it was counted out");
  EntryVersion version = life.counted_out;
  if (version == life.birth) ++version.ordinal;
  made_key_ = column_prefix_;
  AppendTrailer(&made_key_, timestamp_, version, EntryKind::kCountedOut);
  is_mark_ = true;
}

void CollectingCursor::Settle(EntryKind kind, EntryVersion version) {
  // When a cell was counted out depends on when those before it were written.
  if (!family_->versions.by_age.empty()) return;
  // The version after the last change of the rules before it, or after the last complete change.
  const SequenceNumber over =
      std::max(version.sequence, std::min(horizon_, retention_->complete_through));
  const EntryVersion settled{std::max(family_->created + 1, family_->past.LastChangeUpTo(over)), 0};
  ABSL_ASSERT(settled.sequence > family_->created && settled.sequence <= horizon_ &&
              "it stays in its family, and looks the same to all reads");
  if (version == settled || (played_ && !(ghosts_.empty() && marked_.empty()))) return;
  made_key_ = column_prefix_;
  AppendTrailer(&made_key_, timestamp_, settled, kind);
}

EntryVersion CollectingCursor::HiderOf(EntryVersion version) {
  const EntryVersion deletion = deletions_.FirstAfter(version, timestamp_);
  return newer_at_timestamp_ > version ? std::min(deletion, newer_at_timestamp_) : deletion;
}

bool CollectingCursor::IsHiddenFromAll(EntryVersion version, EntryVersion hider) const {
  return hider != kNever && !retention_->SeenBetween(version.sequence, hider.sequence);
}

bool CollectingCursor::HasEnoughNewer(EntryVersion version) const {
  const int64_t most = family_->versions.most;
  if (static_cast<int64_t>(newer_births_.size()) < most) return false;
  if (timestamp_ >= family_->versions.MinTimestamp(most)) return false;
  // Even the earliest of them must count by the present rule.
  const EntryVersion counted_from = std::max(version, {family_->past.versions_changed(), 0});
  if (newer_births_.front() < counted_from) return false;
  const EntryVersion last = *std::max_element(newer_births_.begin(), newer_births_.end());
  return !retention_->SeenBetween(version.sequence, last.sequence);
}

void CollectingCursor::CountNewer(EntryVersion version) {
  if (counted_timestamp_ || !family_->versions.any()) return;
  counted_timestamp_ = true;
  newer_births_.push_back(version);
  std::push_heap(newer_births_.begin(), newer_births_.end(), std::greater<>());
  if (static_cast<int64_t>(newer_births_.size()) > family_->versions.most) {
    std::pop_heap(newer_births_.begin(), newer_births_.end(), std::greater<>());
    newer_births_.pop_back();
  }
  ABSL_ASSERT(static_cast<int64_t>(newer_births_.size()) <= family_->versions.most &&
              "only as many as the rule keeps are remembered");
}

bool CollectingCursor::PlayColumn() {
  const std::string here(input_->key());
  const auto go_on = [this] { return PayFor(0); };
  history_.Clear();
  const ColumnHistory::Bounds bounds{.written_after = family_->created,
                                     .written_by = horizon_,
                                     .min_timestamp = family_->min_timestamp,
                                     .past = &family_->past};
  history_.AddWideDeletions(deletions_, bounds);
  input_->Seek(column_prefix_);
  if (!history_.AddColumn(input_, column_prefix_, bounds, go_on) || !input_->status().ok()) {
    return false;
  }
  // The changes that are complete: no entry older than them can still arrive. Entries that are not
  // read here were written later than all of the column's.
  const SequenceNumber over =
      std::min(horizon_, std::max(retention_->complete_through, history_.last_met()));
  absl::Span<const PastRules::Versions> past = family_->past.versions;
  const VersionLimits* limits = &family_->versions;
  while (!past.empty() && past.back().before > over) {
    limits = &past.back().limits;
    past.remove_suffix(1);
  }
  if (!history_.Play(past, *limits, go_on)) return false;
  played_ = true;
  ghosts_.clear();
  marked_.clear();
  if (limits->any()) FindGhosts({past.empty() ? 0 : past.back().before, 0});
  input_->Seek(here);
  return input_->valid();
}

// A cell that ended after an older cell that stays was written, or after counting began anew,
// counts against that cell for good. So each of them leaves a ghost. A cell that stays, but was
// counted out before an older one was written, gets a mark, because it does not.
void CollectingCursor::FindGhosts(EntryVersion since) {
  const std::vector<ColumnHistory::Life>& lives = history_.lives();
  EntryVersion first_birth = ColumnHistory::kAlive;
  EntryVersion last_birth;
  for (auto life = lives.rbegin(); life != lives.rend(); ++life) {
    if (!life->is_visible() && !life->counts()) {
      if (life->ended() > first_birth) ghosts_.push_back(*life);
      continue;
    }
    if (life->ended() < last_birth) marked_.push_back(*life);
    first_birth = std::min(first_birth, std::max(life->birth, since));
    last_birth = std::max(last_birth, std::max(life->birth, since));
  }
}

}  // namespace bigtable
