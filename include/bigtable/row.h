// What a read returns.
#ifndef BIGTABLE_ROW_H_
#define BIGTABLE_ROW_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/types/span.h"

#include "bigtable/export.h"
#include "bigtable/timestamp.h"

namespace bigtable {

// The labels of a cell (Filter::ApplyLabel): one or none, because a Chain applies only one.
class BIGTABLE_EXPORT CellLabels {
 public:
  CellLabels() = default;
  explicit CellLabels(std::string_view label) : label_(label) {}

  bool empty() const { return label_.empty(); }
  size_t size() const { return label_.empty() ? 0 : 1; }
  const std::string_view* begin() const { return &label_; }
  const std::string_view* end() const { return &label_ + size(); }

 private:
  std::string_view label_;
};

// One version of one column. A view: it is valid as long as the Row (or the cursor position) it
// came from.
struct Cell {
  std::string_view family;
  std::string_view qualifier;
  Timestamp timestamp;
  std::string_view value;
  CellLabels labels = {};
};

class RowStorage;

// The cells of one row that passed a read's filter, ordered by family, qualifier, and timestamp
// from new to old. Values are views of the engine's own memory. The Row pins that memory, even
// after its database is closed: keep rows briefly, or copy the data. Movable; one thread at a time.
class BIGTABLE_EXPORT Row {
 public:
  Row() = default;
  Row(Row&& other) noexcept
      : storage_(std::move(other.storage_)),
        key_(std::exchange(other.key_, {})),
        cells_(std::exchange(other.cells_, {})) {}
  Row& operator=(Row&& other) noexcept {
    storage_ = std::move(other.storage_);
    key_ = std::exchange(other.key_, {});
    cells_ = std::exchange(other.cells_, {});
    return *this;
  }

  // The row's key. If the row has no cells, the requested key.
  std::string_view key() const { return key_; }
  bool empty() const { return cells_.empty(); }
  absl::Span<const Cell> cells() const { return cells_; }

 private:
  friend class RowBuilder;
  // Keeps the memory for the next Row of the thread. The check for null is inline, since rows are
  // moved twice on their way out of a read.
  struct Recycle {
    void operator()(RowStorage* storage) const;
  };
  std::unique_ptr<RowStorage, Recycle> storage_;
  std::string_view key_;
  absl::Span<const Cell> cells_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROW_H_
