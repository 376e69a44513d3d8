// Table of a connected database: checks the arguments as an embedded table does, and
// passes them on to the service.
#ifndef BIGTABLE_CONNECTED_CONNECTED_TABLE_H_
#define BIGTABLE_CONNECTED_CONNECTED_TABLE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_range.h"
#include "bigtable/table.h"

#include "backend/table_backend.h"
#include "connected/connected_reader.h"
#include "connected/table_service.h"

namespace bigtable {

// Thread-safe.
class ConnectedTable final : public TableBackend,
                             public std::enable_shared_from_this<ConnectedTable> {
 public:
  ConnectedTable(std::string name, std::shared_ptr<TableService> service)
      : TableBackend(Kind::kConnected, std::move(name)), service_(std::move(service)) {}

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
  std::vector<absl::StatusOr<Row>> GetRows(absl::Span<const std::string_view> rows,
                                           const Filter& filter,
                                           const ReadOptions& options) override;
  std::unique_ptr<RowSource> ReadRows(const RowSet& rows, const Filter& filter,
                                      const ReadOptions& options) override;
  std::unique_ptr<RowSource> ResumeRows(std::string_view token, const Filter& filter,
                                        const ReadOptions& options) override;
  std::unique_ptr<ScannerBackend> NewScanner(ReadOptions options) override;
  absl::Status DropRowRange(const RowRange& rows, const CallOptions& options) override;
  absl::StatusOr<ChangeRound> ReadChanges(const ChangeRequest& request) override;
  absl::Status SetChangeReader(std::string_view reader, std::optional<std::string_view> position,
                               const CallOptions& options) override;
  absl::StatusOr<IngestSummary> Ingest(absl::Span<const std::string> files,
                                       const IngestOptions& options) override;
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const CallOptions& options) override;
  absl::StatusOr<std::vector<uint64_t>> ApproximateSizes(absl::Span<const RowRange> ranges,
                                                         const CallOptions& options) override;

  // The rows of these ranges, which are as RowSet::Normalized() has them, or the error.
  std::unique_ptr<ConnectedReader> ReadRanges(absl::StatusOr<std::vector<RowRange>> ranges,
                                              const Filter& filter, const ReadOptions& options);

 private:
  // How many of the rows one request of GetRows has: a service bounds the size of messages.
  static size_t RowsOfRequest(absl::Span<const std::string_view> rows);
  // GetRows for some rows, at the end of `results`; the error of a stream, which is also that of
  // the rows that it has not returned.
  absl::Status GetSome(absl::Span<const std::string_view> rows, const Filter& filter,
                       const ReadOptions& options, std::vector<absl::StatusOr<Row>>* results);

  const std::shared_ptr<TableService> service_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CONNECTED_CONNECTED_TABLE_H_
