// Database whose tables are reached through a service, and which has no directory.
#ifndef BIGTABLE_CONNECTED_CONNECTED_DATABASE_H_
#define BIGTABLE_CONNECTED_CONNECTED_DATABASE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/options.h"
#include "bigtable/schema.h"
#include "bigtable/table.h"
#include "bigtable/write_batch.h"

#include "base/mutex.h"
#include "connected/embedded_only_calls.h"
#include "connected/table_service.h"

namespace bigtable {

// Thread-safe.
class ConnectedDatabase final : public EmbeddedOnlyCalls {
 public:
  explicit ConnectedDatabase(std::unique_ptr<DatabaseService> service)
      : service_(std::move(service)) {}

  absl::Status Close() override;
  absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                           const CreateTableOptions& options) override;
  absl::Status DeleteTable(std::string_view name, const CallOptions& options) override;
  absl::StatusOr<Table*> FindTable(std::string_view name, const OpenTableOptions& options) override;
  // Looks whether the table exists, unless it was opened before.
  absl::StatusOr<Table*> OpenTable(std::string_view name, const OpenTableOptions& options) override;
  absl::StatusOr<std::vector<std::string>> ListTables(const CallOptions& options) override;
  absl::StatusOr<TableSchema> GetSchema(std::string_view table,
                                        const CallOptions& options) override;
  absl::Status ModifyFamilies(std::string_view table, const std::vector<FamilyChange>& changes,
                              const CallOptions& options) override;
  // A service applies the mutations of one row together, and no others.
  absl::Status Apply(const WriteBatch& batch, const WriteOptions& options) override;
  absl::Status Resume(const CallOptions& options) override;

 private:
  // Whether the database has opened the table.
  bool Has(const Table* table);

  const std::unique_ptr<DatabaseService> service_;
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status close_status_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::unique_ptr<Table>, std::less<>> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_CONNECTED_CONNECTED_DATABASE_H_
