// The calls of a Database that no service has: each returns NotConnectedError, or does nothing.
#ifndef BIGTABLE_CONNECTED_EMBEDDED_ONLY_CALLS_H_
#define BIGTABLE_CONNECTED_EMBEDDED_ONLY_CALLS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/access_list.h"
#include "bigtable/options.h"
#include "bigtable/quota.h"
#include "bigtable/schema.h"
#include "bigtable/snapshot.h"
#include "bigtable/statistics.h"
#include "bigtable/tablet_info.h"
#include "bigtable/transaction.h"

#include "backend/database_backend.h"
#include "connected/not_connected.h"

namespace bigtable {

class EmbeddedOnlyCalls : public DatabaseBackend {
 public:
  absl::Status SetLocalityGroup(std::string_view /*table*/, std::string_view /*name*/,
                                const LocalityGroup& /*group*/,
                                const CallOptions& /*options*/) final {
    return NotConnectedError("Database::SetLocalityGroup");
  }
  absl::Status SetSplitRule(std::string_view /*table*/, const SplitRule& /*rule*/,
                            const CallOptions& /*options*/) final {
    return NotConnectedError("Database::SetSplitRule");
  }
  absl::Status SetChangeStream(std::string_view /*table*/, const ChangeStreamRule& /*rule*/,
                               const CallOptions& /*options*/) final {
    return NotConnectedError("Database::SetChangeStream");
  }
  absl::Status SetObservers(std::string_view /*table*/,
                            const std::vector<std::string>& /*observers*/,
                            const CallOptions& /*options*/) final {
    return NotConnectedError("Database::SetObservers");
  }
  absl::Status SetAccessList(std::string_view /*name*/, const AccessList& /*list*/,
                             const CallOptions& /*options*/) final {
    return NotConnectedError("Database::SetAccessList");
  }
  absl::Status DeleteAccessList(std::string_view /*name*/, const CallOptions& /*options*/) final {
    return NotConnectedError("Database::DeleteAccessList");
  }
  absl::StatusOr<AccessList> GetAccessList(std::string_view /*name*/,
                                           const CallOptions& /*options*/) final {
    return NotConnectedError("Database::GetAccessList");
  }
  absl::StatusOr<std::vector<std::string>> ListAccessLists(const CallOptions& /*options*/) final {
    return NotConnectedError("Database::ListAccessLists");
  }
  absl::Status SetTableQuota(std::string_view /*table*/, const Quota& /*quota*/,
                             const CallOptions& /*options*/) final {
    return NotConnectedError("Database::SetTableQuota");
  }
  absl::Status SetCallerQuota(std::string_view /*caller*/, const Quota& /*quota*/,
                              const CallOptions& /*options*/) final {
    return NotConnectedError("Database::SetCallerQuota");
  }
  absl::StatusOr<Quota> GetTableQuota(std::string_view /*table*/,
                                      const CallOptions& /*options*/) final {
    return NotConnectedError("Database::GetTableQuota");
  }
  absl::StatusOr<Quota> GetCallerQuota(std::string_view /*caller*/,
                                       const CallOptions& /*options*/) final {
    return NotConnectedError("Database::GetCallerQuota");
  }
  absl::StatusOr<std::map<std::string, Quota>> ListTableQuotas(
      const CallOptions& /*options*/) final {
    return NotConnectedError("Database::ListTableQuotas");
  }
  absl::StatusOr<std::map<std::string, Quota>> ListCallerQuotas(
      const CallOptions& /*options*/) final {
    return NotConnectedError("Database::ListCallerQuotas");
  }
  absl::StatusOr<std::vector<TabletInfo>> ListTablets(std::string_view /*table*/,
                                                      const CallOptions& /*options*/) final {
    return NotConnectedError("Database::ListTablets");
  }
  absl::Status SplitTablet(std::string_view /*table*/, std::string_view /*row*/,
                           const CallOptions& /*options*/) final {
    return NotConnectedError("Database::SplitTablet");
  }
  absl::Status MergeTablets(std::string_view /*table*/, std::string_view /*row*/,
                            const CallOptions& /*options*/) final {
    return NotConnectedError("Database::MergeTablets");
  }
  absl::Status MoveTablet(std::string_view /*table*/, std::string_view /*row*/, int /*server*/,
                          const CallOptions& /*options*/) final {
    return NotConnectedError("Database::MoveTablet");
  }
  absl::StatusOr<Transaction> BeginTransaction(const CallOptions& /*options*/) final {
    return NotConnectedError("Database::BeginTransaction");
  }
  absl::StatusOr<std::shared_ptr<const Snapshot>> TakeSnapshot() final {
    return NotConnectedError("Database::TakeSnapshot");
  }
  absl::StatusOr<DatabaseHistory> History() final { return NotConnectedError("Follower::Open"); }
  absl::Status Checkpoint(std::string_view /*directory*/, const CallOptions& /*options*/) final {
    return NotConnectedError("Database::Checkpoint");
  }
  absl::StatusOr<CopiedImage> CopyTo(ImageTarget* /*target*/,
                                     const CallOptions& /*options*/) final {
    return NotConnectedError("BackupEngine::Create");
  }
  absl::Status RestoreTable(RestoredTable /*table*/, const CopyOfBackup& /*copy*/,
                            const CallOptions& /*options*/) final {
    return NotConnectedError("BackupEngine::RestoreTable");
  }
  absl::Status Flush(std::string_view /*table*/, const CallOptions& /*options*/) final {
    return NotConnectedError("Database::Flush");
  }
  absl::Status Compact(std::string_view /*table*/, const CallOptions& /*options*/) final {
    return NotConnectedError("Database::Compact");
  }
  absl::Status WaitUntilQuiet(const CallOptions& /*options*/) final {
    return NotConnectedError("Database::WaitUntilQuiet");
  }
  absl::Status SetOptions(const std::map<std::string, std::string>& /*values*/) final {
    return NotConnectedError("Database::SetOptions");
  }

  void PauseCompactions() final {}
  void ContinueCompactions() final {}
  void CancelCompactions() final {}
  void SetCompactionRate(uint64_t /*bytes_per_second*/) final {}
  std::map<std::string, std::string> ChangeableOptions() const final { return {}; }
  DatabaseStatistics Statistics() final {
    DatabaseStatistics none;
    none.background_error = NotConnectedError("Database::Statistics");
    return none;
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_CONNECTED_EMBEDDED_ONLY_CALLS_H_
