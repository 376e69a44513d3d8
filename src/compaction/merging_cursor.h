// Several sorted sequences merged by key: memtables and sorted runs, of one or several locality
// groups. One thread at a time.
//
// The cursors that have an entry are in a list ordered by key, and the entry of the first is the
// current one. Next moves the first cursor and sorts it in again. That is one comparison where runs
// alternate in long stretches, and the logarithm of their number where they are shuffled. With one
// cursor left, the usual case of a scan of compacted data, there is nothing to compare.
#ifndef BIGTABLE_COMPACTION_MERGING_CURSOR_H_
#define BIGTABLE_COMPACTION_MERGING_CURSOR_H_

#include <cstddef>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/container/inlined_vector.h"

#include "base/entry_cursor.h"
#include "base/shortcuts.h"

namespace bigtable {

class MergingCursor final : public EntryCursor {
 public:
  // The children outlive this cursor. No two of them have the same key.
  void Add(EntryCursor* child) { children_.push_back(child); }
  size_t children() const { return children_.size(); }
  // Removes all children.
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
  // Goes to the first entry of the children, which were positioned before they were added.
  void Start() { Rebuild(); }
  // After an error: continues without the children that failed, if none of them can have more
  // entries of the row with this prefix (EntryCursor::FailedBehind). False: one of them can. Before
  // the next seek, only entries of the row are valid results.
  bool LeaveFailed(std::string_view row_prefix);
  // The smallest key of the children, also after an error; empty if none has an entry. Valid until
  // one moves.
  std::string_view SmallestKey() const;
  // The child that has the current entry; null if the others are not positioned. Requires valid().
  const EntryCursor* current() const {
    ABSL_ASSERT(valid_ && "only a valid cursor has a current entry");
    return forward_ ? order_[0] : nullptr;
  }
  // The smallest key of the other children; empty if these have no entry. Requires current().
  std::string_view KeyOfOthers() const {
    return order_.size() > 1 ? order_[1]->key() : std::string_view();
  }
  // Seek for a target after the current entry: children that are already there do not move.
  // Requires valid().
  void SeekForward(std::string_view target);

 private:
  // Takes the smallest of the children at their positions; the error of the first that has failed.
  void Rebuild();
  // Same, among the children with an entry, without an error.
  void ShowSmallest();
  // Takes the child with the largest key; all are before a target.
  void ShowLargest();
  void Show(const EntryCursor* child) {
    key_ = child->key();
    value_ = child->value();
    value_owner_ = child->value_owner();
    valid_ = true;
  }
  void NextOfMany();
  // The first child in the list is no longer valid: takes the next one.
  void EndOf(const EntryCursor* first);
  void SortIn();
  void SortAll();
  // Called when the list has changed.
  void UpdateOnly() {
    only_ = order_.size() == 1 && shortcuts_.Has(Shortcut::kMergeOne) ? order_[0] : nullptr;
  }

  absl::InlinedVector<EntryCursor*, 8> children_;
  absl::InlinedVector<EntryCursor*, 8> order_;
  // The last child that is left, if it can be moved on its own.
  EntryCursor* only_ = nullptr;
  ShortcutSet shortcuts_ = Shortcuts();
  // Whether the children are at or after the current entry, as Next() requires. After SeekBefore
  // and SeekToLast, only the child with the current entry is positioned.
  bool forward_ = true;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_MERGING_CURSOR_H_
