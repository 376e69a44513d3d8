#include "routing/row_reader_impl.h"

#include <iterator>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "rows/resume_token.h"

namespace bigtable {

RowReaderImpl::RowReaderImpl(std::shared_ptr<TableImpl> table,
                             absl::StatusOr<std::vector<RowRange>> ranges, Filter filter,
                             const ReadOptions& options, std::shared_ptr<const OwnWrites> own)
    : table_(std::move(table)),
      filter_(std::move(filter)),
      options_(options),
      calls_(&table_->monitor, Call::kNextRow, RequestTrace::Request::kReadRows) {
  if (!ranges.ok()) {
    Record(ranges.status());
    return;
  }
  snapshot_.SetOwnWrites(std::move(own));
  // The snapshot is taken in the call of ReadRows.
  const CallGate::Pass pass(&table_->database->gate);
  const absl::Status status = pass ? Begin(*ranges) : table_->database->ClosedError();
  if (!status.ok()) {
    unread_ = *std::move(ranges);
    Record(status);
    Release();
    return;
  }
  cursor_.emplace(table_.get(), &snapshot_, filter_, options_, *std::move(ranges), &calls_);
}

bool RowReaderImpl::Next(Row* row) {
  const StreamCalls::Timer timer(&calls_);
  const CallGate::Pass pass(&table_->database->gate);
  if (!pass) return Fail(table_->database->ClosedError(), row);
  if (done_) return Finish(row);
  QuotaControl* const quotas = table_->rates();
  if (quotas != nullptr) [[unlikely]] {
    const absl::Status status = quotas->Begin(table_->DemandOf(0, 0));
    if (!status.ok()) return Fail(status, row);
  }
  if (options_.cell_limit > 0) [[unlikely]] {
    if (!ReadCells(row)) return EndOfRows(row);
  } else if (!cursor_->ReadRow(row, reuses_rows_)) [[unlikely]] {
    return EndOfRows(row);
  }
  if (quotas != nullptr) [[unlikely]]
    quotas->Charge(table_->DemandOf(0, TableImpl::BytesOf(*row)));
  if (++rows_ == options_.row_limit) [[unlikely]]
    EndAtLimit();
  return true;
}

std::string RowReaderImpl::ResumeToken(const Row& row) const {
  bigtable::ResumeToken token{table_->route->table_id(), options_.reverse, unread_};
  if (cursor_.has_value() && !is_read_) {
    const std::string_view last = row.key().empty() ? std::string_view(taken_) : row.key();
    token.ranges =
        last.empty() ? cursor_->ranges()
                     : RangesLeft(cursor_->ranges(), last, !cursor_->broke_off(), options_.reverse);
  }
  return token.Encode();
}

absl::Status RowReaderImpl::Begin(absl::Span<const RowRange> ranges) {
  if (QuotaControl* const quotas = table_->rates()) {
    BT_RETURN_IF_ERROR(quotas->Begin(table_->DemandOf(1, 0)));
  }
  return snapshot_.Fix(*table_, filter_, options_, ranges);
}

bool RowReaderImpl::ReadCells(Row* row) {
  if (!cursor_->ReadRowUpTo(static_cast<size_t>(options_.cell_limit - cells_), row)) return false;
  cells_ += std::ssize(row->cells());
  if (cells_ == options_.cell_limit) EndAtLimit();
  return true;
}

void RowReaderImpl::EndAtLimit() {
  done_ = true;
  Release();
}

bool RowReaderImpl::EndOfRows(Row* row) {
  if (!cursor_->status().ok()) return Fail(cursor_->status(), row);
  is_read_ = true;
  return Finish(row);
}

bool RowReaderImpl::Finish(Row* row) {
  calls_.CountNone();
  done_ = true;
  Release();
  if (!row->key().empty()) {
    MarkTaken(*row);
    *row = Row();
  }
  return false;
}

bool RowReaderImpl::Fail(const absl::Status& status, Row* row) {
  Record(status);
  return Finish(row);
}

void RowReaderImpl::Release() {
  if (is_forked()) return;
  if (cursor_.has_value()) cursor_->Release();
  snapshot_.Release();
  options_.snapshot = nullptr;
}

void RowReaderImpl::Record(const absl::Status& status) {
  calls_.Failed(status);
  status_.Fail(status);
  done_ = true;
}

}  // namespace bigtable
