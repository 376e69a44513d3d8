// A part of a sorted sequence: the entries in a range of keys. A tablet uses it to read SSTables
// that it shares with a neighbour since a split.
#ifndef BIGTABLE_COMPACTION_CLIPPED_CURSOR_H_
#define BIGTABLE_COMPACTION_CLIPPED_CURSOR_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/entry_cursor.h"

namespace bigtable {

// One thread at a time.
class ClippedCursor final : public EntryCursor {
 public:
  // `input` outlives the cursor. The keys [begin, end); an empty end means no limit.
  ClippedCursor(EntryCursor* input, std::string begin, std::string end)
      : input_(input), begin_(std::move(begin)), end_(std::move(end)) {}

  void Seek(std::string_view target) override {
    input_->Seek(std::max(target, std::string_view(begin_)));
    Show();
  }
  void SeekBefore(std::string_view target) override {
    if (!end_.empty() && target > end_) target = end_;
    input_->SeekBefore(target);
    Show();
  }
  void SeekToFirst() override { Seek(begin_); }
  void SeekToLast() override {
    if (end_.empty()) {
      input_->SeekToLast();
    } else {
      input_->SeekBefore(end_);
    }
    Show();
  }
  void Next() override {
    input_->Next();
    ShowIf(input_->valid() && IsBeforeEnd());  // a later key is not before the beginning
  }

 private:
  // Requires that the input is at an entry.
  bool IsBeforeEnd() const { return end_.empty() || input_->key() < end_; }
  void Show() { ShowIf(input_->valid() && input_->key() >= begin_ && IsBeforeEnd()); }
  void ShowIf(bool is_inside) {
    valid_ = is_inside;
    status_ = input_->status();
    if (!valid_) return;
    key_ = input_->key();
    value_ = input_->value();
    value_owner_ = input_->value_owner();
  }

  EntryCursor* const input_;
  const std::string begin_;
  const std::string end_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_CLIPPED_CURSOR_H_
