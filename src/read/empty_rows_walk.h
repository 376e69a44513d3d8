// The walk of a forward read over the rows before the first cell of its range, which may be known
// to be empty, or become known by it (tablet/empty_rows.h). One thread at a time; reusable.
//
// Invariants:
// * While walks(), the read has found no cell of its range, and has looked at every entry of the
//   rows from the beginning of the range on, or has skipped rows that are known to be empty. So
//   whoever does not look at an entry, or sees a cell and does not return it, calls End or Stop.
// * A report is made at most once in a read, and only if the walk was long enough to be worth it.
// * begin and end are the same from Start to the end of the walk.
#ifndef BIGTABLE_READ_EMPTY_ROWS_WALK_H_
#define BIGTABLE_READ_EMPTY_ROWS_WALK_H_

#include <cstdint>
#include <string_view>

#include "base/key_buffer.h"
#include "tablet/empty_rows.h"

namespace bigtable {

class EmptyRowsWalk {
 public:
  // Moves `*begin`, of the range that ends with `end`, past rows that are known to be empty. False:
  // all of the range is. `rows` outlives the walk.
  bool SkipBeginning(EmptyRows* rows, const EmptyRows::View& view, KeyBuffer* begin,
                     std::string_view end);
  // The range is read from `begin` on. After SkipBeginning.
  void Start() {
    walks_ = true;
    walked_rows_ = 0;
    next_skip_ = EmptyRows::thresholds().watch;
  }
  bool walks() const { return walks_; }

  // The read enters a row. True: it is time for SkipRows.
  bool EnterRow() { return walks_ && ++walked_rows_ == next_skip_; }
  // Moves `*row`, the row that was entered, past rows that are known to be empty. Asks for a watch
  // of the first rows.
  [[gnu::cold]] EmptyRows::Skipped SkipRows(std::string_view begin, KeyBuffer* row,
                                            std::string_view end);
  // The walk has found no cell from `begin` to `end`.
  [[gnu::cold]] void End(std::string_view begin, std::string_view end);
  // The walk has not seen everything.
  void Stop() { walks_ = false; }

 private:
  EmptyRows::Skipped Skip(KeyBuffer* row, std::string_view end) const;

  bool walks_ = false;
  bool has_skipped_ = false;  // rows that were known to be empty
  // Valid while walks_: the rows that were entered, and how many will be when SkipRows is due.
  uint32_t walked_rows_ = 0;
  uint32_t next_skip_ = 0;
  // Valid after SkipBeginning.
  EmptyRows* rows_ = nullptr;
  EmptyRows::View view_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_EMPTY_ROWS_WALK_H_
