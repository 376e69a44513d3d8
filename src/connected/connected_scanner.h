// Scanner of a connected database: its streams read rows and return their cells, so a row is in
// memory as a whole. Each stream reads the table as it is when it begins.
#ifndef BIGTABLE_CONNECTED_CONNECTED_SCANNER_H_
#define BIGTABLE_CONNECTED_CONNECTED_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_range.h"

#include "backend/scan_columns.h"
#include "connected/connected_reader.h"
#include "connected/connected_table.h"
#include "routing/stream_status.h"

namespace bigtable {

class ConnectedScanStream;

// One thread at a time.
class ConnectedScanner {
 public:
  ConnectedScanner(std::shared_ptr<ConnectedTable> table, ReadOptions options)
      : table_(std::move(table)), options_(std::move(options)) {}

  void SetRange(const RowRange& range);
  // The stream lives as long as its owner, but not longer than this.
  std::unique_ptr<ConnectedScanStream> NewStream(std::string_view family);
  std::string_view RowName() const;
  const absl::Status& status() const { return status_.Check(); }

 private:
  friend class ConnectedScanStream;

  const std::shared_ptr<ConnectedTable> table_;
  const ReadOptions options_;
  RowRange range_;
  std::vector<ConnectedScanStream*> streams_;
  const ConnectedScanStream* moved_last_ = nullptr;
  StreamStatus status_{nullptr, "Scanner"};
};

// One thread at a time.
class ConnectedScanStream {
 public:
  // `scanner` outlives this.
  ConnectedScanStream(ConnectedScanner* scanner, std::string_view family)
      : columns{.family = std::string(family)}, scanner_(scanner) {}

  // The functions of ScanStream with these names.
  bool Done();
  void Next();
  void NextRow();
  std::string_view RowName() const { return row_.key(); }
  std::string_view ColumnName();
  const Cell& cell() const { return row_.cells()[cell_]; }

  // The range was changed.
  void Restart();
  bool has_cell() const { return cell_ < row_.cells().size(); }

  ScanColumns columns;

 private:
  // Moves to the first cell of the next row.
  void MoveToRow();

  ConnectedScanner* const scanner_;
  std::unique_ptr<ConnectedReader> rows_;  // null before Done
  Row row_;
  size_t cell_ = 0;  // at the end of the row: the stream is done
  std::string column_name_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CONNECTED_CONNECTED_SCANNER_H_
