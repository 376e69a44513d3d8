// Streams of rows and of cells that count what the program reads, and record it at their end.
#ifndef BIGTABLE_RECORDING_RECORDED_STREAMS_H_
#define BIGTABLE_RECORDING_RECORDED_STREAMS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/cell_source.h"
#include "backend/row_source.h"
#include "recording/call_builder.h"

namespace bigtable {

// Knows the status only if the program asks for it: to ask for it counts as a check
// (backend/stream_status.h), which is the program's to make. One thread at a time.
class RecordedRows final : public RowSource {
 public:
  // `begins_at_first_row`: the call has no range; it begins at the first row that is read.
  RecordedRows(std::unique_ptr<RowSource> rows, CallBuilder call, bool begins_at_first_row = false)
      : rows_(std::move(rows)), call_(std::move(call)), needs_range_(begins_at_first_row) {}
  ~RecordedRows() override { call_.End(code_); }

  bool Next(Row* row) override;
  void MarkTaken(const Row& row) override { rows_->MarkTaken(row); }
  std::string ResumeToken(const Row& row) const override { return rows_->ResumeToken(row); }
  const absl::Status& status() const override {
    const absl::Status& status = rows_->status();
    code_ = status.code();
    return status;
  }
  bool is_forked() const override { return rows_->is_forked(); }

 private:
  const std::unique_ptr<RowSource> rows_;
  CallBuilder call_;
  bool needs_range_;
  mutable absl::StatusCode code_ = absl::StatusCode::kOk;
};

class RecordedScanner;

// One thread at a time, and the same as its scanner's.
class RecordedCells final : public CellSource {
 public:
  // Both outlive it.
  RecordedCells(CellSource* cells, RecordedScanner* scanner, std::string_view family)
      : CellSource(family), cells_(cells), scanner_(scanner) {}

  bool Done() override;
  void Next() override {
    is_counted_ = false;
    cells_->Next();
  }
  void NextRow() override {
    is_counted_ = false;
    cells_->NextRow();
  }
  std::string_view RowName() const override { return cells_->RowName(); }
  std::string_view Qualifier() const override { return cells_->Qualifier(); }
  int64_t MicroTimestamp() const override { return cells_->MicroTimestamp(); }
  std::string_view Value() const override { return cells_->Value(); }

  // The scanner has another range.
  void Restart() { is_counted_ = false; }
  bool has_begun() const { return has_begun_; }

 private:
  CellSource* const cells_;
  RecordedScanner* const scanner_;
  bool has_begun_ = false;
  bool is_counted_ = false;  // the present cell
};

// Each range that is read is one call. One thread at a time.
class RecordedScanner final : public ScannerBackend {
 public:
  RecordedScanner(std::unique_ptr<ScannerBackend> scanner, std::shared_ptr<CallRecorder> recorder,
                  uint64_t table, const ReadOptions& options);
  ~RecordedScanner() override { EndCall(); }

  void SetRange(const RowRange& range) override;
  std::string_view RowName() const override { return scanner_->RowName(); }
  const absl::Status& status() const override {
    const absl::Status& status = scanner_->status();
    code_ = status.code();
    return status;
  }
  CellSource* NewStream(std::string_view family) override;
  bool is_forked() const override { return scanner_->is_forked(); }

  // For its streams: the range is read now; and the cells that are returned.
  void BeginCall();
  void Count(const CellSource& cell);

 private:
  void EndCall();
  // What all streams read.
  Filter FilterOfStreams() const;

  const std::unique_ptr<ScannerBackend> scanner_;
  const std::shared_ptr<CallRecorder> recorder_;
  const uint64_t table_;
  const ReadOptions options_;
  RowRange range_;
  std::vector<std::unique_ptr<RecordedCells>> streams_;
  std::optional<CallBuilder> call_;  // of the range that is being read
  std::string row_;                  // that was counted last
  mutable absl::StatusCode code_ = absl::StatusCode::kOk;
};

}  // namespace bigtable

#endif  // BIGTABLE_RECORDING_RECORDED_STREAMS_H_
