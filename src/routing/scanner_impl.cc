#include "routing/scanner_impl.h"

#include <utility>

#include "absl/types/span.h"

#include "base/status.h"

namespace bigtable {

// --- The scanner ---

ScannerImpl::ScannerImpl(std::shared_ptr<TableImpl> table, ReadOptions options)
    : table_(std::move(table)), options_(std::move(options)) {}

ScannerImpl::~ScannerImpl() = default;

void ScannerImpl::SetRange(const RowRange& range) {
  range_ = range;
  knows_range_ = false;
  moved_last_ = nullptr;
  for (const auto& stream : streams_) stream->Restart();
}

CellSource* ScannerImpl::NewStream(std::string_view family) {
  return streams_.emplace_back(std::make_unique<ScanStreamImpl>(this, family)).get();
}

std::string_view ScannerImpl::RowName() const {
  if (moved_last_ == nullptr || !moved_last_->has_cell()) return {};
  return moved_last_->RowName();
}

absl::Status ScannerImpl::Begin() {
  if (knows_range_) return absl::OkStatus();
  const auto ranges = absl::MakeConstSpan(&range_, range_.empty() ? 0 : 1);
  BT_RETURN_IF_ERROR(snapshot_.fixed() ? snapshot_.Extend(*table_, ranges)
                                       : snapshot_.Fix(*table_, Filter(), options_, ranges,
                                                       ReadSnapshot::Rest::kMore));
  knows_range_ = true;
  return absl::OkStatus();
}

void ScannerImpl::Fail(const absl::Status& status) {
  status_.Fail(status);
  if (is_forked()) return;
  snapshot_.Release();
  options_.snapshot = nullptr;
}

// --- A stream ---

void ScanStreamImpl::Begin() {
  begun_ = true;
  const StreamCalls::Timer timer(&calls_);
  const CallGate::Pass pass(scanner_->gate());
  if (!pass) return Fail(scanner_->table().database->ClosedError());
  if (!scanner_->ok()) return calls_.CountNone();
  if (QuotaControl* const quotas = scanner_->table().rates()) {
    const absl::Status status = quotas->Begin(scanner_->table().DemandOf(1, 0));
    if (!status.ok()) return Fail(status);
  }
  chain_ = columns.ToFilter();
  if (const absl::Status status = chain_.status(); !status.ok()) return Fail(status);
  if (const absl::Status status = scanner_->Begin(); !status.ok()) return Fail(status);
  const TableLayout& layout = scanner_->snapshot().layout();
  if (layout.FindFamily(columns.family) == nullptr) {
    return Fail(layout.NoFamilyError(columns.family));
  }
  std::vector<RowRange> ranges;
  if (!scanner_->range().empty()) ranges.push_back(scanner_->range());
  cursor_.emplace(&scanner_->table(), &scanner_->snapshot(), chain_, scanner_->options(),
                  std::move(ranges), &calls_);
  Move();
}

void ScanStreamImpl::MoveOn(bool skip_row) {
  const StreamCalls::Timer timer(&calls_);
  const CallGate::Pass pass(scanner_->gate());
  if (!pass) return Fail(scanner_->table().database->ClosedError());
  if (!has_cell_) return calls_.CountNone();
  if (skip_row) {
    // The row limit allows no further row.
    if (IsLastRow()) return End();
    cursor_->SkipRow();
  }
  Move();
}

void ScanStreamImpl::Restart() {
  begun_ = false;
  has_cell_ = false;
  rows_ = 0;
  cells_ = 0;
}

void ScanStreamImpl::Move() {
  if (!scanner_->ok()) return End();
  if (cells_ > 0 && cells_ == scanner_->cell_limit()) return End();
  has_cell_ = IsLastRow() ? cursor_->NextInRow() : cursor_->Next();
  if (!cursor_->status().ok()) return Fail(cursor_->status());
  if (!has_cell_) return End();
  if (QuotaControl* const quotas = scanner_->table().rates(); quotas != nullptr) [[unlikely]] {
    if (const absl::Status status = TakeCell(quotas); !status.ok()) return Fail(status);
  }
  CountCell(cursor_->is_new_row());
}

absl::Status ScanStreamImpl::TakeCell(QuotaControl* quotas) const {
  const TableImpl& table = scanner_->table();
  uint64_t bytes = cursor_->qualifier().size() + cursor_->value().size();
  if (cursor_->is_new_row()) {
    BT_RETURN_IF_ERROR(quotas->Begin(table.DemandOf(0, 0)));
    bytes += cursor_->row().size();
  }
  quotas->Charge(table.DemandOf(0, bytes));
  return absl::OkStatus();
}

void ScanStreamImpl::CountCell(bool is_new_row) {
  ++cells_;
  if (is_new_row) {
    ++rows_;
    calls_.CountPart();
  }
  scanner_->Moved(this);
}

void ScanStreamImpl::End() {
  has_cell_ = false;
  calls_.CountNone();
  if (!scanner_->is_forked()) cursor_.reset();
}

void ScanStreamImpl::Fail(const absl::Status& status) {
  calls_.Failed(status);
  scanner_->Fail(status);
  End();
}

}  // namespace bigtable
