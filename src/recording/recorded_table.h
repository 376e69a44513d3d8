// A table of an embedded database whose calls are recorded: forwards each to the table, and records
// what it was and what it returned. A database without a recorder has none.
#ifndef BIGTABLE_RECORDING_RECORDED_TABLE_H_
#define BIGTABLE_RECORDING_RECORDED_TABLE_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/table_backend.h"
#include "recording/call_builder.h"

namespace bigtable {

// Thread-safe.
class RecordedTable final : public TableBackend {
 public:
  // `number`: of the table in the recording (RecordingFile::DefineTable).
  RecordedTable(std::shared_ptr<TableBackend> table, std::shared_ptr<CallRecorder> recorder,
                uint64_t number)
      : TableBackend(Kind::kRecorded, table->name(), table.get()),
        table_(std::move(table)),
        recorder_(std::move(recorder)),
        number_(number) {}

  // 0: the recorder, which may be null, does not record the table.
  static uint64_t NumberOf(const Table& table, const CallRecorder* recorder) {
    const TableBackend* const backend = TableBackend::Of(table).get();
    if (backend->kind() != Kind::kRecorded) return 0;
    const auto* const recorded = static_cast<const RecordedTable*>(backend);
    return recorded->recorder_.get() == recorder ? recorded->number_ : 0;
  }

  absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) override;
  std::vector<absl::Status> ApplyBatch(absl::Span<const RowMutation> mutations,
                                       const WriteOptions& options) override;
  absl::StatusOr<bool> CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                         const RowMutation& if_matched, const RowMutation& if_not,
                                         const WriteOptions& options) override;
  absl::StatusOr<Row> ReadModifyWriteRow(const ReadModifyWrite& rules,
                                         const WriteOptions& options) override;
  absl::Status MutateRowAtomically(
      std::string_view row, const Filter& filter,
      absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
      const WriteOptions& options) override;
  absl::StatusOr<Row> ReadRow(std::string_view row, const Filter& filter,
                              const ReadOptions& options) override;
  std::unique_ptr<RowSource> ReadRows(const RowSet& rows, const Filter& filter,
                                      const ReadOptions& options) override;
  std::unique_ptr<RowSource> ResumeRows(std::string_view token, const Filter& filter,
                                        const ReadOptions& options) override;
  absl::Status DropRowRange(const RowRange& rows, const CallOptions& options) override;
  // Not recorded: a recording has no files.
  absl::StatusOr<ChangeRound> ReadChanges(const ChangeRequest& request) override {
    return table_->ReadChanges(request);
  }
  absl::Status SetChangeReader(std::string_view reader, std::optional<std::string_view> position,
                               const CallOptions& options) override {
    return table_->SetChangeReader(reader, position, options);
  }
  absl::StatusOr<IngestSummary> Ingest(absl::Span<const std::string> files,
                                       const IngestOptions& options) override {
    return table_->Ingest(files, options);
  }
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const CallOptions& options) override {
    return table_->SampleRowKeys(options);
  }
  absl::StatusOr<std::vector<uint64_t>> ApproximateSizes(absl::Span<const RowRange> ranges,
                                                         const CallOptions& options) override {
    return table_->ApproximateSizes(ranges, options);
  }
  std::unique_ptr<ScannerBackend> NewScanner(ReadOptions options) override;
  void ReportUnchecked(std::string_view stream, const absl::Status& status) const override {
    table_->ReportUnchecked(stream, status);
  }

 private:
  CallBuilder Begin(RecordedCall::Kind kind) const { return {recorder_, kind, number_}; }

  const std::shared_ptr<TableBackend> table_;
  const std::shared_ptr<CallRecorder> recorder_;
  const uint64_t number_;
};

}  // namespace bigtable

#endif  // BIGTABLE_RECORDING_RECORDED_TABLE_H_
