#include "compaction/resolved_versions.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/base/macros.h"

#include "base/entry_key.h"

namespace bigtable {

EntryVerdict ResolvedVersions::Judge(EntryKind kind, EntryVersion version) {
  if (resolved_timestamp_) return EntryVerdict::kDrop;
  if (kind == EntryKind::kCountedOut) {
    // The cell that it marks follows, and is marked again if need be.
    if (!played_) PlayColumn();
    return EntryVerdict::kDrop;
  }
  resolved_timestamp_ = true;
  first_ = {};
  if (!played_) {
    EntryVerdict verdict;
    if (JudgeLiving(kind, version, &verdict)) return verdict;
    if (!PlayColumn()) return EntryVerdict::kDrop;
  }
  return JudgeLife(kind, history_.FindLife(column_.timestamp()));
}

// As long as every cell is alive and judged by one rule, those that stay are simply the newest, and
// of the others those that are not too old. What is left of a cell that was collected by its age
// still counts. The first cell stays under any rule. A cell of contributions may be older than the
// last.
bool ResolvedVersions::JudgeLiving(EntryKind kind, EntryVersion version, EntryVerdict* verdict) {
  const RetainedFamily& family = *column_.family();
  const int64_t timestamp = column_.timestamp();
  const SequenceNumber written = IsContribution(kind) ? 0 : version.sequence;
  const bool by_other_rules = written < family.past.versions_changed();
  const VersionLimits& limits = family.versions;
  const bool is_expired = !by_other_rules && timestamp < limits.MinTimestamp(living_);
  *verdict = EntryVerdict::kDrop;
  if (is_expired && living_ >= limits.most) return true;
  const EntryVersion deletion = column_.deletions().FirstAfter(version, timestamp);
  const bool deleted =
      deletion != CollectedColumn::kNever && deletion.sequence <= column_.horizon();
  const bool lives = IsCell(kind) || kind == EntryKind::kShadow;
  if (!lives || deleted || (by_other_rules && living_ > 0)) return false;
  if (kind == EntryKind::kShadow && IsUseless()) return true;
  ++living_;
  *verdict = is_expired || !IsCell(kind) ? EntryVerdict::kShadow : EntryVerdict::kKeep;
  return true;
}

EntryVerdict ResolvedVersions::JudgeLife(EntryKind kind, const ColumnHistory::Life* life) {
  if (life != nullptr && life->is_visible()) {
    first_ = life->first;
    if (kind == EntryKind::kShadow && IsUseless()) return EntryVerdict::kDrop;
    if (!IsCell(kind)) return EntryVerdict::kShadow;
    if (FindIn(marked_) == nullptr) return EntryVerdict::kKeep;
    ABSL_ASSERT(life->counted_out != ColumnHistory::kAlive &&
                "the mark says when it was counted out");
    // Two entries of a timestamp have different versions, so a cell that was counted out when it
    // was written has its mark after it. No older cell that was written before makes a difference
    // then: it has as many newer ones.
    written_version_ = life->counted_out;
    if (written_version_ == life->birth) ++written_version_.ordinal;
    return EntryVerdict::kMark;
  }
  if (life != nullptr && life->counts()) return EntryVerdict::kShadow;
  const ColumnHistory::Life* const ghost = FindIn(ghosts_);
  if (ghost == nullptr) return EntryVerdict::kDrop;
  written_version_ = ghost->ended();
  return EntryVerdict::kGhost;
}

const ColumnHistory::Life* ResolvedVersions::FindIn(
    const std::vector<ColumnHistory::Life>& lives) const {
  const int64_t timestamp = column_.timestamp();
  const auto life = std::partition_point(
      lives.begin(), lives.end(),
      [&](const ColumnHistory::Life& other) { return other.timestamp < timestamp; });
  return life != lives.end() && life->timestamp == timestamp ? &*life : nullptr;
}

bool ResolvedVersions::PlayColumn() {
  ABSL_ASSERT(!played_ && column_.Has(input_.key()) && "the current column is played once");
  const RetainedFamily& family = *column_.family();
  const std::string here(input_.key());
  const auto go_on = [this] { return input_.KeepGoing(); };
  history_.Clear();
  const ColumnHistory::Bounds bounds{.written_after = family.created,
                                     .written_by = column_.horizon(),
                                     .min_timestamp = family.min_timestamp,
                                     .past = &family.past};
  history_.AddWideDeletions(column_.deletions(), bounds);
  EntryCursor* const entries = input_.cursor();
  entries->Seek(column_.prefix());
  if (!history_.AddColumn(entries, column_.prefix(), bounds, go_on) || !entries->status().ok()) {
    return false;
  }
  absl::Span<const PastRules::Versions> past = family.past.versions;
  const VersionLimits* const limits = CompleteRules(&past);
  if (!history_.Play(past, *limits, go_on)) return false;
  played_ = true;
  ghosts_.clear();
  marked_.clear();
  if (limits->any()) FindGhosts({past.empty() ? 0 : past.back().before, 0});
  input_.ReturnTo(here);
  return input_.valid();
}

const VersionLimits* ResolvedVersions::CompleteRules(
    absl::Span<const PastRules::Versions>* past) const {
  // The changes that are complete: no entry older than them can still arrive. Entries that are not
  // read here were written later than all of the column's.
  const SequenceNumber over = std::min(
      column_.horizon(), std::max(column_.retention().complete_through, history_.last_met()));
  const VersionLimits* limits = &column_.family()->versions;
  while (!past->empty() && past->back().before > over) {
    limits = &past->back().limits;
    past->remove_suffix(1);
  }
  return limits;
}

// A cell that ended after an older cell that stays was written, or after counting began anew,
// counts against that cell for good. So each of them leaves a ghost. A cell that stays, but was
// counted out before an older one was written, gets a mark, because it does not.
void ResolvedVersions::FindGhosts(EntryVersion since) {
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

bool ResolvedVersions::CountsAgainstOlder() {
  const RetainedFamily& family = *column_.family();
  // The last version that the rule keeps: all older ones that are read are dropped.
  const bool is_last = column_.retention().snapshots.empty() && !played_ &&
                       family.past.versions.empty() && family.versions.by_age.empty() &&
                       living_ >= family.versions.most;
  return (!is_last && HasOlder()) || HasUnreadOlder();
}

bool ResolvedVersions::HasUnreadOlder() const {
  const auto& has_unread_older = column_.retention().has_unread_older;
  return has_unread_older != nullptr && has_unread_older(column_.prefix(), column_.timestamp());
}

bool ResolvedVersions::HasOlder() {
  const std::string here(input_.key());
  EntryCursor* const entries = input_.cursor();
  bool has_older = false;
  size_t met = 0;
  for (entries->Next(); entries->valid(); entries->Next()) {
    const std::string_view key = entries->key();
    if (!column_.Has(key)) break;
    has_older = TimestampOf(key) < column_.timestamp();
    if (has_older) break;
    if (++met % PaidInput::kEntriesBetweenPay == 0 && !input_.KeepGoing()) break;
  }
  if (input_.status().ok()) input_.ReturnTo(here);
  return has_older;
}

// Such shadows are what is left of cells that a filter has removed, or that a rule has collected by
// their age. The latter count against what is written later, too.
bool ResolvedVersions::IsUseless() {
  return column_.family()->versions.by_age.empty() && !HasOlder() && !HasUnreadOlder();
}

}  // namespace bigtable
