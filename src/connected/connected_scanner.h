// Scanner of a connected database: its streams read rows and return their cells, so a row is in
// memory as a whole. Each stream reads the table as it is when it begins.
#ifndef BIGTABLE_CONNECTED_CONNECTED_SCANNER_H_
#define BIGTABLE_CONNECTED_CONNECTED_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_range.h"

#include "backend/cell_source.h"
#include "backend/stream_status.h"
#include "connected/connected_reader.h"
#include "connected/connected_table.h"

namespace bigtable {

class ConnectedScanStream;

// One thread at a time.
class ConnectedScanner final : public ScannerBackend {
 public:
  ConnectedScanner(std::shared_ptr<ConnectedTable> table, ReadOptions options);
  ~ConnectedScanner() override;

  void SetRange(const RowRange& range) override;
  CellSource* NewStream(std::string_view family) override;
  std::string_view RowName() const override;
  const absl::Status& status() const override { return status_.Check(); }

 private:
  friend class ConnectedScanStream;

  const std::shared_ptr<ConnectedTable> table_;
  const ReadOptions options_;
  RowRange range_;
  std::vector<std::unique_ptr<ConnectedScanStream>> streams_;
  const ConnectedScanStream* moved_last_ = nullptr;
  StreamStatus status_{nullptr, "Scanner"};
};

// One thread at a time.
class ConnectedScanStream final : public CellSource {
 public:
  // `scanner` outlives this.
  ConnectedScanStream(ConnectedScanner* scanner, std::string_view family)
      : CellSource(family), scanner_(scanner) {}

  bool Done() override;
  void Next() override;
  void NextRow() override;
  std::string_view RowName() const override { return row_.key(); }
  std::string_view Qualifier() const override { return cell().qualifier; }
  int64_t MicroTimestamp() const override { return cell().timestamp.micros(); }
  std::string_view Value() const override { return cell().value; }

  // The range was changed.
  void Restart();
  bool has_cell() const { return cell_ < row_.cells().size(); }

 private:
  const Cell& cell() const { return row_.cells()[cell_]; }
  // Moves to the first cell of the next row.
  void MoveToRow();

  ConnectedScanner* const scanner_;
  std::unique_ptr<ConnectedReader> rows_;  // null before Done
  Row row_;
  size_t cell_ = 0;  // at the end of the row: the stream is done
};

}  // namespace bigtable

#endif  // BIGTABLE_CONNECTED_CONNECTED_SCANNER_H_
