// The memory that a Row keeps alive, and how a Row is built.
#ifndef BIGTABLE_ROWS_ROW_STORAGE_H_
#define BIGTABLE_ROWS_ROW_STORAGE_H_

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/compare.h"
#include "base/key_buffer.h"
#include "base/published.h"
#include "base/ref_counted.h"
#include "read/cell_cursor.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// The cells of a row, the text that is stored nowhere else (the key and the qualifiers), and
// references that keep everything else alive: the tablet's version and blocks of the block cache.
class RowStorage {
 public:
  Pin<TabletVersion> version;
  KeyBuffer key;
  absl::InlinedVector<Cell, 2> cells;
  absl::InlinedVector<Ref<const RefCounted>, 2> owners;

  // A new storage, or the one that this thread returned last. The caller owns it.
  static RowStorage* Take();
  // Keeps one storage for the thread's next Row, after it has dropped its references. Deletes any
  // others, and storages that a large row has made larger than kMostSpareBytes.
  static void GiveBack(RowStorage* storage);

  // Returns a copy of the qualifier that is valid as long as the cells. Cells of one column share
  // it, and so do rows of one column that are read into this storage one after another.
  std::string_view Keep(std::string_view qualifier) {
    const std::string_view last = cells.empty() ? last_ : cells.back().qualifier;
    if (last.size() == qualifier.size() && last.data() != nullptr &&
        SameBytes(last.data(), qualifier.data(), qualifier.size())) {
      return last;
    }
    return Copy(qualifier);
  }
  // A copy that stays in place as long as the cells.
  std::string_view Copy(std::string_view text) {
    char* to = inside_ + used_;
    if (text.size() > sizeof(inside_) - used_) {
      outside_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
      to = outside_.back().get();
    } else {
      used_ += text.size();
    }
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }
  // Removes everything except the version.
  void Clear() {
    // Keeps a qualifier that is stored here, as long as there is room for others.
    const bool stays =
        used_ <= sizeof(inside_) / 2 && !cells.empty() && IsInside(cells.back().qualifier);
    last_ = stays ? cells.back().qualifier : std::string_view();
    if (!stays) used_ = 0;
    cells.clear();
    if (!owners.empty()) owners.clear();
    if (!outside_.empty()) outside_.clear();
  }

 private:
  static constexpr size_t kMostSpareBytes = 64 << 10;

  // The capacity that the emptied containers still have.
  size_t heap_bytes() const {
    return key.capacity() + cells.capacity() * sizeof(Cell) +
           owners.capacity() * sizeof(Ref<const RefCounted>) +
           outside_.capacity() * sizeof(std::unique_ptr<char[]>);
  }
  bool IsInside(std::string_view text) const {
    const std::less_equal<const char*> at_or_before;
    return at_or_before(inside_, text.data()) &&
           at_or_before(text.data() + text.size(), inside_ + sizeof(inside_));
  }

  std::string_view last_;  // the qualifier that was kept
  size_t used_ = 0;
  char inside_[96];
  std::vector<std::unique_ptr<char[]>> outside_;
};

// Fills a Row with cells from a cursor. Reuses the Row's storage.
class RowBuilder {
 public:
  // For an empty Row: it keeps the version.
  RowBuilder(Row* row, std::string_view key, Pin<TabletVersion>&& version) : row_(row) {
    row_->storage_.reset(RowStorage::Take());
    storage_ = row_->storage_.get();
    storage_->version = std::move(version);
    storage_->key.assign(key);
  }
  // With the first cell of a row, at which the cursor stands. For an empty Row, or for one that
  // this cursor has filled before: mostly from the same version, which the Row then keeps. `reuse`:
  // the rest of the Row's storage is reused too.
  RowBuilder(Row* row, const CellCursor& cursor, const Pin<TabletVersion>& version, bool reuse)
      : row_(row) {
    storage_ = row_->storage_.get();
    const bool same_version =
        reuse && storage_ != nullptr && storage_->version.get() == version.get();
    if (same_version && HasOneCellOfColumn(cursor)) {
      storage_->key.assign(cursor.row());
      Cell& cell = storage_->cells.front();
      cell.timestamp = Timestamp(cursor.timestamp());
      cell.value = cursor.value();
      return;
    }
    if (same_version) {
      storage_->Clear();
    } else {
      row_->storage_ = nullptr;  // may become the spare that is taken
      row_->storage_.reset(RowStorage::Take());
      storage_ = row_->storage_.get();
      storage_->version = version.Clone();
    }
    storage_->key.assign(cursor.row());
    Add(cursor);
  }
  RowBuilder(const RowBuilder&) = delete;
  RowBuilder& operator=(const RowBuilder&) = delete;
  // The row is complete, and the Row may be moved.
  void Finish() {
    row_->key_ = storage_->key.view();
    row_->cells_ = absl::MakeConstSpan(storage_->cells);
  }

  // Leaves the first `most` cells of a complete Row.
  static void Truncate(Row* row, size_t most) {
    if (row->cells_.size() > most) row->cells_ = row->cells_.first(most);
  }

  // What the Row has so far.
  std::string_view key() const { return storage_->key.view(); }
  absl::Span<const Cell> cells() const { return storage_->cells; }
  // Makes these the cells, whose texts are those of cells before, and labels those of a filter. Not
  // for a Row whose memory is reused: labels would stay.
  void Replace(absl::Span<const Cell> cells) {
    storage_->cells.assign(cells.begin(), cells.end());
    // Each label is copied once. They are as many as the filter has.
    absl::flat_hash_map<const char*, CellLabels> copies;
    for (Cell& cell : storage_->cells) {
      if (cell.labels.empty()) continue;
      const std::string_view label = *cell.labels.begin();
      CellLabels& copy = copies[label.data()];
      if (copy.empty()) copy = CellLabels(storage_->Copy(label));
      cell.labels = copy;
    }
  }

  // Adds a cell whose qualifier and value stay valid as long as `owner`, the same for all cells.
  void AddInPlace(const Cell& cell, const RefCounted* owner) {
    storage_->cells.push_back(cell);
    if (storage_->owners.empty()) storage_->owners.emplace_back(owner);
  }
  void Add(const CellCursor& cursor) {
    storage_->cells.push_back({cursor.family().name, storage_->Keep(cursor.qualifier()),
                               Timestamp(cursor.timestamp()), cursor.value()});
    const RefCounted* const owner = cursor.value_owner();
    if (owner != nullptr && !cursor.value().empty() &&
        (storage_->owners.empty() || storage_->owners.back().get() != owner)) {
      storage_->owners.emplace_back(owner);
    }
  }

 private:
  // Whether the Row has a single cell, of the cursor's column, and both values are in the version.
  // Then only the timestamp and the value of the cell need to change. The Row's own cell is
  // compared, not the cursor's last column, because the cursor also enters columns of which it
  // returns no cell. Requires a row of the cursor's version, where each family has one copy of its
  // name.
  bool HasOneCellOfColumn(const CellCursor& cursor) const {
    if (storage_->cells.size() != 1 || !storage_->owners.empty() ||
        cursor.value_owner() != nullptr) {
      return false;
    }
    const Cell& cell = storage_->cells.front();
    const std::string_view qualifier = cursor.qualifier();
    return cell.family.data() == cursor.family().name.data() &&
           cell.qualifier.size() == qualifier.size() &&
           SameBytes(cell.qualifier.data(), qualifier.data(), qualifier.size());
  }

  Row* const row_;
  RowStorage* storage_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROWS_ROW_STORAGE_H_
