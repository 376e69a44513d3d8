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

absl::StatusOr<Pin<FollowedTable::Opened>> FollowedTable::Present() {
  Pin<Opened> opened = opened_.Get();
  const uint64_t version = states_->version();
  if (opened->version == version) [[likely]]
    return opened;
  auto made = std::make_unique<Opened>();
  BT_ASSIGN_OR_RETURN(made->state, states_->Get());
  BT_ASSIGN_OR_RETURN(made->table, made->state->Table(name(), {.caller = caller_}));
  made->version = version;  // if the state is newer, the next read opens it again
  Publish(made.release());
  return opened_.Get();
}

absl::StatusOr<Pin<FollowedTable::Opened>> FollowedTable::Begin(const ReadOptions& options,
                                                                ReadOptions* of_state) {
  if (options.snapshot == nullptr) [[likely]] {
    BT_ASSIGN_OR_RETURN(Pin<Opened> opened, Present());
    // Another thread may have forgotten it just now.
    if (opened->table == nullptr) return Begin(options, of_state);
    return opened;
  }
  BT_RETURN_IF_ERROR(states_->Get().status());
  const FollowedSnapshot* const snapshot =
      FollowedSnapshot::Of(options.snapshot.get(), states_.get());
  if (snapshot == nullptr) {
    return absl::InvalidArgumentError("ReadOptions::snapshot is of another database");
  }
  auto made = std::make_unique<Opened>();
  made->state = snapshot->state();
  BT_ASSIGN_OR_RETURN(made->table, made->state->Table(name(), {.caller = caller_}));
  of_state->snapshot = snapshot->snapshot();
  return Published<Opened>(made.release()).Get();
}

absl::StatusOr<Row> FollowedTable::ReadRow(std::string_view row, const Filter& filter,
                                           const ReadOptions& options) {
  if (options.snapshot == nullptr) [[likely]] {
    BT_ASSIGN_OR_RETURN(const Pin<Opened> opened, Begin(options, nullptr));
    return opened->table->ReadRow(row, filter, options);
  }
  ReadOptions of_state = options;
  BT_ASSIGN_OR_RETURN(const Pin<Opened> opened, Begin(options, &of_state));
  return opened->table->ReadRow(row, filter, of_state);
}

std::vector<absl::StatusOr<Row>> FollowedTable::GetRows(absl::Span<const std::string_view> rows,
                                                        const Filter& filter,
                                                        const ReadOptions& options) {
  ReadOptions of_state = options;
  const absl::StatusOr<Pin<Opened>> opened = Begin(options, &of_state);
  if (opened.ok()) return (*opened)->table->GetRows(rows, filter, of_state);
  std::vector<absl::StatusOr<Row>> failed;
  for (size_t i = 0; i < rows.size(); ++i) failed.emplace_back(opened.status());
  return failed;
}

std::unique_ptr<RowSource> FollowedTable::ReadRows(const RowSet& rows, const Filter& filter,
                                                   const ReadOptions& options) {
  ReadOptions of_state = options;
  const absl::StatusOr<Pin<Opened>> opened = Begin(options, &of_state);
  if (!opened.ok()) return std::make_unique<FailedRows>(opened.status());
  return std::make_unique<FollowedRows>((*opened)->state,
                                        (*opened)->table->ReadRows(rows, filter, of_state));
}

std::unique_ptr<RowSource> FollowedTable::ResumeRows(std::string_view token, const Filter& filter,
                                                     const ReadOptions& options) {
  ReadOptions of_state = options;
  const absl::StatusOr<Pin<Opened>> opened = Begin(options, &of_state);
  if (!opened.ok()) return std::make_unique<FailedRows>(opened.status());
  return std::make_unique<FollowedRows>((*opened)->state,
                                        (*opened)->table->ResumeRows(token, filter, of_state));
}

std::unique_ptr<ScannerBackend> FollowedTable::NewScanner(ReadOptions options) {
  ReadOptions of_state = options;
  const absl::StatusOr<Pin<Opened>> opened = Begin(options, &of_state);
  if (!opened.ok()) return std::make_unique<FailedScanner>(opened.status());
  return std::make_unique<FollowedScanner>((*opened)->state,
                                           (*opened)->table->NewScanner(std::move(of_state)));
}

absl::StatusOr<std::vector<RowKeySample>> FollowedTable::SampleRowKeys(const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const Pin<Opened> opened, Begin({}, nullptr));
  return opened->table->SampleRowKeys(options);
}

absl::StatusOr<std::vector<uint64_t>> FollowedTable::ApproximateSizes(
    absl::Span<const RowRange> ranges, const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const Pin<Opened> opened, Begin({}, nullptr));
  return opened->table->ApproximateSizes(ranges, options);
}

// Of the present state. What the other process writes comes with the next one.
absl::StatusOr<ChangeRound> FollowedTable::ReadChanges(const ChangeRequest& request) {
  BT_ASSIGN_OR_RETURN(const Pin<Opened> opened, Begin({}, nullptr));
  return opened->table->ReadChanges(request);
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
absl::Status FollowedTable::SetChangeReader(std::string_view /*reader*/,
                                            std::optional<std::string_view> /*position*/,
                                            const CallOptions& /*options*/) {
  return ReadOnlyError();
}
absl::StatusOr<IngestSummary> FollowedTable::Ingest(absl::Span<const std::string> /*files*/,
                                                    const IngestOptions& /*options*/) {
  return ReadOnlyError();
}

}  // namespace bigtable
