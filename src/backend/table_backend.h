// What a Table forwards to: a table of this process (client/embedded_table.h), or of a service
// (connected/connected_table.h), or one of this process whose calls are recorded
// (recording/recorded_table.h).
#ifndef BIGTABLE_BACKEND_TABLE_BACKEND_H_
#define BIGTABLE_BACKEND_TABLE_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/bulk_load.h"
#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row.h"
#include "bigtable/row_key_sample.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/table.h"

#include "backend/cell_source.h"
#include "backend/change_round.h"
#include "backend/row_source.h"

namespace bigtable {

// Thread-safe. Streams and scanners share it, so it may outlive its Table.
class TableBackend {
 public:
  // Which class it is, for those that need more of an embedded table than this interface has
  // (TableImpl::Of).
  enum class Kind : uint8_t { kEmbedded, kConnected, kRecorded };

  using RowDone = absl::AnyInvocable<void(absl::StatusOr<Row>)>;

  virtual ~TableBackend() = default;
  TableBackend(const TableBackend&) = delete;
  TableBackend& operator=(const TableBackend&) = delete;

  static const std::shared_ptr<TableBackend>& Of(const Table& table) { return table.backend_; }
  static std::unique_ptr<Table> NewTable(std::shared_ptr<TableBackend> backend) {
    return std::unique_ptr<Table>(new Table(std::move(backend)));
  }

  Kind kind() const { return kind_; }
  // The kEmbedded table that this is or records; null: there is none.
  TableBackend* embedded() { return kind_ == Kind::kEmbedded ? this : recorded_; }
  const std::string& name() const { return name_; }

  // The functions of Table with these names.
  virtual absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) = 0;
  virtual std::vector<absl::Status> ApplyBatch(absl::Span<const RowMutation> mutations,
                                               const WriteOptions& options) = 0;
  virtual absl::StatusOr<bool> CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                                 const RowMutation& if_matched,
                                                 const RowMutation& if_not,
                                                 const WriteOptions& options) = 0;
  virtual absl::StatusOr<Row> ReadModifyWriteRow(const ReadModifyWrite& rules,
                                                 const WriteOptions& options) = 0;
  virtual absl::Status MutateRowAtomically(
      std::string_view row, const Filter& filter,
      absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
      const WriteOptions& options) = 0;
  virtual absl::StatusOr<Row> ReadRow(std::string_view row, const Filter& filter,
                                      const ReadOptions& options) = 0;
  // This default reads one row after the other.
  virtual std::vector<absl::StatusOr<Row>> GetRows(absl::Span<const std::string_view> rows,
                                                   const Filter& filter,
                                                   const ReadOptions& options) {
    std::vector<absl::StatusOr<Row>> results;
    results.reserve(rows.size());
    for (const std::string_view row : rows) results.push_back(ReadRow(row, filter, options));
    return results;
  }
  // This default reads the row before it returns. What overrides it keeps the arguments.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void ReadRowAsync(std::string row, Filter filter, ReadOptions options, RowDone done) {
    done(ReadRow(row, filter, options));
  }
  virtual std::unique_ptr<RowSource> ReadRows(const RowSet& rows, const Filter& filter,
                                              const ReadOptions& options) = 0;
  virtual std::unique_ptr<RowSource> ResumeRows(std::string_view token, const Filter& filter,
                                                const ReadOptions& options) = 0;
  virtual absl::Status DropRowRange(const RowRange& rows, const CallOptions& options) = 0;
  virtual absl::StatusOr<IngestSummary> Ingest(absl::Span<const std::string> files,
                                               const IngestOptions& options) = 0;
  // Some of the changes that a stream returns next (Table::ReadChanges). Keeps nothing for the next
  // call.
  virtual absl::StatusOr<ChangeRound> ReadChanges(const ChangeRequest& request) = 0;
  // Table::SetChangeReader; without a position RemoveChangeReader.
  virtual absl::Status SetChangeReader(std::string_view reader,
                                       std::optional<std::string_view> position,
                                       const CallOptions& options) = 0;
  virtual absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const CallOptions& options) = 0;
  virtual absl::StatusOr<std::vector<uint64_t>> ApproximateSizes(absl::Span<const RowRange> ranges,
                                                                 const CallOptions& options) = 0;

  // The constructor of Scanner.
  virtual std::unique_ptr<ScannerBackend> NewScanner(ReadOptions options) = 0;
  // A stream failed, and the program did not check its status: an error for the info log, if the
  // database has one. `stream`: the name of its class.
  virtual void ReportUnchecked(std::string_view /*stream*/, const absl::Status& /*status*/) const {}

 protected:
  // `recorded`, which is kEmbedded, outlives this.
  TableBackend(Kind kind, std::string name, TableBackend* recorded = nullptr)
      : kind_(kind), recorded_(recorded), name_(std::move(name)) {}

 private:
  const Kind kind_;
  TableBackend* const recorded_;
  const std::string name_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_TABLE_BACKEND_H_
