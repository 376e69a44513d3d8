#include "read/empty_rows_walk.h"

#include "absl/base/macros.h"

namespace bigtable {

bool EmptyRowsWalk::SkipBeginning(EmptyRows* rows, const EmptyRows::View& view, KeyBuffer* begin,
                                  std::string_view end) {
  ABSL_ASSERT(!walks_ && "the walk before has ended");
  rows_ = rows;
  view_ = view;
  has_skipped_ = false;
  if (!rows->is_watching()) [[likely]]
    return true;
  const EmptyRows::Skipped skipped = Skip(begin, end);
  has_skipped_ = skipped == EmptyRows::Skipped::kSome;
  return skipped != EmptyRows::Skipped::kAll;
}

EmptyRows::Skipped EmptyRowsWalk::Skip(KeyBuffer* row, std::string_view end) const {
  const EmptyRows::Skipped skipped = rows_->Skip(view_, row);
  // Nothing at or after the end of the range is read.
  const bool is_at_end = !end.empty() && row->view() >= end;
  return is_at_end ? EmptyRows::Skipped::kAll : skipped;
}

EmptyRows::Skipped EmptyRowsWalk::SkipRows(std::string_view begin, KeyBuffer* row,
                                           std::string_view end) {
  // Again and again, so that the watch is not forgotten during the walk.
  rows_->Watch(view_.epoch, begin);
  next_skip_ = walked_rows_ + EmptyRows::thresholds().watch;
  return Skip(row, end);
}

void EmptyRowsWalk::End(std::string_view begin, std::string_view end) {
  ABSL_ASSERT(walks_ && "a walk is reported once");
  walks_ = false;
  const EmptyRows::Thresholds thresholds = EmptyRows::thresholds();
  if (walked_rows_ < (has_skipped_ ? thresholds.extend : thresholds.watch)) return;
  rows_->Report(view_, begin, end, walked_rows_);
}

}  // namespace bigtable
