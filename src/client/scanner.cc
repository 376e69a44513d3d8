#include "bigtable/scanner.h"

#include <optional>
#include <utility>
#include <vector>

#include "backend/scan_columns.h"
#include "base/status.h"
#include "base/strings.h"
#include "connected/connected_scanner.h"
#include "connected/connected_table.h"
#include "routing/database_impl.h"
#include "routing/stream_status.h"
#include "routing/table_cursor.h"

namespace bigtable {

// What the streams of a scanner share. The snapshot is fixed when the first of them begins.
class ScannerImpl {
 public:
  ScannerImpl(std::shared_ptr<TableImpl> table, ReadOptions options)
      : table_(std::move(table)), options_(std::move(options)) {}

  void SetRange(const RowRange& range);
  ScanStream* FetchColumnFamily(std::string_view family);
  std::string_view RowName() const;

  // Fixes the snapshot, if that was not done yet. Inside the gate.
  absl::Status Begin();
  const TableImpl& table() const { return *table_; }
  const ReadSnapshot& snapshot() const { return snapshot_; }
  const ReadOptions& options() const { return options_; }
  // All streams end at their next move.
  void Fail(const absl::Status& status) {
    status_.Fail(status);
    if (!table_->database->is_forked()) {
      snapshot_.Release();
      options_.snapshot = nullptr;
    }
  }
  void Moved(ScanStream* stream) { moved_last_ = stream; }

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_.Check(); }
  const RowRange& range() const { return range_; }
  int64_t row_limit() const { return options_.row_limit; }
  int64_t cell_limit() const { return options_.cell_limit; }
  CallGate* gate() const { return &table_->database->gate; }
  TableMonitor* monitor() const { return &table_->monitor; }

 private:
  const std::shared_ptr<TableImpl> table_;
  ReadOptions options_;
  RowRange range_;
  ReadSnapshot snapshot_;
  bool knows_range_ = false;  // the snapshot covers it
  std::vector<std::unique_ptr<ScanStream>> streams_;
  ScanStream* moved_last_ = nullptr;
  StreamStatus status_{table_.get(), "Scanner"};
};

// One stream: a cursor over its family.
class ScanStreamImpl {
 public:
  ScanStreamImpl(ScannerImpl* scanner, std::string_view family)
      : columns{.family = std::string(family)},
        scanner_(scanner),
        calls_(scanner->monitor(), Call::kNextCell, RequestTrace::Request::kScan) {}

  bool Done() {
    if (!begun_) Begin();
    return !has_cell_;
  }
  void Next(bool skip_row) {
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
  // The range was changed.
  void Restart() {
    begun_ = false;
    has_cell_ = false;
    rows_ = 0;
    cells_ = 0;
  }

  // The cell.
  std::string_view row() const { return cursor_->row(); }
  std::string_view qualifier() const { return cursor_->qualifier(); }
  int64_t timestamp() const { return cursor_->timestamp(); }
  std::string_view value() const { return cursor_->value(); }
  bool has_cell() const { return has_cell_; }
  std::string_view ColumnName() {
    column_name_ = Cat(columns.family, ":", qualifier());
    return column_name_;
  }

  ScanColumns columns;
  ScanStream* stream = nullptr;

 private:
  void Begin() {
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
  void Move() {
    if (!scanner_->ok()) return End();
    if (cells_ > 0 && cells_ == scanner_->cell_limit()) return End();
    has_cell_ = IsLastRow() ? cursor_->NextInRow() : cursor_->Next();
    if (!cursor_->status().ok()) return Fail(cursor_->status());
    if (!has_cell_) return End();
    if (QuotaControl* const quotas = scanner_->table().rates(); quotas != nullptr) [[unlikely]] {
      if (const absl::Status status = TakeCell(quotas); !status.ok()) return Fail(status);
    }
    NoteCell(cursor_->is_new_row());
  }
  // Quotas refuse a cell only before its row begins.
  absl::Status TakeCell(QuotaControl* quotas) const {
    const TableImpl& table = scanner_->table();
    uint64_t bytes = cursor_->qualifier().size() + cursor_->value().size();
    if (cursor_->is_new_row()) {
      BT_RETURN_IF_ERROR(quotas->Begin(table.DemandOf(0, 0)));
      bytes += cursor_->row().size();
    }
    quotas->Charge(table.DemandOf(0, bytes));
    return absl::OkStatus();
  }
  // Whether the stream is in the last row that the options allow.
  bool IsLastRow() const { return rows_ > 0 && rows_ == scanner_->row_limit(); }
  void NoteCell(bool is_new_row) {
    ++cells_;
    if (is_new_row) {
      ++rows_;
      calls_.CountPart();
    }
    scanner_->Moved(stream);
  }
  void End() {
    has_cell_ = false;
    calls_.CountNone();
    if (!scanner_->table().database->is_forked()) cursor_.reset();
  }
  void Fail(const absl::Status& status) {
    calls_.Failed(status);
    scanner_->Fail(status);
    End();
  }

  ScannerImpl* const scanner_;
  Filter chain_;
  std::optional<TableCursor> cursor_;
  bool begun_ = false;
  bool has_cell_ = false;
  int64_t rows_ = 0;
  int64_t cells_ = 0;
  std::string column_name_;
  StreamCalls calls_;
};

void ScannerImpl::SetRange(const RowRange& range) {
  range_ = range;
  knows_range_ = false;
  moved_last_ = nullptr;
  for (const auto& stream : streams_) stream->impl_->Restart();
}

ScanStream* ScannerImpl::FetchColumnFamily(std::string_view family) {
  auto impl = std::make_unique<ScanStreamImpl>(this, family);
  ScanStreamImpl* const stream = impl.get();
  streams_.push_back(std::unique_ptr<ScanStream>(new ScanStream(std::move(impl))));
  stream->stream = streams_.back().get();
  return stream->stream;
}

std::string_view ScannerImpl::RowName() const {
  if (moved_last_ == nullptr || !moved_last_->impl_->has_cell()) return {};
  return moved_last_->impl_->row();
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

ScanStream::ScanStream(std::unique_ptr<ScanStreamImpl> impl) : impl_(std::move(impl)) {}
ScanStream::ScanStream(std::unique_ptr<ConnectedScanStream> connected)
    : connected_(std::move(connected)) {}
ScanStream::~ScanStream() = default;

ScanColumns* ScanStream::columns() {
  return connected_ != nullptr ? &connected_->columns : &impl_->columns;
}
void ScanStream::SetReturnAllVersions() { columns()->max_versions.reset(); }
void ScanStream::SetMaxVersions(int64_t n) { columns()->max_versions = n; }
void ScanStream::SetColumnRegex(std::string_view qualifier_regex) {
  columns()->columns.push_back(Filter::ColumnRegex(qualifier_regex));
}
void ScanStream::SetColumnPrefix(std::string_view qualifier_prefix) {
  columns()->columns.push_back(Filter::ColumnPrefix(columns()->family, qualifier_prefix));
}
void ScanStream::SetColumnRange(std::string_view begin, std::string_view end) {
  columns()->columns.push_back(Filter::ColumnRange(columns()->family, begin, end));
}
void ScanStream::SetTimestampRange(Timestamp begin, Timestamp end) {
  columns()->timestamps = Filter::TimestampRange(begin, end);
}
void ScanStream::SetFilter(Filter filter) { columns()->filter = std::move(filter); }

bool ScanStream::Done() {
  if (impl_ == nullptr) [[unlikely]]
    return connected_->Done();
  return impl_->Done();
}
void ScanStream::Next() {
  if (impl_ == nullptr) [[unlikely]]
    return connected_->Next();
  impl_->Next(false);
}
void ScanStream::NextRow() {
  if (impl_ == nullptr) [[unlikely]]
    return connected_->NextRow();
  impl_->Next(true);
}
std::string_view ScanStream::RowName() {
  if (impl_ == nullptr) [[unlikely]]
    return connected_->RowName();
  return impl_->row();
}
std::string_view ScanStream::ColumnName() {
  if (impl_ == nullptr) [[unlikely]]
    return connected_->ColumnName();
  return impl_->ColumnName();
}
std::string_view ScanStream::Qualifier() {
  if (impl_ == nullptr) [[unlikely]]
    return connected_->cell().qualifier;
  return impl_->qualifier();
}
int64_t ScanStream::MicroTimestamp() {
  if (impl_ == nullptr) [[unlikely]]
    return connected_->cell().timestamp.micros();
  return impl_->timestamp();
}
std::string_view ScanStream::Value() {
  if (impl_ == nullptr) [[unlikely]]
    return connected_->cell().value;
  return impl_->value();
}

Scanner::Scanner(Table* table, ReadOptions options) {
  if (table->connected_ != nullptr) {
    connected_ = std::make_unique<ConnectedScanner>(table->connected_, std::move(options));
  } else {
    impl_ = std::make_unique<ScannerImpl>(table->impl_, std::move(options));
  }
}
Scanner::~Scanner() {
  // In a child process its resources belong to the parent.
  if (impl_ != nullptr && impl_->table().database->is_forked()) (void)impl_.release();
}

void Scanner::SetRange(const RowRange& range) {
  if (connected_ != nullptr) return connected_->SetRange(range);
  impl_->SetRange(range);
}
void Scanner::Lookup(std::string_view row) { SetRange(RowRange::Single(row)); }
ScanStream* Scanner::FetchColumnFamily(std::string_view family) {
  if (connected_ == nullptr) return impl_->FetchColumnFamily(family);
  connected_streams_.push_back(
      std::unique_ptr<ScanStream>(new ScanStream(connected_->NewStream(family))));
  return connected_streams_.back().get();
}
std::string_view Scanner::RowName() const {
  return connected_ != nullptr ? connected_->RowName() : impl_->RowName();
}
absl::Status Scanner::status() const {
  return connected_ != nullptr ? connected_->status() : impl_->status();
}

}  // namespace bigtable
