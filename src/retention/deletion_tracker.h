// The deletions at a cursor's position that are wider than a cell: those of its row, its family and
// its column. A deletion hides every entry in its scope with a smaller version.
//
// Deletions of a time range of the column are among them. They hide only entries with such a
// timestamp, so every question names one.
//
// Reads and compactions both use this class. A read only needs whether a version is hidden (Hides),
// since it adds only deletions that it may see. A compaction needs the first later deletion
// (FirstAfter), since a snapshot may be between the two.
//
// The cursor reports each row, family and column that it enters, in this order, and adds the
// deletions that it finds there, which come from new to old. Without deletions this only compares
// and copies versions, and touches no list. One thread at a time.
#ifndef BIGTABLE_RETENTION_DELETION_TRACKER_H_
#define BIGTABLE_RETENTION_DELETION_TRACKER_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/macros.h"

#include "base/entry_kind.h"
#include "base/sequence.h"
#include "base/time_range.h"
#include "retention/time_range_deletions.h"

namespace bigtable {

class DeletionTracker {
 public:
  // After every version.
  static constexpr EntryVersion kNever{kMaxSequence, kMaxOrdinal};

  void EnterRow() {
    if (std::exchange(has_row_deletions_, false)) [[unlikely]]
      rows_.clear();
  }
  // Deletions of the row are stored per locality group. Only those of the family's group apply.
  void EnterFamily(uint32_t group_id) {
    group_id_ = group_id;
    family_.Clear();
    family_hidden_before_ = has_row_deletions_ ? NewestOfRow() : EntryVersion();
  }
  void EnterColumn() {
    ClearColumn();
    hidden_before_ = family_hidden_before_;
  }
  // Same as the three calls above, for a row whose first cell has no deletion before it. Requires
  // !has_wide(), so that nothing is left of the last row.
  void EnterPlain() {
    ABSL_ASSERT(!has_wide() && "nothing is left of the last row");
    ClearColumn();
    hidden_before_ = family_hidden_before_ = EntryVersion();
  }

  // Adds a deletion of `kind` at the cursor's position; not one of timestamps. A deletion of the
  // row is for the locality group `group_id`.
  void Add(EntryKind kind, EntryVersion version, uint32_t group_id);
  // Adds a deletion of a time range of the column.
  void AddTimeRange(const TimeRange& range, EntryVersion version) {
    has_ranges_ = true;
    if (ranges_ == nullptr) ranges_ = std::make_unique<TimeRangeDeletions>();
    ranges_->Add(range, version);
  }

  // Whether there are deletions of the row or of the family.
  bool has_wide() const { return has_row_deletions_ || !family_.empty(); }
  // Whether any deletion covers the column, or a part of it.
  bool any() const { return hidden_before_.sequence != 0 || has_ranges_; }
  // Whether one of the deletions is later than `version`, and covers the timestamp.
  bool Hides(EntryVersion version, int64_t timestamp) {
    if (version <= hidden_before_) return true;
    if (!has_ranges_) [[likely]]
      return false;
    return version <= ranges_->NewestAt(timestamp);
  }
  // The first of the deletions that are later than `version` and cover the whole column; kNever:
  // there is none.
  EntryVersion FirstAfter(EntryVersion version) const {
    return version < hidden_before_ ? FindFirstAfter(version) : kNever;
  }
  // The same for those that cover the timestamp.
  EntryVersion FirstAfter(EntryVersion version, int64_t timestamp) {
    EntryVersion first = FirstAfter(version);
    if (!has_ranges_) [[likely]]
      return first;
    const EntryVersion* const range = ranges_->FirstAfter(version, timestamp);
    return range == nullptr ? first : std::min(first, *range);
  }

  // Calls visit(EntryVersion) with the deletions of the row and of the family.
  template <typename Visit>
  void ForEachWide(Visit visit) const {
    if (const List* const row = OfRow()) row->ForEach(visit);
    family_.ForEach(visit);
  }

 private:
  // Deletions of one scope, from new to old. The newest is stored apart: usually it is the only
  // one, or there is none, and then no memory is allocated.
  class List {
   public:
    bool empty() const { return newest_.sequence == 0; }  // the first is 1
    EntryVersion newest() const { return newest_; }
    void Clear() {
      if (empty()) return;
      newest_ = EntryVersion();
      older_.clear();
    }
    void Add(EntryVersion version) {
      if (empty()) {
        newest_ = version;
      } else {
        older_.push_back(version);
      }
    }
    EntryVersion FirstAfter(EntryVersion version) const;
    template <typename Visit>
    void ForEach(Visit& visit) const {
      if (!empty()) visit(newest_);
      for (const EntryVersion& version : older_) visit(version);
    }

   private:
    EntryVersion newest_;
    std::vector<EntryVersion> older_;
  };
  struct RowDeletions {
    uint32_t group_id;
    List list;
  };

  void ClearColumn() {
    column_.Clear();
    if (std::exchange(has_ranges_, false)) [[unlikely]]
      ranges_->Clear();
  }
  // Those of the current group; null if there are none.
  const List* OfRow() const;
  EntryVersion NewestOfRow() const;
  EntryVersion FindFirstAfter(EntryVersion version) const;

  EntryVersion hidden_before_;         // the last of all deletions that cover the column,
  EntryVersion family_hidden_before_;  // or the family
  bool has_row_deletions_ = false;     // of any group
  bool has_ranges_ = false;            // `ranges_` is not empty
  uint32_t group_id_ = 0;
  List family_;
  List column_;
  std::vector<RowDeletions> rows_;
  std::unique_ptr<TimeRangeDeletions> ranges_;  // of the column; few columns need it
};

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_DELETION_TRACKER_H_
