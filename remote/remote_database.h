// The tables of an instance: DatabaseService over google.bigtable.admin.v2.BigtableTableAdmin, and
// bigtable-server's own method for Resume.
#ifndef BIGTABLE_REMOTE_REMOTE_DATABASE_H_
#define BIGTABLE_REMOTE_REMOTE_DATABASE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connected/table_service.h"
#include "remote/calls/connection.h"
#include "remote/data/batch_writer.h"

namespace bigtable::remote {

// Thread-safe. A call that changes tables is not made again after an error.
class RemoteDatabase final : public DatabaseService {
 public:
  explicit RemoteDatabase(std::shared_ptr<Connection> connection)
      : connection_(std::move(connection)),
        outstanding_(
            std::make_shared<OutstandingBytes>(connection_->options().max_outstanding_bytes)) {}

  absl::Status Close() override;
  absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                           const CreateTableOptions& options) override;
  absl::Status DeleteTable(std::string_view name, const CallOptions& options) override;
  absl::StatusOr<std::vector<std::string>> ListTables(const CallOptions& options) override;
  absl::StatusOr<TableSchema> GetSchema(std::string_view table,
                                        const CallOptions& options) override;
  absl::Status ModifyFamilies(std::string_view table, const std::vector<FamilyChange>& changes,
                              const CallOptions& options) override;
  // Unimplemented: the server is not bigtable-server.
  absl::Status Resume(const CallOptions& options) override;
  std::shared_ptr<TableService> NewTable(std::string_view name) override;

 private:
  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<OutstandingBytes> outstanding_;
};

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_REMOTE_DATABASE_H_
