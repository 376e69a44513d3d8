// A table of a server: TableService over google.bigtable.v2.Bigtable.
#ifndef BIGTABLE_REMOTE_DATA_REMOTE_TABLE_H_
#define BIGTABLE_REMOTE_DATA_REMOTE_TABLE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connected/table_service.h"
#include "remote/calls/connection.h"
#include "remote/data/batch_writer.h"

namespace bigtable::remote {

// Thread-safe.
class RemoteTable final : public TableService {
 public:
  RemoteTable(std::shared_ptr<Connection> connection, std::shared_ptr<OutstandingBytes> outstanding,
              std::string_view table)
      : connection_(std::move(connection)),
        outstanding_(std::move(outstanding)),
        name_(connection_->TableName(table)) {}

  absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) override;
  void ApplyBatch(absl::Span<const RowMutation> mutations, const WriteOptions& options,
                  absl::Span<absl::Status> statuses) override;
  absl::StatusOr<bool> CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                         const RowMutation& if_matched, const RowMutation& if_not,
                                         const WriteOptions& options) override;
  absl::StatusOr<Row> ReadModifyWriteRow(const ReadModifyWrite& rules,
                                         const WriteOptions& options) override;
  std::unique_ptr<RowStream> ReadRows(std::vector<RowRange> ranges, const Filter& filter,
                                      const ReadOptions& options) override;
  absl::Status DropRowRange(const RowRange& rows, const CallOptions& options) override;
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const CallOptions& options) override;

 private:
  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<OutstandingBytes> outstanding_;
  const std::string name_;  // of the resource
};

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_DATA_REMOTE_TABLE_H_
