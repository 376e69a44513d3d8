// What a Database forwards to: a database of this process (client/embedded_database.h), or a
// service (connected/connected_database.h).
#ifndef BIGTABLE_BACKEND_DATABASE_BACKEND_H_
#define BIGTABLE_BACKEND_DATABASE_BACKEND_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/access_list.h"
#include "bigtable/database.h"
#include "bigtable/options.h"
#include "bigtable/quota.h"
#include "bigtable/schema.h"
#include "bigtable/snapshot.h"
#include "bigtable/statistics.h"
#include "bigtable/tablet_info.h"
#include "bigtable/transaction.h"
#include "bigtable/write_batch.h"

#include "cluster/database_history.h"
#include "transfer/image_copy.h"
#include "transfer/table_restore.h"

namespace bigtable {

// Thread-safe. As long as its Database, whose tables it owns.
class DatabaseBackend {
 public:
  DatabaseBackend() = default;
  virtual ~DatabaseBackend() = default;
  DatabaseBackend(const DatabaseBackend&) = delete;
  DatabaseBackend& operator=(const DatabaseBackend&) = delete;

  static DatabaseBackend* Of(Database* database) { return database->backend_.get(); }
  static std::unique_ptr<Database> NewDatabase(std::unique_ptr<DatabaseBackend> backend) {
    return std::unique_ptr<Database>(new Database(std::move(backend)));
  }

  // For Database::OpenOrCreateTable: the table, or null if there is none.
  virtual absl::StatusOr<Table*> FindTable(std::string_view name,
                                           const OpenTableOptions& options) = 0;

  // The functions of Database with these names.
  virtual absl::Status Close() = 0;

  virtual absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                                   const CreateTableOptions& options) = 0;
  virtual absl::Status DeleteTable(std::string_view name, const CallOptions& options) = 0;
  virtual absl::StatusOr<Table*> OpenTable(std::string_view name,
                                           const OpenTableOptions& options) = 0;
  virtual absl::StatusOr<std::vector<std::string>> ListTables(const CallOptions& options) = 0;
  virtual absl::StatusOr<TableSchema> GetSchema(std::string_view table,
                                                const CallOptions& options) = 0;
  virtual absl::Status ModifyFamilies(std::string_view table,
                                      const std::vector<FamilyChange>& changes,
                                      const CallOptions& options) = 0;
  virtual absl::Status SetLocalityGroup(std::string_view table, std::string_view name,
                                        const LocalityGroup& group, const CallOptions& options) = 0;
  virtual absl::Status SetSplitRule(std::string_view table, const SplitRule& rule,
                                    const CallOptions& options) = 0;
  virtual absl::Status SetChangeStream(std::string_view table, const ChangeStreamRule& rule,
                                       const CallOptions& options) = 0;
  virtual absl::Status SetObservers(std::string_view table,
                                    const std::vector<std::string>& observers,
                                    const CallOptions& options) = 0;

  virtual absl::Status SetAccessList(std::string_view name, const AccessList& list,
                                     const CallOptions& options) = 0;
  virtual absl::Status DeleteAccessList(std::string_view name, const CallOptions& options) = 0;
  virtual absl::StatusOr<AccessList> GetAccessList(std::string_view name,
                                                   const CallOptions& options) = 0;
  virtual absl::StatusOr<std::vector<std::string>> ListAccessLists(const CallOptions& options) = 0;

  virtual absl::Status SetTableQuota(std::string_view table, const Quota& quota,
                                     const CallOptions& options) = 0;
  virtual absl::Status SetCallerQuota(std::string_view caller, const Quota& quota,
                                      const CallOptions& options) = 0;
  virtual absl::StatusOr<Quota> GetTableQuota(std::string_view table,
                                              const CallOptions& options) = 0;
  virtual absl::StatusOr<Quota> GetCallerQuota(std::string_view caller,
                                               const CallOptions& options) = 0;
  virtual absl::StatusOr<std::map<std::string, Quota>> ListTableQuotas(
      const CallOptions& options) = 0;
  virtual absl::StatusOr<std::map<std::string, Quota>> ListCallerQuotas(
      const CallOptions& options) = 0;

  virtual absl::StatusOr<std::vector<TabletInfo>> ListTablets(std::string_view table,
                                                              const CallOptions& options) = 0;
  virtual absl::Status SplitTablet(std::string_view table, std::string_view row,
                                   const CallOptions& options) = 0;
  virtual absl::Status MergeTablets(std::string_view table, std::string_view row,
                                    const CallOptions& options) = 0;
  virtual absl::Status MoveTablet(std::string_view table, std::string_view row, int server,
                                  const CallOptions& options) = 0;

  virtual absl::Status Apply(const WriteBatch& batch, const WriteOptions& options) = 0;
  virtual absl::StatusOr<Transaction> BeginTransaction(const CallOptions& options) = 0;
  virtual absl::StatusOr<std::shared_ptr<const Snapshot>> TakeSnapshot() = 0;
  // For Follower. NotFound: it has no identity yet.
  virtual absl::StatusOr<DatabaseHistory> History() = 0;
  virtual absl::Status Checkpoint(std::string_view directory, const CallOptions& options) = 0;
  // For BackupEngine.
  virtual absl::StatusOr<CopiedImage> CopyTo(ImageTarget* target, const CallOptions& options) = 0;
  virtual absl::Status RestoreTable(RestoredTable table, const CopyOfBackup& copy,
                                    const CallOptions& options) = 0;

  virtual absl::Status Flush(std::string_view table, const CallOptions& options) = 0;
  virtual absl::Status Compact(std::string_view table, const CallOptions& options) = 0;
  virtual absl::Status WaitUntilQuiet(const CallOptions& options) = 0;
  virtual void PauseCompactions() = 0;
  virtual void ContinueCompactions() = 0;
  virtual void CancelCompactions() = 0;
  virtual void SetCompactionRate(uint64_t bytes_per_second) = 0;

  virtual absl::Status SetOptions(const std::map<std::string, std::string>& values) = 0;
  virtual std::map<std::string, std::string> ChangeableOptions() const = 0;
  virtual absl::Status Resume(const CallOptions& options) = 0;
  virtual absl::Status Refresh(const CallOptions& /*options*/) {
    return absl::FailedPreconditionError(
        "only a database that is opened with DatabaseOptions::follow is refreshed");
  }
  virtual DatabaseStatistics Statistics() = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_DATABASE_BACKEND_H_
