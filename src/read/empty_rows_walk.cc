#include "read/empty_rows_walk.h"

#include <algorithm>

#include "absl/base/macros.h"

#include "base/entry_key.h"

namespace bigtable {

bool EmptyRowsWalk::SkipBeginning(EmptyRows* rows, const EmptyRows::View& view, bool reverse,
                                  KeyBuffer* begin, KeyBuffer* end) {
  ABSL_ASSERT(!walks_ && "the read before has ended");
  rows_ = rows;
  view_ = view;
  is_reverse_ = reverse;
  has_skipped_ = false;
  if (!rows->is_watching()) [[likely]]
    return true;
  const EmptyRows::Skipped skipped = reverse ? rows->SkipBack(view, end) : rows->Skip(view, begin);
  has_skipped_ = skipped == EmptyRows::Skipped::kSome;
  const bool is_empty = !end->empty() && begin->view() >= end->view();
  return skipped != EmptyRows::Skipped::kAll && !is_empty;
}

EmptyRows::Skipped EmptyRowsWalk::SkipRows(std::string_view row, std::string_view begin,
                                           std::string_view end, KeyBuffer* at) {
  if (is_gap_ && walked_rows_ == thresholds_.origin) {
    origin_ = is_reverse_ ? PrefixSuccessor(row) : std::string(row);
  }
  // Again and again, so that the watch is not forgotten during the walk. A walk in reverse does not
  // know yet where its rows begin.
  if (reports_ && !is_reverse_ && walked_rows_ >= thresholds_.watch) {
    rows_->Watch(view_.epoch, is_gap_ ? origin_ : begin, walked_rows_);
  }
  next_stop_ = walked_rows_ < thresholds_.skip    ? thresholds_.skip
               : walked_rows_ < thresholds_.watch ? thresholds_.watch
                                                  : walked_rows_ + thresholds_.watch;
  if (walked_rows_ < thresholds_.skip || !rows_->is_watching()) return EmptyRows::Skipped::kNone;

  EmptyRows::Skipped skipped;
  bool is_at_end;  // nothing more is read
  at->clear();
  if (is_reverse_) {
    at->assign(PrefixSuccessor(row));
    skipped = rows_->SkipBack(view_, at);
    is_at_end = at->view() <= begin;
  } else {
    at->assign(row);
    skipped = rows_->Skip(view_, at);
    is_at_end = !end.empty() && at->view() >= end;
  }
  if (skipped == EmptyRows::Skipped::kNone) return skipped;
  has_skipped_ = true;
  if (reports_) long_ = std::min(long_, thresholds_.extend);
  return is_at_end ? EmptyRows::Skipped::kAll : skipped;
}

void EmptyRowsWalk::ReportTo(std::string_view row, std::string_view begin, std::string_view end) {
  if (is_reverse_) {
    Report(PrefixSuccessor(row), end);
  } else {
    Report(begin, row);
  }
}

void EmptyRowsWalk::Report(std::string_view begin, std::string_view end) {
  if (is_gap_) (is_reverse_ ? end : begin) = origin_;
  // What this walk has seen is known only if no write has come since it began. The next one is
  // watched from its beginning.
  if (is_reverse_) rows_->Watch(view_.epoch, begin, walked_rows_);
  const bool found_room = rows_->Report(view_, begin, end, walked_rows_);
  // Once in a read: a scan over many ranges uses each of those that are known, but later.
  if (!found_room && !has_made_way_) {
    rows_->MakeWay();
    has_made_way_ = true;
  }
  walked_rows_ = 0;
}

}  // namespace bigtable
