// A database of this process as Database needs it: its tables, and the calls of an administrator,
// each of which goes to a part of the engine.
#ifndef BIGTABLE_CLIENT_EMBEDDED_DATABASE_H_
#define BIGTABLE_CLIENT_EMBEDDED_DATABASE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/database.h"
#include "bigtable/options.h"
#include "bigtable/table.h"
#include "bigtable/write_batch.h"

#include "backend/database_backend.h"
#include "backend/table_backend.h"
#include "base/call_limits.h"
#include "base/mutex.h"
#include "client/embedded_table.h"
#include "monitoring/call_timer.h"
#include "routing/database_impl.h"
#include "schema/table_layout.h"
#include "transaction/transaction_domain.h"
#include "transfer/image_copy.h"

namespace bigtable {

// Thread-safe.
class EmbeddedDatabase final : public DatabaseBackend {
 public:
  // Database::Open, with options that are checked and complete. `files`: null, or SSTables that
  // outlive this.
  static absl::StatusOr<std::unique_ptr<EmbeddedDatabase>> Open(std::string_view path,
                                                                const DatabaseOptions& options,
                                                                OpenFiles* files = nullptr);
  ~EmbeddedDatabase() override;

  // The numbers of all its SSTables, METADATA's too.
  absl::StatusOr<std::set<uint64_t>> FileNumbers();

  // The state of a database that is embedded.
  static DatabaseImpl* ImplOf(Database* database) {
    return static_cast<EmbeddedDatabase*>(DatabaseBackend::Of(database))->impl_.get();
  }

  // For Database::OpenOrCreateTable: the table, or null if there is none.
  absl::StatusOr<Table*> FindTable(std::string_view name, const OpenTableOptions& options) override;

  // The functions of Database with these names.
  absl::Status Close() override;

  absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                           const CreateTableOptions& options) override;
  absl::Status DeleteTable(std::string_view name, const CallOptions& options) override;
  absl::StatusOr<Table*> OpenTable(std::string_view name, const OpenTableOptions& options) override;
  absl::StatusOr<std::vector<std::string>> ListTables(const CallOptions& options) override;
  absl::StatusOr<TableSchema> GetSchema(std::string_view table,
                                        const CallOptions& options) override;
  absl::Status ModifyFamilies(std::string_view table, const std::vector<FamilyChange>& changes,
                              const CallOptions& options) override;
  absl::Status SetLocalityGroup(std::string_view table, std::string_view name,
                                const LocalityGroup& group, const CallOptions& options) override;
  absl::Status SetSplitRule(std::string_view table, const SplitRule& rule,
                            const CallOptions& options) override;
  absl::Status SetChangeStream(std::string_view table, const ChangeStreamRule& rule,
                               const CallOptions& options) override;
  absl::Status SetObservers(std::string_view table, const std::vector<std::string>& observers,
                            const CallOptions& options) override;

  absl::Status SetAccessList(std::string_view name, const AccessList& list,
                             const CallOptions& options) override;
  absl::Status DeleteAccessList(std::string_view name, const CallOptions& options) override;
  absl::StatusOr<AccessList> GetAccessList(std::string_view name,
                                           const CallOptions& options) override;
  absl::StatusOr<std::vector<std::string>> ListAccessLists(const CallOptions& options) override;

  absl::Status SetTableQuota(std::string_view table, const Quota& quota,
                             const CallOptions& options) override;
  absl::Status SetCallerQuota(std::string_view caller, const Quota& quota,
                              const CallOptions& options) override;
  absl::StatusOr<Quota> GetTableQuota(std::string_view table, const CallOptions& options) override;
  absl::StatusOr<Quota> GetCallerQuota(std::string_view caller,
                                       const CallOptions& options) override;
  absl::StatusOr<std::map<std::string, Quota>> ListTableQuotas(const CallOptions& options) override;
  absl::StatusOr<std::map<std::string, Quota>> ListCallerQuotas(
      const CallOptions& options) override;

  absl::StatusOr<std::vector<TabletInfo>> ListTablets(std::string_view table,
                                                      const CallOptions& options) override;
  absl::Status SplitTablet(std::string_view table, std::string_view row,
                           const CallOptions& options) override;
  absl::Status MergeTablets(std::string_view table, std::string_view row,
                            const CallOptions& options) override;
  absl::Status MoveTablet(std::string_view table, std::string_view row, int server,
                          const CallOptions& options) override;

  absl::Status Apply(const WriteBatch& batch, const WriteOptions& options) override;
  absl::StatusOr<Transaction> BeginTransaction(const CallOptions& options) override;
  absl::StatusOr<std::shared_ptr<const Snapshot>> TakeSnapshot() override;
  absl::StatusOr<DatabaseHistory> History() override;
  absl::Status Checkpoint(std::string_view directory, const CallOptions& options) override;
  absl::StatusOr<CopiedImage> CopyTo(ImageTarget* target, const CallOptions& options) override;
  absl::Status RestoreTable(RestoredTable table, const CopyOfBackup& copy,
                            const CallOptions& options) override;

  absl::Status Flush(std::string_view table, const CallOptions& options) override;
  absl::Status Compact(std::string_view table, const CallOptions& options) override;
  absl::Status WaitUntilQuiet(const CallOptions& options) override;
  void PauseCompactions() override;
  void ContinueCompactions() override;
  void CancelCompactions() override;
  void SetCompactionRate(uint64_t bytes_per_second) override;

  absl::Status SetOptions(const std::map<std::string, std::string>& values) override;
  std::map<std::string, std::string> ChangeableOptions() const override;
  absl::Status Resume(const CallOptions& options) override;
  DatabaseStatistics Statistics() override;

 private:
  // An opened table, and what it forwards to.
  struct OpenedTable {
    std::unique_ptr<Table> table;
    EmbeddedTable* backend = nullptr;
  };

  explicit EmbeddedDatabase(std::shared_ptr<DatabaseImpl> impl);
  CopyParts OfCopies() const;
  // Flushes the tablets of each server at once, so that small ones write common files. Not those
  // that have no neighbour on their server, or come to it meanwhile.
  using FlushedTablets = std::set<std::shared_ptr<Tablet>>;
  absl::StatusOr<FlushedTablets> FlushTogether(std::string_view table, const CallLimits& limits);
  // After the last call.
  void EndRecording() const;
  // What a table of the database forwards to: `table`, or what records its calls.
  std::shared_ptr<TableBackend> Recorded(std::shared_ptr<TableBackend> table,
                                         const TableLayout& layout) const;
  // Inside the gate: the table has another layout.
  void RecordChange(std::string_view table, const CallLimits& limits) const;
  absl::Status ApplyUnrecorded(const WriteBatch& batch, const WriteOptions& options);
  absl::Status ApplyMeasured(TableMonitor* monitor, const WriteBatch& batch,
                             const WriteOptions& options);

  const std::shared_ptr<DatabaseImpl> impl_;
  const std::shared_ptr<TransactionDomain> domain_;
  Mutex tables_mutex_;
  // By their number and then by their caller. A table that was deleted and created again has
  // another number.
  std::map<uint64_t, std::map<std::optional<std::string>, OpenedTable>> tables_
      ABSL_GUARDED_BY(tables_mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_EMBEDDED_DATABASE_H_
