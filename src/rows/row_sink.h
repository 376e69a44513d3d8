// The destination of ReadRow (serving/row_read.h): a Row.
#ifndef BIGTABLE_ROWS_ROW_SINK_H_
#define BIGTABLE_ROWS_ROW_SINK_H_

#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/published.h"
#include "base/ref_counted.h"
#include "cache/block.h"
#include "read/cell_cursor.h"
#include "read/row_filter.h"
#include "rows/row_storage.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class RowSink {
 public:
  RowSink(Row* row, std::string_view key) : row_(row), key_(key) {}

  void Begin(Pin<TabletVersion>&& version) { builder_.emplace(row_, key_, std::move(version)); }
  void Add(const CellCursor& cursor) { builder_->Add(cursor); }
  void AddCached(const Cell& cell, const Ref<Block>& owner) { builder_->AddInPlace(cell, owner); }
  absl::Status Apply(const RowFilter& filter, const RowFilter::Bounds& bounds) {
    return builder_->Apply(filter, bounds);
  }
  absl::Span<const Cell> Finish() {
    builder_->Finish();
    return row_->cells();
  }

 private:
  Row* const row_;
  const std::string_view key_;
  std::optional<RowBuilder> builder_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROWS_ROW_SINK_H_
