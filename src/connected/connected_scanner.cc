#include "connected/connected_scanner.h"

#include <utility>

namespace bigtable {

ConnectedScanner::ConnectedScanner(std::shared_ptr<ConnectedTable> table, ReadOptions options)
    : table_(std::move(table)), options_(std::move(options)) {}

ConnectedScanner::~ConnectedScanner() = default;

void ConnectedScanner::SetRange(const RowRange& range) {
  range_ = range;
  moved_last_ = nullptr;
  for (const auto& stream : streams_) stream->Restart();
}

CellSource* ConnectedScanner::NewStream(std::string_view family) {
  return streams_.emplace_back(std::make_unique<ConnectedScanStream>(this, family)).get();
}

std::string_view ConnectedScanner::RowName() const {
  if (moved_last_ == nullptr || !moved_last_->has_cell()) return {};
  return moved_last_->RowName();
}

bool ConnectedScanStream::Done() {
  if (rows_ == nullptr && scanner_->status_.ok()) {
    rows_ = scanner_->table_->ReadRanges(RowSet(scanner_->range_).Normalized(), columns.ToFilter(),
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
