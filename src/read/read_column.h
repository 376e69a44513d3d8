// The family, with its rules, and the timestamp that a read is at, and the deletions that cover
// them. One thread at a time; reusable.
//
// Invariants:
// * Rows, families and columns are entered in the order of keys. The row and what is in it is
//   key_position.h's.
// * If in_family(), family() is that of the current column, and deletions() has the deletions of
//   its row, its family and its column that the read may see, and nothing else. Otherwise family()
//   is null or the family of a column before, perhaps of another row: most rows have the same.
// * An entry with a timestamp from min_timestamp() on needs no check of its age.
// * If IsAt(timestamp), an entry at that timestamp was met that decides what the read sees there.
#ifndef BIGTABLE_READ_READ_COLUMN_H_
#define BIGTABLE_READ_READ_COLUMN_H_

#include <cstdint>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/time/time.h"

#include "base/compare.h"
#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/sequence.h"
#include "retention/deletion_tracker.h"
#include "schema/table_layout.h"

namespace bigtable {

class ReadColumn {
 public:
  void EnterRow() {
    deletions_.EnterRow();
    in_family_ = false;
  }
  // Makes the family current with which `rest`, a column prefix without the row's, begins. False:
  // the table has none.
  bool EnterFamily(std::string_view rest, const TableLayout& layout, absl::Time now) {
    if (family_ == nullptr || !BeginsWith(rest, family_->name) ||
        rest[family_->name.size()] != '\0') {
      in_family_ = false;
      if (!SetFamily(layout.FamilyBefore(rest), now)) return false;
    }
    if (in_family_) return true;
    in_family_ = true;
    deletions_.EnterFamily(family_->group_id);
    return true;
  }
  void EnterColumn() {
    deletions_.EnterColumn();
    in_timestamp_ = false;
  }

  // For a cell that may be the first entry of its row: prepares the family, without entering it.
  // False: there is none.
  bool SetFamily(const FamilyLayout* family, absl::Time now) {
    family_ = family;
    if (family == nullptr) return false;
    min_timestamp_ = family->SuspectBefore(now);
    return true;
  }
  // Whether a cell is visible, of family() and of a row with no deletion before it.
  bool IsPlainCell(std::string_view key, SequenceNumber sequence) const {
    const EntryVersion version = VersionOf(key);
    return version.sequence <= sequence && version.sequence > family_->created &&
           TimestampOf(key) >= min_timestamp_ && !deletions_.has_wide();
  }
  // Same as the calls above, for such a cell, of a column of another row.
  void EnterPlainCell(int64_t timestamp) {
    in_family_ = true;
    deletions_.EnterPlain();
    EnterTimestamp(timestamp);
  }

  bool IsAt(int64_t timestamp) const { return in_timestamp_ && timestamp == timestamp_; }
  void EnterTimestamp(int64_t timestamp) {
    in_timestamp_ = true;
    timestamp_ = timestamp;
  }

  bool in_family() const { return in_family_; }
  const FamilyLayout* family() const { return family_; }
  int64_t min_timestamp() const { return min_timestamp_; }
  int64_t timestamp() const { return timestamp_; }
  DeletionTracker& deletions() { return deletions_; }

 private:
  const FamilyLayout* family_ = nullptr;
  bool in_family_ = false;
  bool in_timestamp_ = false;
  int64_t min_timestamp_ = 0;  // FamilyLayout::SuspectBefore
  int64_t timestamp_ = 0;
  DeletionTracker deletions_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_READ_COLUMN_H_
