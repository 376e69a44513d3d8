#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bigtable/table.h"

#include "base/shortcuts.h"
#include "base/status.h"
#include "base/strings.h"
#include "connected/connected_reader.h"
#include "connected/connected_table.h"
#include "routing/database_impl.h"
#include "routing/stream_status.h"
#include "routing/table_cursor.h"
#include "rows/resume_token.h"

namespace bigtable {
namespace {

// The ranges that a token has left.
absl::StatusOr<std::vector<RowRange>> RangesOf(std::string_view token, const TableImpl& table,
                                               const ReadOptions& options) {
  return RangesOfToken(token, table.route->table_id(), table.name, options.reverse);
}

}  // namespace

// A stream of rows, each assembled from the cells of one cursor. At its end, which may be an error
// or a limit, it gives up everything that it holds of the database.
class RowReaderImpl {
 public:
  // `ranges`: as RowSet::Normalized() has them, or why there are none.
  // `own`: writes of a transaction that are read too; mostly null.
  RowReaderImpl(std::shared_ptr<TableImpl> table, absl::StatusOr<std::vector<RowRange>> ranges,
                Filter filter, const ReadOptions& options,
                std::shared_ptr<const OwnWrites> own = nullptr)
      : table_(std::move(table)),
        filter_(std::move(filter)),
        options_(options),
        calls_(&table_->monitor, Call::kNextRow, RequestTrace::Request::kReadRows) {
    if (!ranges.ok()) {
      Note(ranges.status());
      return;
    }
    snapshot_.SetOwnWrites(std::move(own));
    // The snapshot is taken in the call of ReadRows.
    const CallGate::Pass pass(&table_->database->gate);
    const absl::Status status = pass ? Begin(*ranges) : table_->database->ClosedError();
    if (!status.ok()) {
      unread_ = *std::move(ranges);
      Note(status);
      Release();
      return;
    }
    cursor_.emplace(table_.get(), &snapshot_, filter_, options_, *std::move(ranges), &calls_);
  }

  bool Next(Row* row) {
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
  void NoteTaken(const Row& row) { taken_ = row.key(); }

  // `row` is as Next() has left it, unless it was taken.
  std::string ResumeToken(const Row& row) const {
    bigtable::ResumeToken token{table_->route->table_id(), options_.reverse, unread_};
    if (cursor_.has_value() && !is_read_) {
      const std::string_view last = row.key().empty() ? std::string_view(taken_) : row.key();
      token.ranges = last.empty() ? cursor_->ranges()
                                  : RangesLeft(cursor_->ranges(), last, !cursor_->broke_off(),
                                               options_.reverse);
    }
    return token.Encode();
  }

  const absl::Status& status() const { return status_.Check(); }
  bool is_forked() const { return table_->database->is_forked(); }

 private:
  // Inside the gate.
  absl::Status Begin(absl::Span<const RowRange> ranges) {
    if (QuotaControl* const quotas = table_->rates()) {
      BT_RETURN_IF_ERROR(quotas->Begin(table_->DemandOf(1, 0)));
    }
    return snapshot_.Fix(*table_, filter_, options_, ranges);
  }
  // Reads the next row, as far as the limit of cells goes.
  [[gnu::noinline]] bool ReadCells(Row* row) {
    if (!cursor_->ReadRowUpTo(static_cast<size_t>(options_.cell_limit - cells_), row)) return false;
    cells_ += std::ssize(row->cells());
    if (cells_ == options_.cell_limit) EndAtLimit();
    return true;
  }
  // The row that was read is the last that the options allow. It keeps its own memory.
  [[gnu::cold]] void EndAtLimit() {
    done_ = true;
    Release();
  }
  [[gnu::cold]] bool EndOfRows(Row* row) {
    if (!cursor_->status().ok()) return Fail(cursor_->status(), row);
    is_read_ = true;
    return Finish(row);
  }
  // There is no next row. The one before is given up; its key is noted for a token.
  bool Finish(Row* row) {
    calls_.CountNone();
    done_ = true;
    Release();
    if (!row->key().empty()) {
      NoteTaken(*row);
      *row = Row();
    }
    return false;
  }
  bool Fail(const absl::Status& status, Row* row) {
    Note(status);
    return Finish(row);
  }
  // In a child process everything belongs to the parent.
  void Release() {
    if (is_forked()) return;
    if (cursor_.has_value()) cursor_->Release();
    snapshot_.Release();
    options_.snapshot = nullptr;
  }
  // Ends the stream with this error.
  void Note(const absl::Status& status) {
    calls_.Failed(status);
    status_.Fail(status);
    done_ = true;
  }

  const std::shared_ptr<TableImpl> table_;
  const Filter filter_;
  ReadOptions options_;  // without a snapshot at the end
  const bool reuses_rows_ = Shortcuts().Has(Shortcut::kRowStorage);
  ReadSnapshot snapshot_;
  std::optional<TableCursor> cursor_;  // none: it could not begin
  std::vector<RowRange> unread_;       // without a cursor
  std::string taken_;                  // the key of the last row that was taken
  bool done_ = false;
  bool is_read_ = false;  // up to the end
  int64_t rows_ = 0;
  int64_t cells_ = 0;  // counted if there is a limit
  StreamStatus status_{table_.get(), "RowReader"};
  StreamCalls calls_;  // destroyed first: it adds its counts to the table's
};

RowReader::RowReader(std::unique_ptr<RowReaderImpl> impl) : impl_(std::move(impl)) {}
RowReader::RowReader(std::unique_ptr<ConnectedReader> connected)
    : connected_(std::move(connected)) {}
RowReader::RowReader(RowReader&&) noexcept = default;
RowReader& RowReader::operator=(RowReader&&) noexcept = default;
RowReader::~RowReader() {
  // In a child process its resources belong to the parent.
  if (impl_ != nullptr && impl_->is_forked()) (void)impl_.release();
}

bool RowReader::Next() {
  if (impl_ == nullptr) [[unlikely]]
    return connected_->Next(&row_);
  return impl_->Next(&row_);
}
Row RowReader::TakeRow() {
  if (impl_ == nullptr) [[unlikely]] {
    connected_->NoteTaken(row_);
  } else {
    impl_->NoteTaken(row_);
  }
  return std::move(row_);
}
const absl::Status& RowReader::status() const {
  return connected_ != nullptr ? connected_->status() : impl_->status();
}
std::string RowReader::ResumeToken() const {
  return connected_ != nullptr ? connected_->ResumeToken(row_) : impl_->ResumeToken(row_);
}

RowReader Table::ReadRows(const RowSet& rows, const ReadOptions& options) {
  return ReadFilteredRows(rows, Filter(), options);
}

RowReader Table::ReadFilteredRows(const RowSet& rows, const Filter& filter,
                                  const ReadOptions& options) {
  if (impl_ == nullptr) [[unlikely]]
    return RowReader(connected_->ReadRows(rows.Normalized(), filter, options));
  return RowReader(std::make_unique<RowReaderImpl>(impl_, rows.Normalized(), filter, options));
}

RowReader TableImpl::ReadRows(const std::shared_ptr<TableImpl>& table,
                              absl::StatusOr<std::vector<RowRange>> ranges, const Filter& filter,
                              const ReadOptions& options, std::shared_ptr<const OwnWrites> own) {
  return RowReader(
      std::make_unique<RowReaderImpl>(table, std::move(ranges), filter, options, std::move(own)));
}

RowReader TableImpl::FailedRows(const absl::Status& error) {
  return RowReader(std::make_unique<ConnectedReader>(nullptr, 0, error, Filter(), ReadOptions()));
}

RowReader Table::ResumeRows(std::string_view token, const Filter& filter,
                            const ReadOptions& options) {
  if (connected_ != nullptr) return RowReader(connected_->ResumeRows(token, filter, options));
  return RowReader(
      std::make_unique<RowReaderImpl>(impl_, RangesOf(token, *impl_, options), filter, options));
}

}  // namespace bigtable
