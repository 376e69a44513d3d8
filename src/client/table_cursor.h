// The cells of a table that a read of many rows returns: range after range, and in each tablet
// after tablet, at one moment.
#ifndef BIGTABLE_CLIENT_TABLE_CURSOR_H_
#define BIGTABLE_CLIENT_TABLE_CURSOR_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row_range.h"
#include "bigtable/snapshot.h"

#include "base/published.h"
#include "base/shortcuts.h"
#include "client/database_impl.h"
#include "tablet/cell_cursor.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// What a read of many rows sees: the same of all tablets. Where one tablet has all that is read it
// is the version that is current when the moment is fixed. Of several, which may be on several
// servers, it is a snapshot, and a tablet's version is pinned only when the read comes to it, so
// that a long scan does not hold the memtables of a whole table. One thread at a time.
class ReadMoment {
 public:
  // Inside the gate. What is to be read: `ranges`, which are as RowSet::Normalized() has them, and
  // with Rest::kMore others, of which Extend() will be told. Costs a look at each of their tablets.
  // Errors of TableImpl::BeginRead.
  enum class Rest { kNone, kMore };
  absl::Status Fix(const TableImpl& table, const Filter& filter, const ReadOptions& options,
                   absl::Span<const RowRange> ranges, Rest rest = Rest::kNone);
  // Inside the gate. From now on these ranges can be read; those before cannot.
  absl::Status Extend(const TableImpl& table, absl::Span<const RowRange> ranges);
  bool fixed() const { return fixed_; }

  // Of a read at this moment. Its filter is the one that Fix() was given.
  const ReadSpec& spec() const { return spec_; }
  // The table's schema at the moment.
  const TableLayout& layout() const { return *layout_; }
  // The table's tablets at the moment, of which those of the ranges are known. They may have been
  // split since: what they had then they show all the same.
  const ServedTable& table() const { return *table_; }
  // Inside the gate. What tablet number `i` of these is read from. NotFound: the table was deleted.
  absl::Status PinVersion(const TableImpl& table, size_t i, Pin<TabletVersion>* version) const;

 private:
  bool fixed_ = false;
  ReadSpec spec_;
  std::shared_ptr<const ServedTable> table_;
  std::shared_ptr<const TableLayout> layout_;
  Pin<TabletVersion> only_;               // where one tablet has everything
  std::shared_ptr<const Snapshot> held_;  // of others: keeps what the moment sees
};

// One thread at a time; inside the gate.
class TableCursor {
 public:
  // All outlive the cursor. `spec` is the moment's, perhaps with another filter. `ranges` are as
  // RowSet::Normalized() has them, and read from the last to the first if the spec says so. `calls`
  // are told which tablet is read.
  TableCursor(const TableImpl* table, const ReadMoment* moment, const ReadSpec& spec,
              std::vector<RowRange> ranges, StreamCalls* calls);
  TableCursor(const TableCursor&) = delete;
  TableCursor& operator=(const TableCursor&) = delete;

  // To the next cell. False at the end, or after an error: status().
  bool Next() {
    if (in_part_ && cells_->Next()) [[likely]]
      return true;
    return NextPart();
  }
  // To the next cell of the same row: CellCursor::NextInRow.
  bool NextInRow() {
    if (cells_->NextInRow()) [[likely]]
      return true;
    if (!cells_->status().ok()) status_ = cells_->status();
    return false;
  }
  void SkipRow() { cells_->SkipRow(); }

  // The cell, until Next(), and what it was read from.
  const CellCursor& cells() const { return *cells_; }
  const Pin<TabletVersion>& version() const { return version_; }

  const absl::Status& status() const { return status_; }

 private:
  bool NextPart();
  // Goes to the next range, or to the next tablet of the range; false at the end.
  bool FindPart();
  bool Open();

  const TableImpl* const table_;
  const ReadMoment* const moment_;
  const ReadSpec spec_;
  const std::vector<RowRange> ranges_;
  StreamCalls* const calls_;
  const ShortcutSet shortcuts_ = Shortcuts();
  size_t ranges_begun_ = 0;
  const RowRange* range_ = nullptr;  // the current one
  size_t tablet_ = 0;                // the one of its tablets that is read
  bool in_part_ = false;

  size_t open_tablet_ = SIZE_MAX;
  Pin<TabletVersion> version_;
  std::optional<CellCursor> cells_;
  absl::Status status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_TABLE_CURSOR_H_
