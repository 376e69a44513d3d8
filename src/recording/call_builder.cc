#include "recording/call_builder.h"

#include <atomic>
#include <utility>

#include "read/filter_node.h"
#include "recording/recorded_table.h"
#include "recording/recorder_access.h"
#include "rpc/filter_format.h"

namespace bigtable {
namespace {

uint64_t ThreadNumber() {
  static std::atomic<uint64_t> threads{0};
  thread_local const uint64_t number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

}  // namespace

CallBuilder::CallBuilder(std::shared_ptr<CallRecorder> recorder, RecordedCall::Kind kind,
                         uint64_t table)
    : recorder_(std::move(recorder)), file_(RecorderAccess::FileOf(*recorder_)) {
  record_.kind = kind;
  record_.table = table;
  record_.thread = ThreadNumber();
  record_.begin_micros = file_->MicrosSinceBegin();
}

std::optional<CallBuilder> CallBuilder::ForTable(const std::shared_ptr<CallRecorder>& recorder,
                                                 RecordedCall::Kind kind, const Table& table) {
  if (recorder == nullptr) [[likely]]
    return std::nullopt;
  const uint64_t number = RecordedTable::NumberOf(table, recorder.get());
  if (number == 0) return std::nullopt;
  return CallBuilder(recorder, kind, number);
}

std::optional<CallBuilder> CallBuilder::ForBatch(const std::shared_ptr<CallRecorder>& recorder,
                                                 RecordedCall::Kind kind, const WriteBatch& batch) {
  if (recorder == nullptr) [[likely]]
    return std::nullopt;
  if (batch.mutations_.empty()) return std::nullopt;
  std::optional<CallBuilder> call = ForTable(recorder, kind, *batch.mutations_.front().table);
  for (const WriteBatch::Mutation& mutation : batch.mutations_) {
    const uint64_t table = RecordedTable::NumberOf(*mutation.table, recorder.get());
    if (table == 0) return std::nullopt;
    const std::string_view bytes =
        std::string_view(batch.bytes_).substr(mutation.begin, mutation.end - mutation.begin);
    call->AddMutation(table, {.row = bytes.substr(0, mutation.row_size),
                              .operations = bytes.substr(mutation.row_size)});
  }
  call->record_.begin_micros = call->file_->MicrosSinceBegin();  // the call begins only now
  return call;
}

void CallBuilder::AddRow(std::string_view row) {
  AppendRecordedRow(&ranges_, row, file_->mask());
  ++record_.range_count;
}

void CallBuilder::AddRange(const RowRange& range) {
  AppendRecordedRange(&ranges_, range, file_->mask());
  ++record_.range_count;
}

void CallBuilder::SetFilter(const Filter& filter) {
  if (FilterNode::Of(filter) == nullptr) return;  // passes everything
  absl::StatusOr<std::string> encoded = EncodeFilter(filter);
  record_.filter_left_out = !encoded.ok() || file_->mask().hashes();
  if (!record_.filter_left_out) filter_ = *std::move(encoded);
}

void CallBuilder::SetOptions(const ReadOptions& options) {
  record_.reverse = options.reverse;
  record_.row_limit = options.row_limit;
  record_.cell_limit = options.cell_limit;
}

void CallBuilder::AddMutation(const RowMutation& mutation) {
  AddMutation(record_.table, EncodedMutation::Of(mutation));
}

void CallBuilder::AddMutation(uint64_t table, const EncodedMutation& mutation) {
  AppendRecordedMutation(&mutations_, table, mutation, file_->mask());
  ++record_.mutation_count;
}

void CallBuilder::AddRules(const ReadModifyWrite& rules) {
  AppendRecordedRules(&mutations_, record_.table, rules, file_->mask());
  ++record_.mutation_count;
}

void CallBuilder::DropMutations() {
  mutations_.clear();
  record_.mutation_count = 0;
}

void CallBuilder::CountRow(const Row& row) {
  if (row.empty()) return;
  CountRow();
  record_.bytes += row.key().size();
  for (const Cell& cell : row.cells()) CountCell(cell.qualifier.size() + cell.value.size());
}

void CallBuilder::AddRead(const RowSet& rows, const Filter& filter, const ReadOptions& options) {
  for (const RowRange& range : rows.ranges()) AddRange(range);
  SetFilter(filter);
  SetOptions(options);
}

void CallBuilder::EndReadRow(std::string_view row, const Filter& filter, const ReadOptions& options,
                             const absl::StatusOr<Row>& read) {
  AddRow(row);
  SetFilter(filter);
  SetOptions(options);
  if (read.ok()) CountRow(*read);
  End(read.status().code());
}

void CallBuilder::End(absl::StatusCode code) {
  if (file_->is_forked()) return;
  record_.duration_micros = file_->MicrosSinceBegin() - record_.begin_micros;
  record_.code = code;
  record_.ranges = ranges_;
  record_.filter = filter_;
  record_.mutations = mutations_;
  std::string bytes;
  bytes.reserve(64 + ranges_.size() + filter_.size() + mutations_.size());
  AppendCall(&bytes, record_);
  file_->Append(bytes);
}

}  // namespace bigtable
