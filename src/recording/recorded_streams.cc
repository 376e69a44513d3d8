#include "recording/recorded_streams.h"

namespace bigtable {

bool RecordedRows::Next(Row* row) {
  const bool found = rows_->Next(row);
  if (!found) return false;
  if (needs_range_) {
    call_.AddRange(RowRange::StartingAt(row->key()));
    needs_range_ = false;
  }
  call_.CountRow(*row);
  return true;
}

bool RecordedCells::Done() {
  if (!has_begun_) {
    cells_->columns = columns;  // they are not changed after this
    has_begun_ = true;
  }
  scanner_->BeginCall();
  if (cells_->Done()) return true;
  if (!is_counted_) scanner_->Count(*cells_);
  is_counted_ = true;
  return false;
}

RecordedScanner::RecordedScanner(std::unique_ptr<ScannerBackend> scanner,
                                 std::shared_ptr<CallRecorder> recorder, uint64_t table,
                                 const ReadOptions& options)
    : scanner_(std::move(scanner)),
      recorder_(std::move(recorder)),
      table_(table),
      options_{.reverse = options.reverse,
               .row_limit = options.row_limit,
               .cell_limit = options.cell_limit} {}

void RecordedScanner::SetRange(const RowRange& range) {
  EndCall();
  range_ = range;
  for (const auto& stream : streams_) stream->Restart();
  scanner_->SetRange(range);
}

CellSource* RecordedScanner::NewStream(std::string_view family) {
  CellSource* const cells = scanner_->NewStream(family);
  return streams_.emplace_back(std::make_unique<RecordedCells>(cells, this, family)).get();
}

void RecordedScanner::BeginCall() {
  if (call_.has_value()) return;
  call_.emplace(recorder_, RecordedCall::Kind::kScan, table_);
  call_->SetOptions(options_);
  call_->AddRange(range_);
  row_.clear();
}

void RecordedScanner::Count(const CellSource& cell) {
  const std::string_view row = cell.RowName();
  if (row != row_) {
    row_ = row;
    call_->CountRow();
  }
  call_->CountCell(cell.Qualifier().size() + cell.Value().size());
}

void RecordedScanner::EndCall() {
  if (!call_.has_value()) return;
  call_->SetFilter(FilterOfStreams());
  call_->End(code_);
  call_.reset();
}

Filter RecordedScanner::FilterOfStreams() const {
  std::vector<Filter> filters;
  for (const auto& stream : streams_) {
    if (stream->has_begun()) filters.push_back(stream->columns.ToFilter());
  }
  return filters.size() == 1 ? filters.front() : Filter::Interleave(std::move(filters));
}

}  // namespace bigtable
