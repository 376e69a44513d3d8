// How a major compaction applies the families' compaction filters.
#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/compaction_filter.h"
#include "bigtable/row_mutation.h"
#include "bigtable/timestamp.h"

#include "base/catch_thrown.h"
#include "base/strings.h"
#include "compaction/collecting_cursor.h"

namespace bigtable {

bool CollectingCursor::IsFiltered(EntryVersion version) {
  if (!major_ || family_ == nullptr || family_->filter == nullptr || retention_->held) return false;
  const bool is_seen = retention_->defers_filters || version.sequence > horizon_;
  if (is_seen) ++cells_unfiltered_;
  return !is_seen;
}

CollectingCursor::Verdict CollectingCursor::Filter() {
  const std::string_view column = std::string_view(column_prefix_).substr(row_.size());
  const CompactedCell cell{
      .row = Unescape(row_, &row_scratch_),
      .family = family_->name,
      .qualifier = Unescape(column.substr(family_->name.size() + 1), &qualifier_scratch_),
      .timestamp = Timestamp(timestamp_),
      .value = input_->value(),
      .now = retention_->now};
  filtered_.clear();
  CompactionFilter::Decision decision = CompactionFilter::Decision::kKeep;
  const auto name = [&] { return Cat("the compaction filter of family ", Quoted(family_->name)); };
  const absl::Status thrown =
      CatchThrown(name, [&] { decision = family_->filter->Filter(cell, &filtered_); });
  if (!thrown.ok()) {
    paid_ = thrown;
    return Verdict::kKeep;
  }
  switch (decision) {
    case CompactionFilter::Decision::kKeep:
      break;
    case CompactionFilter::Decision::kReplace:
      is_filtered_ = true;
      if (filtered_.size() > RowMutation::kMaxValueSize) {
        paid_ = absl::InvalidArgumentError(Cat(
            "the compaction filter of family ", Quoted(family_->name), " has returned a value of ",
            filtered_.size(), " bytes; a value must be at most ", RowMutation::kMaxValueSize));
      }
      break;
    case CompactionFilter::Decision::kRemove:
      return CountsAgainstOlder() ? Verdict::kShadow : Verdict::kDrop;
  }
  return Verdict::kKeep;
}

bool CollectingCursor::CountsAgainstOlder() {
  if (!counts_versions_) return false;
  // The last version that the rule keeps: all older ones that are read are dropped.
  const bool is_last = retention_->snapshots.empty() && !played_ &&
                       family_->past.versions.empty() && family_->versions.by_age.empty() &&
                       living_ >= family_->versions.most;
  return (!is_last && HasOlder()) || HasUnreadOlder();
}

bool CollectingCursor::HasUnreadOlder() const {
  return retention_->has_unread_older != nullptr &&
         retention_->has_unread_older(column_prefix_, timestamp_);
}

bool CollectingCursor::HasOlder() {
  constexpr size_t kEntriesBetweenPay = 256;
  const std::string here(input_->key());
  bool has_older = false;
  size_t met = 0;
  for (input_->Next(); input_->valid(); input_->Next()) {
    const std::string_view key = input_->key();
    if (key.size() != here.size() || !key.starts_with(column_prefix_)) break;
    has_older = TimestampOf(key) < timestamp_;
    if (has_older || (++met % kEntriesBetweenPay == 0 && !PayFor(0))) break;
  }
  if (input_->status().ok() && paid_.ok()) input_->Seek(here);
  return has_older;
}

// Such shadows are what is left of cells that a filter has removed, or that a rule has collected by
// their age. The latter count against what is written later, too.
bool CollectingCursor::IsUseless() {
  return family_->versions.by_age.empty() && !HasOlder() && !HasUnreadOlder();
}

}  // namespace bigtable
