// Several sorted sequences read as one: memtables and sorted runs, of one locality group or of
// several, merged by key. One thread at a time.
//
// The cursors that have an entry stand in a list in the order of their keys, and the first one's
// entry is shown. Moving on moves the first and sorts it in again: where runs alternate in long
// stretches that is one comparison, where they are shuffled the logarithm of their number, and with
// one cursor left, which is the common case of a scan over compacted data, there is nothing to
// compare.
#ifndef BIGTABLE_COMPACTION_MERGING_CURSOR_H_
#define BIGTABLE_COMPACTION_MERGING_CURSOR_H_

#include <cstddef>
#include <string_view>

#include "absl/container/inlined_vector.h"

#include "base/entry_cursor.h"
#include "base/shortcuts.h"

namespace bigtable {

class MergingCursor final : public EntryCursor {
 public:
  // The children outlive this cursor. No two of them have the same key.
  void Add(EntryCursor* child) { children_.push_back(child); }
  size_t children() const { return children_.size(); }
  // Without children, as new.
  void Clear();

  void Seek(std::string_view target) override;
  void SeekBefore(std::string_view target) override;
  void SeekToFirst() override;
  void SeekToLast() override;
  void Next() override {
    if (only_ == nullptr) return NextOfMany();
    only_->Next();
    if (only_->valid()) {
      Show(only_);
    } else {
      EndOf(only_);
    }
  }
  // Goes to the first entry at which a child stands: they were put there before they were added.
  void Start() { Rebuild(); }
  // After an error: goes on without the children that failed, if none of them can have more of this
  // row (EntryCursor::FailedBehind), which the prefix is of. False: one of them can. Until the next
  // seek only entries of the row are worth looking at.
  bool LeaveFailed(std::string_view row_prefix);
  // Also after an error: the smallest key at which a child stands; empty: at none. Until one moves.
  std::string_view SmallestKey() const;
  // Seek for a target that is after the shown entry: children that are there already stay.
  // Requires valid().
  void SeekForward(std::string_view target);

 private:
  // Shows the only or the smallest of the children as they stand; the first one's error if any of
  // them has failed.
  void Rebuild();
  // Of those that stand at an entry, and there is no error then.
  void ShowSmallest();
  // Shows the child that has the largest key, all of which are before a target.
  void ShowLargest();
  void Show(const EntryCursor* child) {
    key_ = child->key();
    value_ = child->value();
    value_owner_ = child->value_owner();
    valid_ = true;
  }
  void NextOfMany();
  // The first child in order is not valid any more: shows the next one.
  void EndOf(const EntryCursor* first);
  void SortIn();
  void SortAll();
  // The order has changed.
  void NoteOnly() {
    only_ = order_.size() == 1 && shortcuts_.Has(Shortcut::kMergeOne) ? order_[0] : nullptr;
  }

  absl::InlinedVector<EntryCursor*, 8> children_;
  absl::InlinedVector<EntryCursor*, 8> order_;
  // The one that is left, if it can be moved on alone.
  EntryCursor* only_ = nullptr;
  ShortcutSet shortcuts_ = Shortcuts();
  // Whether the children stand at or after the shown entry, as Next() needs. After SeekBefore and
  // SeekToLast only the shown one is of use.
  bool forward_ = true;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_MERGING_CURSOR_H_
