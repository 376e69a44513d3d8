#include "compaction/collecting_cursor.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace bigtable {
namespace {

// The oldest of `deletions`, which are sorted from new to old, that is later than `version`.
const EntryVersion* FirstLater(const std::vector<EntryVersion>& deletions, EntryVersion version) {
  const auto end = std::partition_point(deletions.begin(), deletions.end(),
                                        [&](EntryVersion d) { return d > version; });
  return end == deletions.begin() ? nullptr : &*(end - 1);
}

}  // namespace

CollectingCursor::CollectingCursor(EntryCursor* input, const Retention* retention, bool major)
    : input_(input), retention_(retention), major_(major), horizon_(retention->horizon()) {
  for (const RetainedFamily& family : retention->families) {
    keeps_versions_ |= family.max_versions.has_value();
  }
}

void CollectingCursor::SeekToFirst() {
  input_->SeekToFirst();
  Find();
}

void CollectingCursor::Next() {
  input_->Next();
  Find();
}

void CollectingCursor::Find() {
  for (; input_->valid(); input_->Next()) {
    const std::string_view key = input_->key();
    if (key.size() != column_prefix_.size() + kTrailerSize || !key.starts_with(column_prefix_)) {
      EnterColumn(key);
    }
    const EntryKind kind = KindOf(key);
    const EntryVersion version = VersionOf(key);
    made_key_.clear();
    const Verdict verdict =
        HasTimestamp(kind) ? JudgeTimestamped(key, kind, version) : JudgeWide(kind, version);
    if (!input_->valid()) break;  // reading ahead met an error
    if (verdict == Verdict::kDrop) continue;
    if (verdict == Verdict::kShadow && made_key_.empty()) {
      made_key_ = input_->key();
      made_key_.back() = static_cast<char>(EntryKind::kShadow);
    }
    if (verdict == Verdict::kKeep && major_ && kind == EntryKind::kCell &&
        version.sequence <= horizon_) {
      Settle(version);
    }
    key_ = made_key_.empty() ? input_->key() : made_key_;
    value_ = verdict == Verdict::kKeep ? input_->value() : std::string_view();
    valid_ = true;
    return;
  }
  valid_ = false;
}

void CollectingCursor::EnterRow(std::string_view key, size_t row_size) {
  row_.assign(key.substr(0, row_size));
  row_deletions_.clear();
  family_deletions_.clear();
}

void CollectingCursor::EnterColumn(std::string_view key) {
  const bool same_row = !row_.empty() && key.starts_with(row_);
  const size_t row_size = same_row ? row_.size() : RowPrefixSize(key);
  const std::string_view family = FamilyOf(key, row_size);
  if (!same_row) {
    EnterRow(key, row_size);
  } else if (family != family_name_) {
    family_deletions_.clear();
  }
  if (!same_row || family != family_name_) family_ = retention_->Find(family);
  column_prefix_.assign(ColumnPrefix(key));
  family_name_ = std::string_view(column_prefix_).substr(row_size, family.size());
  column_deletions_.clear();
  in_timestamp_ = false;
  saw_deletion_ = false;
  newer_births_.clear();
  living_ = 0;
  played_ = false;
}

void CollectingCursor::EnterTimestamp(int64_t timestamp) {
  in_timestamp_ = true;
  timestamp_ = timestamp;
  newer_at_timestamp_ = {};
  counted_timestamp_ = false;
  resolved_timestamp_ = false;
}

CollectingCursor::Verdict CollectingCursor::JudgeWide(EntryKind kind, EntryVersion version) {
  const bool of_row = kind == EntryKind::kDeleteRow;
  if (!of_row && (family_ == nullptr || version.sequence <= family_->created)) {
    return Verdict::kDrop;
  }
  // A later deletion of as much or more does the same work, unless someone counts what was there
  // in between.
  EntryVersion hider;
  in_timestamp_ = false;
  const bool counted = of_row ? keeps_versions_ : family_->max_versions.has_value();
  const bool idle = !counted && FindHider(version, &hider) &&
                    !retention_->SeenBetween(version.sequence, hider.sequence);
  auto& deletions = of_row                             ? row_deletions_
                    : kind == EntryKind::kDeleteFamily ? family_deletions_
                                                       : column_deletions_;
  deletions.push_back(version);
  if (idle || (major_ && version.sequence <= horizon_)) return Verdict::kDrop;
  return Verdict::kKeep;
}

CollectingCursor::Verdict CollectingCursor::JudgeTimestamped(std::string_view key, EntryKind kind,
                                                             EntryVersion version) {
  if (family_ == nullptr || version.sequence <= family_->created) return Verdict::kDrop;
  const int64_t timestamp = TimestampOf(key);
  if (timestamp < family_->min_timestamp) return Verdict::kDrop;
  if (!in_timestamp_ || timestamp != timestamp_) EnterTimestamp(timestamp);

  EntryVersion hider;
  const bool hidden =
      FindHider(version, &hider) && !retention_->SeenBetween(version.sequence, hider.sequence);
  Verdict verdict;
  if (!family_->max_versions.has_value()) {
    verdict = JudgeSimple(kind, version, hidden);
  } else if (major_ && version.sequence <= horizon_) {
    verdict = JudgeResolved(kind, version);
  } else {
    verdict = JudgeMerging(kind, version, hidden);
  }
  newer_at_timestamp_ = version;
  newer_kind_ = kind;
  return verdict;
}

CollectingCursor::Verdict CollectingCursor::JudgeSimple(EntryKind kind, EntryVersion version,
                                                        bool hidden) {
  if (hidden) return Verdict::kDrop;
  const bool resolved = major_ && version.sequence <= horizon_;
  return kind != EntryKind::kCell && resolved ? Verdict::kDrop : Verdict::kKeep;
}

CollectingCursor::Verdict CollectingCursor::JudgeMerging(EntryKind kind, EntryVersion version,
                                                         bool hidden) {
  if (kind == EntryKind::kDeleteCell || kind == EntryKind::kGhost) {
    saw_deletion_ = true;
    return Verdict::kKeep;
  }
  if (!saw_deletion_ && !HasWideDeletions() && HasEnoughNewer(version)) return Verdict::kDrop;
  if (kind == EntryKind::kShadow) {
    saw_deletion_ = true;
    return Verdict::kKeep;
  }
  if (hidden) {
    const bool overwritten =
        newer_at_timestamp_ != EntryVersion{} && newer_kind_ == EntryKind::kCell;
    EntryVersion hider;
    FindHider(version, &hider);
    if (overwritten && hider == newer_at_timestamp_ && family_->max_versions == 1) {
      return Verdict::kDrop;
    }
    saw_deletion_ = true;
    return Verdict::kShadow;
  }
  CountNewer(version);
  return Verdict::kKeep;
}

CollectingCursor::Verdict CollectingCursor::JudgeResolved(EntryKind kind, EntryVersion version) {
  if (resolved_timestamp_) return Verdict::kDrop;  // overwritten or deleted before the horizon
  resolved_timestamp_ = true;
  if (!played_) {
    // As long as everything lives, those that live are simply the newest.
    if (living_ >= *family_->max_versions) return Verdict::kDrop;
    EntryVersion hider;
    in_timestamp_ = false;  // only what hides all timestamps
    const bool deleted = FindHider(version, &hider) && hider.sequence <= horizon_;
    in_timestamp_ = true;
    if (kind == EntryKind::kCell && !deleted) {
      ++living_;
      return Verdict::kKeep;
    }
    if (!PlayColumn()) return Verdict::kDrop;
  }
  const int64_t timestamp = timestamp_;
  const auto is_here = [&](const ColumnHistory::Life& life) { return life.timestamp == timestamp; };
  const auto life =
      std::partition_point(lives_.begin(), lives_.end(),
                           [&](const ColumnHistory::Life& l) { return l.timestamp > timestamp; });
  if (life != lives_.end() && is_here(*life) && life->death == ColumnHistory::kAlive) {
    return Verdict::kKeep;
  }
  const auto ghost = std::find_if(ghosts_.begin(), ghosts_.end(), is_here);
  if (ghost == ghosts_.end()) return Verdict::kDrop;
  made_key_ = column_prefix_;
  AppendTrailer(&made_key_, timestamp, ghost->death, EntryKind::kGhost);
  return Verdict::kShadow;
}

void CollectingCursor::Settle(EntryVersion version) {
  const EntryVersion settled{family_->created + 1, 0};
  if (version == settled || (played_ && !ghosts_.empty())) return;
  made_key_ = column_prefix_;
  AppendTrailer(&made_key_, timestamp_, settled, EntryKind::kCell);
}

bool CollectingCursor::FindHider(EntryVersion version, EntryVersion* hider) const {
  *hider = ColumnHistory::kAlive;
  for (const auto* deletions : {&row_deletions_, &family_deletions_, &column_deletions_}) {
    if (deletions->empty()) continue;
    if (const EntryVersion* later = FirstLater(*deletions, version)) {
      *hider = std::min(*hider, *later);
    }
  }
  if (in_timestamp_ && newer_at_timestamp_ > version) {
    *hider = std::min(*hider, newer_at_timestamp_);
  }
  return *hider != ColumnHistory::kAlive;
}

bool CollectingCursor::HasWideDeletions() const {
  return !row_deletions_.empty() || !family_deletions_.empty() || !column_deletions_.empty();
}

bool CollectingCursor::HasEnoughNewer(EntryVersion version) const {
  if (newer_births_.size() < static_cast<size_t>(*family_->max_versions)) return false;
  if (newer_births_.front() < version) return false;  // the earliest of them
  const EntryVersion last = *std::max_element(newer_births_.begin(), newer_births_.end());
  return !retention_->SeenBetween(version.sequence, last.sequence);
}

void CollectingCursor::CountNewer(EntryVersion version) {
  if (counted_timestamp_) return;
  counted_timestamp_ = true;
  newer_births_.push_back(version);
  std::push_heap(newer_births_.begin(), newer_births_.end(), std::greater<>());
  if (newer_births_.size() > static_cast<size_t>(*family_->max_versions)) {
    std::pop_heap(newer_births_.begin(), newer_births_.end(), std::greater<>());
    newer_births_.pop_back();
  }
}

bool CollectingCursor::PlayColumn() {
  const std::string here(input_->key());
  history_.Clear();
  const ColumnHistory::Bounds bounds{.written_after = family_->created,
                                     .written_by = horizon_,
                                     .min_timestamp = family_->min_timestamp};
  history_.AddWideDeletions(row_deletions_, bounds);
  history_.AddWideDeletions(family_deletions_, bounds);
  history_.AddColumn(input_, column_prefix_, bounds);
  if (!input_->status().ok()) return false;
  lives_ = history_.Play(*family_->max_versions);
  played_ = true;

  // Ghosts are what died after an older cell that lives was written: it counts against that one
  // for ever, so none of them may go.
  ghosts_.clear();
  EntryVersion earliest_birth = ColumnHistory::kAlive;
  for (auto life = lives_.rbegin(); life != lives_.rend(); ++life) {
    if (life->death == ColumnHistory::kAlive) {
      earliest_birth = std::min(earliest_birth, life->birth);
    } else if (life->death > earliest_birth) {
      ghosts_.push_back(*life);
    }
  }
  input_->Seek(here);
  return input_->valid();
}

}  // namespace bigtable
