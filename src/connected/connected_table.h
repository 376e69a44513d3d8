// Table of a connected database: checks the arguments as the calls of client/table.cc do, and
// passes them on to the service.
#ifndef BIGTABLE_CONNECTED_CONNECTED_TABLE_H_
#define BIGTABLE_CONNECTED_CONNECTED_TABLE_H_

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

#include "connected/connected_reader.h"
#include "connected/table_service.h"

namespace bigtable {

// The error of a call that only an embedded database has. `call`: "Table::ApproximateSizes".
[[gnu::cold]] absl::Status NotConnectedError(std::string_view call);

// Thread-safe.
class ConnectedTable {
 public:
  // Null: the table is of an embedded database.
  static const std::shared_ptr<ConnectedTable>& Of(const Table& table) { return table.connected_; }

  ConnectedTable(std::string name, std::shared_ptr<TableService> service)
      : name_(std::move(name)), service_(std::move(service)) {}

  const std::string& name() const { return name_; }

  // The functions of Table with these names.
  absl::Status Apply(const RowMutation& mutation, const WriteOptions& options);
  std::vector<absl::Status> ApplyBatch(absl::Span<const RowMutation> mutations,
                                       const WriteOptions& options);
  absl::StatusOr<bool> CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                         const RowMutation& if_matched, const RowMutation& if_not,
                                         const WriteOptions& options);
  absl::StatusOr<Row> ReadModifyWriteRow(const ReadModifyWrite& rules, const WriteOptions& options);
  absl::StatusOr<Row> ReadRow(std::string_view row, const Filter& filter,
                              const ReadOptions& options);
  absl::Status DropRowRange(const RowRange& rows, const CallOptions& options);
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const CallOptions& options);

  // ReadFilteredRows and ResumeRows.
  std::unique_ptr<ConnectedReader> ReadRows(absl::StatusOr<std::vector<RowRange>> ranges,
                                            const Filter& filter, const ReadOptions& options);
  std::unique_ptr<ConnectedReader> ResumeRows(std::string_view token, const Filter& filter,
                                              const ReadOptions& options);

 private:
  const std::string name_;
  const std::shared_ptr<TableService> service_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CONNECTED_CONNECTED_TABLE_H_
