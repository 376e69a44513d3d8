#include "connected/connected_scanner.h"

#include "base/strings.h"

namespace bigtable {

void ConnectedScanner::SetRange(const RowRange& range) {
  range_ = range;
  moved_last_ = nullptr;
  for (ConnectedScanStream* stream : streams_) stream->Restart();
}

std::unique_ptr<ConnectedScanStream> ConnectedScanner::NewStream(std::string_view family) {
  auto stream = std::make_unique<ConnectedScanStream>(this, family);
  streams_.push_back(stream.get());
  return stream;
}

std::string_view ConnectedScanner::RowName() const {
  if (moved_last_ == nullptr || !moved_last_->has_cell()) return {};
  return moved_last_->RowName();
}

bool ConnectedScanStream::Done() {
  if (rows_ == nullptr && scanner_->status_.ok()) {
    rows_ = scanner_->table_->ReadRows(RowSet(scanner_->range_).Normalized(), columns.ToFilter(),
                                       scanner_->options_);
    MoveToRow();
  }
  return !has_cell();
}

void ConnectedScanStream::Next() {
  if (!has_cell()) return;
  ++cell_;
  if (has_cell()) {
    scanner_->moved_last_ = this;
  } else {
    MoveToRow();
  }
}

void ConnectedScanStream::NextRow() {
  if (has_cell()) MoveToRow();
}

std::string_view ConnectedScanStream::ColumnName() {
  column_name_ = Cat(columns.family, ":", cell().qualifier);
  return column_name_;
}

void ConnectedScanStream::Restart() {
  rows_ = nullptr;
  row_ = Row();
  cell_ = 0;
}

void ConnectedScanStream::MoveToRow() {
  cell_ = 0;
  if (rows_->Next(&row_)) {
    scanner_->moved_last_ = this;
    return;
  }
  row_ = Row();
  scanner_->status_.Fail(rows_->status());
}

}  // namespace bigtable
