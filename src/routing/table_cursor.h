// The cells of a table that a read of many rows returns: range after range, and tablet after tablet
// in each range, at one snapshot. It hides from its callers whether tablets are read in place or by
// messages (routing/remote_calls.h).
#ifndef BIGTABLE_ROUTING_TABLE_CURSOR_H_
#define BIGTABLE_ROUTING_TABLE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_range.h"
#include "bigtable/snapshot.h"

#include "base/published.h"
#include "base/shortcuts.h"
#include "read/cell_cursor.h"
#include "read/filter_evaluator.h"
#include "read/row_requests.h"
#include "routing/own_writes.h"
#include "routing/remote_calls.h"
#include "routing/table_impl.h"
#include "rows/row_storage.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// The data that a read of many rows sees, the same for all tablets. If one tablet has all rows to
// be read, this is the version that is current at Fix(). For several tablets, perhaps on several
// servers, it is a snapshot, and a tablet's version is pinned only when the read reaches that
// tablet, so that a long scan does not hold the memtables of the whole table. One thread at a time.
class ReadSnapshot {
 public:
  // Inside the gate. Fixes the snapshot for a read of `ranges`, which are as RowSet::Normalized()
  // has them, and, with Rest::kMore, of other ranges that Extend() adds. Cost: a look at each
  // tablet of `ranges`. Errors of TableImpl::BeginRead.
  enum class Rest { kNone, kMore };
  absl::Status Fix(const TableImpl& table, const Filter& filter, const ReadOptions& options,
                   absl::Span<const RowRange> ranges, Rest rest = Rest::kNone);
  // Before Fix(): the read also sees these writes of a transaction, of whose snapshot it is.
  void SetOwnWrites(std::shared_ptr<const OwnWrites> own) { own_ = std::move(own); }
  // Inside the gate. Makes these ranges readable. Those before become unreadable.
  absl::Status Extend(const TableImpl& table, absl::Span<const RowRange> ranges);
  bool fixed() const { return fixed_; }
  // The read is over: gives up what it held of the database. Nothing is read any more.
  void Release();

  // The table's schema at the time of Fix().
  const TableLayout& layout() const { return remote_ != nullptr ? remote_->layout() : *layout_; }

  // For reads by messages. Null: tablets are read in place, and the following apply:
  const RemoteSnapshot* remote() const { return remote_.get(); }
  // The read specification of the snapshot. Its filter is the one that Fix() was given.
  const ReadSpec& spec() const { return spec_; }
  // The table's tablets at the time of Fix(), of which those of the ranges are known. They may have
  // been split since; they still return the data of the snapshot.
  const ServedTable& table() const { return *table_; }
  // Inside the gate. Pins the version of tablet number `i` in table(), with the own writes on top.
  // NotFound: the table was deleted.
  absl::Status PinVersion(const TableImpl& table, size_t i, Pin<TabletVersion>* version) const;

 private:
  bool fixed_ = false;
  std::unique_ptr<RemoteSnapshot> remote_;
  ReadSpec spec_;
  std::shared_ptr<const ServedTable> table_;
  std::shared_ptr<const TableLayout> layout_;
  Pin<TabletVersion> only_;               // if one tablet has all rows
  std::shared_ptr<const Snapshot> held_;  // otherwise: preserves what the snapshot sees
  std::shared_ptr<const OwnWrites> own_;  // mostly null
};

// One thread at a time; inside the gate.
class TableCursor {
 public:
  // All arguments outlive the cursor. `snapshot` is fixed, with these options and with this filter
  // or one that passes more. `ranges` are as RowSet::Normalized() has them, and are read from the
  // last to the first if the options say so. `calls` is notified of each tablet that is read, and
  // counts the cells of rows.
  TableCursor(const TableImpl* table, const ReadSnapshot* snapshot, const Filter& filter,
              const ReadOptions& options, std::vector<RowRange> ranges, StreamCalls* calls);
  ~TableCursor();
  TableCursor(const TableCursor&) = delete;
  TableCursor& operator=(const TableCursor&) = delete;

  // Advances to the next cell. False at the end, or after an error: see status().
  bool Next() {
    if (in_part_ && cells_->Next()) [[likely]]
      return true;
    return NextPart();
  }
  // Advances to the next cell of the same row: CellCursor::NextInRow.
  bool NextInRow() {
    if (elsewhere_ != nullptr) [[unlikely]]
      return NextInRowElsewhere();
    if (cells_->NextInRow()) [[likely]]
      return true;
    if (!cells_->status().ok()) status_ = cells_->status();
    return false;
  }
  void SkipRow() { elsewhere_ != nullptr ? SkipRowElsewhere() : cells_->SkipRow(); }
  // An alternative to these: reads the next row as a whole into `row`, which keeps the memory of
  // its cells. False at the end, or after an error. `reuse`: reuse the memory of `row`, which this
  // cursor has filled before.
  bool ReadRow(Row* row, bool reuse) {
    if (elsewhere_ != nullptr) [[unlikely]]
      return ReadRowElsewhere(row);
    if (!Next()) return false;
    RowBuilder builder(row, *cells_, version_, reuse);
    calls_->CountPart();
    while (NextInRow()) {
      builder.Add(*cells_);
      calls_->CountPart();
    }
    builder.Finish();
    return status_.ok() || BreakOff(*row);
  }
  // The same, but at most the first `most` cells of the row, of which there is at least one. If
  // there were more, the cursor must not be moved again.
  bool ReadRowUpTo(size_t most, Row* row);
  // After an error of ReadRow: whether it came within a row. Then the Row has that row's key.
  // Otherwise the Row is unchanged since the last call, or has the key of a row that the filter
  // excluded.
  bool broke_off() const { return broke_off_; }
  // The read is over: gives up the version, and all of its memory. Only broke_off() and ranges()
  // may be called from here on.
  void Release();
  // What is read, as far as it is known that the filter passes it.
  const std::vector<RowRange>& ranges() const { return ranges_; }

  // The cell, valid until Next().
  bool is_new_row() const {
    return elsewhere_ != nullptr ? IsNewRowElsewhere() : cells_->is_new_row();
  }
  std::string_view row() const { return elsewhere_ != nullptr ? elsewhere_->row : cells_->row(); }
  std::string_view qualifier() const {
    return elsewhere_ != nullptr ? elsewhere_->qualifier : cells_->qualifier();
  }
  int64_t timestamp() const {
    return elsewhere_ != nullptr ? elsewhere_->timestamp : cells_->timestamp();
  }
  std::string_view value() const {
    return elsewhere_ != nullptr ? elsewhere_->value : cells_->value();
  }

  const absl::Status& status() const { return remote_ != nullptr ? remote_->status() : status_; }

 private:
  // Rows that the filter needs whole (read/filter_evaluator.h).
  struct FilteredRows;

  bool NextPart();
  // Advances to the first cell of the next part that has one. `in_part`: cells_ reads a part.
  bool NextInParts(bool* in_part);
  bool NextInRowElsewhere();
  void SkipRowElsewhere();
  bool IsNewRowElsewhere() const;
  bool ReadRowElsewhere(Row* row, size_t most = SIZE_MAX);
  // Reads the next row of which the filter passes a cell, and leaves the first `most` cells of it.
  bool CollectRow(Row* row, size_t most = SIZE_MAX);
  // An error came within the row. Returns false.
  [[gnu::cold]] bool BreakOff(const Row& row);
  // Goes to the next range, or to the next tablet of the range. False at the end.
  bool FindPart();
  bool Open();
  // Begins to read the current row and the next ones from the disk, if they are single rows.
  void RequestRows();

  const TableImpl* const table_;
  const ReadSnapshot* const snapshot_;
  std::unique_ptr<RemoteCursor> remote_;    // null: tablets are read in place
  std::unique_ptr<FilteredRows> filtered_;  // null: cells_ has the cells that pass
  // The cell, if it is not that of cells_: that of one of these two.
  const ReadCell* elsewhere_ = nullptr;
  ReadSpec spec_;
  std::optional<FilterEvaluator> evaluator_;  // null: tablets are not read in place
  std::vector<RowRange> ranges_;              // not changed after the constructor
  StreamCalls* const calls_;
  const ShortcutSet shortcuts_ = Shortcuts();
  size_t ranges_begun_ = 0;
  std::optional<RowRequests> requests_;  // for ranges that are single rows, mostly none
  size_t requested_ = 0;                 // ranges before this one were requested or passed over
  uint64_t parts_found_ = 0;             // in which there was a cell
  const RowRange* range_ = nullptr;      // the current one
  size_t tablet_ = 0;                    // the index of the range's tablet that is read
  bool in_part_ = false;

  size_t open_tablet_ = SIZE_MAX;
  Pin<TabletVersion> version_;
  std::optional<CellCursor> cells_;
  bool broke_off_ = false;
  absl::Status status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_TABLE_CURSOR_H_
