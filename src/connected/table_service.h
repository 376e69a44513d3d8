// A database that is not in this process: what a component implements to reach it, and how the
// component's Database is made. The library has no implementation.
//
// Database, Table, RowReader and Scanner forward to these interfaces if they are connected rather
// than opened. Before they do, they have checked the arguments: a service gets mutations, rules,
// filters, rows and limits that are valid on their own, and options without what no service has
// (snapshots). It enforces the deadline and the cancellation of the options itself.
#ifndef BIGTABLE_CONNECTED_TABLE_SERVICE_H_
#define BIGTABLE_CONNECTED_TABLE_SERVICE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/database.h"
#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row.h"
#include "bigtable/row_key_sample.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"

namespace bigtable {

// The rows of one read, in the order of the read. One thread at a time.
class RowStream {
 public:
  virtual ~RowStream() = default;

  // Replaces `*row` by the next row, which has at least one cell. False at the end. After false or
  // an error, `*row` is as it was, and Next is not called again.
  virtual absl::StatusOr<bool> Next(Row* row) = 0;
};

// Thread-safe. As with a Table, calls after Close are FailedPrecondition.
class TableService {
 public:
  virtual ~TableService() = default;

  // Table::Apply; the mutation has at least one operation.
  virtual absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) = 0;
  // Table::ApplyBatch: sets the status of each mutation that has none that is an error.
  virtual void ApplyBatch(absl::Span<const RowMutation> mutations, const WriteOptions& options,
                          absl::Span<absl::Status> statuses) = 0;
  virtual absl::StatusOr<bool> CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                                 const RowMutation& if_matched,
                                                 const RowMutation& if_not,
                                                 const WriteOptions& options) = 0;
  virtual absl::StatusOr<Row> ReadModifyWriteRow(const ReadModifyWrite& rules,
                                                 const WriteOptions& options) = 0;
  // `ranges` are as RowSet::Normalized() has them; there is at least one. The service observes
  // `reverse` and `row_limit`; the caller counts cells.
  virtual std::unique_ptr<RowStream> ReadRows(std::vector<RowRange> ranges, const Filter& filter,
                                              const ReadOptions& options) = 0;
  virtual absl::Status DropRowRange(const RowRange& rows, const CallOptions& options) = 0;
  virtual absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const CallOptions& options) = 0;
};

// Thread-safe. Its tables outlive it.
class DatabaseService {
 public:
  virtual ~DatabaseService() = default;

  // Cancels the calls under way, and refuses later ones. At most once.
  virtual absl::Status Close() = 0;

  // The functions of Database with these names.
  virtual absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                                   const CreateTableOptions& options) = 0;
  virtual absl::Status DeleteTable(std::string_view name, const CallOptions& options) = 0;
  virtual absl::StatusOr<std::vector<std::string>> ListTables(const CallOptions& options) = 0;
  virtual absl::StatusOr<TableSchema> GetSchema(std::string_view table,
                                                const CallOptions& options) = 0;
  virtual absl::Status ModifyFamilies(std::string_view table,
                                      const std::vector<FamilyChange>& changes,
                                      const CallOptions& options) = 0;
  virtual absl::Status Resume(const CallOptions& options) = 0;

  // The table of this name, whether it exists or not.
  virtual std::shared_ptr<TableService> NewTable(std::string_view name) = 0;
};

// A Database whose calls go to the service.
std::unique_ptr<Database> ConnectedTo(std::unique_ptr<DatabaseService> service);

}  // namespace bigtable

#endif  // BIGTABLE_CONNECTED_TABLE_SERVICE_H_
