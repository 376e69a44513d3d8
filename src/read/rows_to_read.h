// The rows that a read is of: one row, or a range, from its first row to its last or in reverse.
// The input's way from one row to the one before, and past a source that has failed. One thread at
// a time; reusable.
//
// A source that fails between two rows, or in one, leaves a row that can be read in full from the
// others if the failed part of the source has only later rows. Then the read returns that row, and
// fails after it.
//
// Invariants:
// * begin() and end() are encoded keys; an empty end means no limit. For a single row, begin() is
//   its prefix, and there is no end.
// * In reverse, the input is in reverse_row(), the current row, or at its end; rows after it are
//   done. Or the rows from it on are done (has_left_), and the input is somewhere in them.
// * behind_row() is an error if and only if a source has failed. Nothing after that row is returned
//   then, except in reverse, where the next rows are before it.
#ifndef BIGTABLE_READ_ROWS_TO_READ_H_
#define BIGTABLE_READ_ROWS_TO_READ_H_

#include <string_view>

#include "absl/status/status.h"

#include "bigtable/row_range.h"

#include "base/compare.h"
#include "base/key_buffer.h"
#include "compaction/merging_cursor.h"
#include "read/row_probe.h"

namespace bigtable {

class RowsToRead {
 public:
  void Clear() {
    begin_.clear();
    end_.clear();
    reverse_row_.clear();
    is_reverse_ = false;
    is_single_ = false;
    is_plain_ = false;
    has_left_ = false;
    behind_row_ = absl::OkStatus();
  }
  // Require Clear(). `is_plain`: nothing in the row is escaped.
  void SetRow(const RowProbe& row, bool is_plain) {
    is_single_ = true;
    is_plain_ = is_plain;
    begin_.assign(row.prefix());
  }
  void SetRange(const RowRange& range, bool reverse);

  bool is_single() const { return is_single_; }
  bool is_plain() const { return is_plain_; }
  bool is_reverse() const { return is_reverse_; }
  std::string_view begin() const { return begin_.view(); }
  std::string_view end() const { return end_.view(); }
  std::string_view reverse_row() const { return reverse_row_.view(); }
  // To move it past rows that are known to be empty.
  KeyBuffer* mutable_begin() { return &begin_; }
  KeyBuffer* mutable_end() { return &end_; }
  // In reverse: the rows from this one on are done, so that StartPrevious is next.
  void LeaveRowsFrom(std::string_view row) {
    reverse_row_.assign(row);
    has_left_ = true;
  }

  // Whether the key is after the rows; in reverse: after the current row.
  [[gnu::always_inline]] bool IsAtEnd(std::string_view key) const {
    if (is_reverse_) return has_left_ || !key.starts_with(reverse_row_.view());
    if (is_single_) return !BeginsWith(key, begin_.view());
    return !end_.empty() && !Less(key, end_.view());
  }
  // In reverse: moves the input to the beginning of the last row before the current one, or of all.
  // False: there is none, or the input has failed.
  bool StartPrevious(MergingCursor* input);

  // The row to be read if the input has failed between two rows or in one; empty if no row is known
  // to be among these.
  [[gnu::cold]] std::string_view RowToFinish(const MergingCursor& input) const;
  // The input has failed, in the row with this prefix or before it. True if only entries after the
  // row are unreadable: the input continues with the other sources, in this row. False: the read
  // has failed.
  [[gnu::cold]] bool LeaveFailed(std::string_view row_prefix, MergingCursor* input);
  const absl::Status& behind_row() const { return behind_row_; }

 private:
  KeyBuffer begin_;
  KeyBuffer end_;
  KeyBuffer reverse_row_;  // a row prefix; empty: no row was read yet
  bool is_reverse_ = false;
  bool is_single_ = false;
  bool is_plain_ = false;
  bool has_left_ = false;
  absl::Status behind_row_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_ROWS_TO_READ_H_
