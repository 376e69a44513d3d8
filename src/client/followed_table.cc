#include "client/followed_table.h"

#include "backend/failed_rows.h"
#include "backend/failed_scanner.h"
#include "base/status.h"

namespace bigtable {
namespace {

absl::Status ReadOnlyError() {
  return absl::FailedPreconditionError("the database was opened read-only");
}

// The rows of a state, which they keep.
class FollowedRows final : public RowSource {
 public:
  FollowedRows(std::shared_ptr<const FollowedState> state, std::unique_ptr<RowSource> rows)
      : state_(std::move(state)), rows_(std::move(rows)) {}

  bool Next(Row* row) override { return rows_->Next(row); }
  void MarkTaken(const Row& row) override { rows_->MarkTaken(row); }
  std::string ResumeToken(const Row& row) const override { return rows_->ResumeToken(row); }
  const absl::Status& status() const override { return rows_->status(); }
  bool is_forked() const override { return rows_->is_forked(); }

 private:
  const std::shared_ptr<const FollowedState> state_;  // outlives the rows
  const std::unique_ptr<RowSource> rows_;
};

// The same for a scanner.
class FollowedScanner final : public ScannerBackend {
 public:
  FollowedScanner(std::shared_ptr<const FollowedState> state,
                  std::unique_ptr<ScannerBackend> scanner)
      : state_(std::move(state)), scanner_(std::move(scanner)) {}

  void SetRange(const RowRange& range) override { scanner_->SetRange(range); }
  std::string_view RowName() const override { return scanner_->RowName(); }
  const absl::Status& status() const override { return scanner_->status(); }
  CellSource* NewStream(std::string_view family) override { return scanner_->NewStream(family); }
  bool is_forked() const override { return scanner_->is_forked(); }

 private:
  const std::shared_ptr<const FollowedState> state_;
  const std::unique_ptr<ScannerBackend> scanner_;
};

}  // namespace

absl::StatusOr<FollowedTable::Read> FollowedTable::Begin(const ReadOptions& options) const {
  Read read{.options = options};
  BT_ASSIGN_OR_RETURN(read.state, states_->Get());
  if (options.snapshot != nullptr) {
    const FollowedSnapshot* const snapshot =
        FollowedSnapshot::Of(options.snapshot.get(), states_.get());
    if (snapshot == nullptr) {
      return absl::InvalidArgumentError("ReadOptions::snapshot is of another database");
    }
    read.state = snapshot->state();
    read.options.snapshot = snapshot->snapshot();
  }
  BT_ASSIGN_OR_RETURN(read.table, read.state->Table(name(), {.caller = caller_}));
  return read;
}

absl::StatusOr<Row> FollowedTable::ReadRow(std::string_view row, const Filter& filter,
                                           const ReadOptions& options) {
  BT_ASSIGN_OR_RETURN(const Read read, Begin(options));
  return read.table->ReadRow(row, filter, read.options);
}

std::unique_ptr<RowSource> FollowedTable::ReadRows(const RowSet& rows, const Filter& filter,
                                                   const ReadOptions& options) {
  const absl::StatusOr<Read> read = Begin(options);
  if (!read.ok()) return std::make_unique<FailedRows>(read.status());
  return std::make_unique<FollowedRows>(read->state,
                                        read->table->ReadRows(rows, filter, read->options));
}

std::unique_ptr<RowSource> FollowedTable::ResumeRows(std::string_view token, const Filter& filter,
                                                     const ReadOptions& options) {
  const absl::StatusOr<Read> read = Begin(options);
  if (!read.ok()) return std::make_unique<FailedRows>(read.status());
  return std::make_unique<FollowedRows>(read->state,
                                        read->table->ResumeRows(token, filter, read->options));
}

std::unique_ptr<ScannerBackend> FollowedTable::NewScanner(ReadOptions options) {
  const absl::StatusOr<Read> read = Begin(options);
  if (!read.ok()) return std::make_unique<FailedScanner>(read.status());
  return std::make_unique<FollowedScanner>(read->state, read->table->NewScanner(read->options));
}

absl::StatusOr<std::vector<RowKeySample>> FollowedTable::SampleRowKeys(const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const Read read, Begin({}));
  return read.table->SampleRowKeys(options);
}

absl::StatusOr<std::vector<uint64_t>> FollowedTable::ApproximateSizes(
    absl::Span<const RowRange> ranges, const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const Read read, Begin({}));
  return read.table->ApproximateSizes(ranges, options);
}

absl::Status FollowedTable::Apply(const RowMutation& /*mutation*/,
                                  const WriteOptions& /*options*/) {
  return ReadOnlyError();
}
std::vector<absl::Status> FollowedTable::ApplyBatch(absl::Span<const RowMutation> mutations,
                                                    const WriteOptions& /*options*/) {
  return std::vector<absl::Status>(mutations.size(), ReadOnlyError());
}
absl::StatusOr<bool> FollowedTable::CheckAndMutateRow(std::string_view /*row*/,
                                                      const Filter& /*predicate*/,
                                                      const RowMutation& /*if_matched*/,
                                                      const RowMutation& /*if_not*/,
                                                      const WriteOptions& /*options*/) {
  return ReadOnlyError();
}
absl::StatusOr<Row> FollowedTable::ReadModifyWriteRow(const ReadModifyWrite& /*rules*/,
                                                      const WriteOptions& /*options*/) {
  return ReadOnlyError();
}
absl::Status FollowedTable::MutateRowAtomically(
    std::string_view /*row*/, const Filter& /*filter*/,
    absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> /*function*/,
    const WriteOptions& /*options*/) {
  return ReadOnlyError();
}
absl::Status FollowedTable::DropRowRange(const RowRange& /*rows*/, const CallOptions& /*options*/) {
  return ReadOnlyError();
}
absl::StatusOr<IngestSummary> FollowedTable::Ingest(absl::Span<const std::string> /*files*/,
                                                    const IngestOptions& /*options*/) {
  return ReadOnlyError();
}

}  // namespace bigtable
