// The cells of an embedded table, one by one: a cursor for each stream of a Scanner, and what they
// share.
#ifndef BIGTABLE_ROUTING_SCANNER_IMPL_H_
#define BIGTABLE_ROUTING_SCANNER_IMPL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row_range.h"

#include "admission/quota_control.h"
#include "backend/cell_source.h"
#include "backend/stream_status.h"
#include "base/call_gate.h"
#include "monitoring/call_timer.h"
#include "routing/table_cursor.h"
#include "routing/table_impl.h"

namespace bigtable {

class ScanStreamImpl;

// What the streams of a scanner share. The snapshot is fixed when the first of them begins. One
// thread at a time.
class ScannerImpl final : public ScannerBackend {
 public:
  ScannerImpl(std::shared_ptr<TableImpl> table, ReadOptions options);
  ~ScannerImpl() override;

  void SetRange(const RowRange& range) override;
  CellSource* NewStream(std::string_view family) override;
  std::string_view RowName() const override;
  const absl::Status& status() const override { return status_.Check(); }
  bool is_forked() const override { return table_->database->is_forked(); }

  // Fixes the snapshot, if that was not done yet. Inside the gate.
  absl::Status Begin();
  const TableImpl& table() const { return *table_; }
  const ReadSnapshot& snapshot() const { return snapshot_; }
  const ReadOptions& options() const { return options_; }
  // All streams end at their next move.
  void Fail(const absl::Status& status);
  void Moved(const ScanStreamImpl* stream) { moved_last_ = stream; }

  bool ok() const { return status_.ok(); }
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
  std::vector<std::unique_ptr<ScanStreamImpl>> streams_;
  const ScanStreamImpl* moved_last_ = nullptr;
  StreamStatus status_{table_.get(), "Scanner"};
};

// One stream: a cursor over its family. One thread at a time.
class ScanStreamImpl final : public CellSource {
 public:
  // `scanner` outlives this.
  ScanStreamImpl(ScannerImpl* scanner, std::string_view family)
      : CellSource(family),
        scanner_(scanner),
        calls_(scanner->monitor(), Call::kNextCell, RequestTrace::Request::kScan) {}

  bool Done() override {
    if (!begun_) Begin();
    return !has_cell_;
  }
  void Next() override { MoveOn(false); }
  void NextRow() override { MoveOn(true); }
  std::string_view RowName() const override { return cursor_->row(); }
  std::string_view Qualifier() const override { return cursor_->qualifier(); }
  int64_t MicroTimestamp() const override { return cursor_->timestamp(); }
  std::string_view Value() const override { return cursor_->value(); }

  bool has_cell() const { return has_cell_; }
  // The range was changed.
  void Restart();

 private:
  void Begin();
  void MoveOn(bool skip_row);
  void Move();
  // Quotas refuse a cell only before its row begins.
  absl::Status TakeCell(QuotaControl* quotas) const;
  // Whether the stream is in the last row that the options allow.
  bool IsLastRow() const { return rows_ > 0 && rows_ == scanner_->row_limit(); }
  void CountCell(bool is_new_row);
  void End();
  void Fail(const absl::Status& status);

  ScannerImpl* const scanner_;
  Filter chain_;
  std::optional<TableCursor> cursor_;
  bool begun_ = false;
  bool has_cell_ = false;
  int64_t rows_ = 0;
  int64_t cells_ = 0;
  StreamCalls calls_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_SCANNER_IMPL_H_
