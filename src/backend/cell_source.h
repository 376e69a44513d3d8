// What a Scanner and its streams forward to: the cells of an embedded table
// (routing/scanner_impl.h), or of a service (connected/connected_scanner.h).
#ifndef BIGTABLE_BACKEND_CELL_SOURCE_H_
#define BIGTABLE_BACKEND_CELL_SOURCE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/row_range.h"

#include "backend/scan_columns.h"
#include "base/strings.h"

namespace bigtable {

// What a ScanStream forwards to. One thread at a time.
class CellSource {
 public:
  explicit CellSource(std::string_view family) : columns{.family = std::string(family)} {}
  virtual ~CellSource() = default;
  CellSource(const CellSource&) = delete;
  CellSource& operator=(const CellSource&) = delete;

  // The functions of ScanStream with these names.
  virtual bool Done() = 0;
  virtual void Next() = 0;
  virtual void NextRow() = 0;
  virtual std::string_view RowName() const = 0;
  virtual std::string_view Qualifier() const = 0;
  virtual int64_t MicroTimestamp() const = 0;
  virtual std::string_view Value() const = 0;
  std::string_view ColumnName() {
    column_name_ = Cat(columns.family, ":", Qualifier());
    return column_name_;
  }

  // Not changed after the first call of Done().
  ScanColumns columns;

 private:
  std::string column_name_;
};

// What a Scanner forwards to. One thread at a time.
class ScannerBackend {
 public:
  ScannerBackend() = default;
  virtual ~ScannerBackend() = default;
  ScannerBackend(const ScannerBackend&) = delete;
  ScannerBackend& operator=(const ScannerBackend&) = delete;

  // The functions of Scanner with these names.
  virtual void SetRange(const RowRange& range) = 0;
  virtual std::string_view RowName() const = 0;
  virtual const absl::Status& status() const = 0;

  // Scanner::FetchColumnFamily. The stream lives as long as this.
  virtual CellSource* NewStream(std::string_view family) = 0;
  // As RowSource::is_forked.
  virtual bool is_forked() const { return false; }
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_CELL_SOURCE_H_
