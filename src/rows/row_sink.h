// The destination of ReadRow (serving/row_read.h): a Row.
#ifndef BIGTABLE_ROWS_ROW_SINK_H_
#define BIGTABLE_ROWS_ROW_SINK_H_

#include <optional>
#include <string_view>
#include <utility>

#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/published.h"
#include "rows/row_storage.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class RowSink {
 public:
  RowSink(Row* row, std::string_view key) : row_(row), key_(key) {}

  RowBuilder* Begin(Pin<TabletVersion>&& version) {
    return &builder_.emplace(row_, key_, std::move(version));
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
