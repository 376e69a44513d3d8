// The walks of a read over rows without a cell, which may be known to be empty, or become known by
// it (tablet/empty_rows.h): the rows before its first cell, and those between two rows with cells,
// in either direction. One thread at a time; reusable.
//
// A read begins a walk, and begins the next one after each row in which it sees a cell. A walk has
// a place where it came from, `origin`: the end of the read's range at which the read begins, or
// the second empty row after a row with a cell. (The first one would have to be kept for every row
// of a scan that finds no empty ones.)
//
// Invariants:
// * While walks(), the read has seen no cell since the origin, and has looked at every entry of the
//   rows from there on, or has skipped rows that are known to be empty. So whoever sees a cell and
//   does not return it calls SeeCell, and whoever does not look at an entry calls Stop.
// * A walk makes one report at most, and only if it was long enough to be worth it.
#ifndef BIGTABLE_READ_EMPTY_ROWS_WALK_H_
#define BIGTABLE_READ_EMPTY_ROWS_WALK_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/key_buffer.h"
#include "tablet/empty_rows.h"

namespace bigtable {

class EmptyRowsWalk {
 public:
  // For a read of [*begin, *end), in reverse or not. Moves the end at which it begins past rows
  // that are known to be empty. False: all of the range is. `rows` outlives the walks.
  bool SkipBeginning(EmptyRows* rows, const EmptyRows::View& view, bool reverse, KeyBuffer* begin,
                     KeyBuffer* end);
  // The range is read. After SkipBeginning. `is_complete`: the read sees all cells of its rows, so
  // it can say which are empty.
  void Start(bool is_complete) {
    walks_ = true;
    reports_ = is_complete;
    sees_cell_ = false;
    is_gap_ = false;
    has_made_way_ = false;
    thresholds_ = EmptyRows::thresholds();
    Restart();
  }
  bool walks() const { return walks_; }

  // The read enters a row; `behind_cells`: the row before had cells. True: it is time for SkipRows.
  bool EnterRow(bool behind_cells) {
    if (!walks_) return false;
    if (behind_cells || sees_cell_) {
      sees_cell_ = false;
      is_gap_ = true;
      has_skipped_ = false;
      Restart();
    }
    return ++walked_rows_ == next_stop_;
  }
  // Where the read goes on if the row that was entered, with this prefix, and those behind it are
  // known to be empty: `*at` is the first row then, in reverse the row that ends what is left.
  // `begin` and `end` are those of the read. Asks for a watch.
  [[gnu::cold]] EmptyRows::Skipped SkipRows(std::string_view row, std::string_view begin,
                                            std::string_view end, KeyBuffer* at);

  // The walk was long enough to be reported, at its end, which comes now if it found a cell.
  bool is_long() const { return walked_rows_ >= long_; }
  // In the row with this prefix there is a cell, if only one that the filter excludes.
  void SeeCell(std::string_view row, std::string_view begin, std::string_view end) {
    if (!walks_) return;
    if (is_long()) [[unlikely]]
      ReportTo(row, begin, end);
    sees_cell_ = true;
  }
  // The walk has come to the end of the read.
  void End(std::string_view begin, std::string_view end) {
    if (walks_ && is_long()) [[unlikely]]
      Report(begin, end);
    Stop();
  }
  // The read has not looked at everything, and will not.
  void Stop() {
    walks_ = false;
    walked_rows_ = 0;
  }

 private:
  void Restart() {
    walked_rows_ = 0;
    next_stop_ = is_gap_ ? thresholds_.origin : thresholds_.skip;
    if (has_skipped_) next_stop_ = thresholds_.watch;  // there was nothing more
    long_ = has_skipped_ ? thresholds_.extend : thresholds_.watch;
    if (!reports_) long_ = kNever;
  }
  // Reports what the walk has passed of [begin, end).
  [[gnu::cold]] void Report(std::string_view begin, std::string_view end);
  // The same, up to this row, which has a cell.
  [[gnu::cold]] void ReportTo(std::string_view row, std::string_view begin, std::string_view end);

  static constexpr uint32_t kNever = ~uint32_t{0};

  bool walks_ = false;
  bool reports_ = false;
  bool is_reverse_ = false;
  bool has_skipped_ = false;  // rows that were known to be empty, in this walk
  bool sees_cell_ = false;    // in the current row
  bool is_gap_ = false;       // the origin is a row
  bool has_made_way_ = false;
  // The rows that were entered, and how many will be when SkipRows is due, and when a report is
  // worth it.
  uint32_t walked_rows_ = 0;
  uint32_t next_stop_ = 0;
  uint32_t long_ = kNever;
  std::string origin_;  // valid if is_gap_, after the first stop
  // Valid after SkipBeginning.
  EmptyRows* rows_ = nullptr;
  EmptyRows::View view_;
  EmptyRows::Thresholds thresholds_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_EMPTY_ROWS_WALK_H_
