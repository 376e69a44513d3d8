// The calls of Database that a database which follows another one refuses, since it only reads.
#ifndef BIGTABLE_CLIENT_READ_ONLY_CALLS_H_
#define BIGTABLE_CLIENT_READ_ONLY_CALLS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "backend/database_backend.h"

namespace bigtable {

class ReadOnlyCalls : public DatabaseBackend {
 public:
  absl::Status CreateTable(std::string_view /*name*/, const TableSchema& /*schema*/,
                           const CreateTableOptions& /*options*/) final {
    return Refused();
  }
  absl::Status DeleteTable(std::string_view /*name*/, const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status ModifyFamilies(std::string_view /*table*/,
                              const std::vector<FamilyChange>& /*changes*/,
                              const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status SetLocalityGroup(std::string_view /*table*/, std::string_view /*name*/,
                                const LocalityGroup& /*group*/,
                                const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status SetSplitRule(std::string_view /*table*/, const SplitRule& /*rule*/,
                            const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status SetChangeStream(std::string_view /*table*/, const ChangeStreamRule& /*rule*/,
                               const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status SetObservers(std::string_view /*table*/,
                            const std::vector<std::string>& /*observers*/,
                            const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status SetAccessList(std::string_view /*name*/, const AccessList& /*list*/,
                             const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status DeleteAccessList(std::string_view /*name*/, const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status SetTableQuota(std::string_view /*table*/, const Quota& /*quota*/,
                             const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status SetCallerQuota(std::string_view /*caller*/, const Quota& /*quota*/,
                              const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status SplitTablet(std::string_view /*table*/, std::string_view /*row*/,
                           const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status MergeTablets(std::string_view /*table*/, std::string_view /*row*/,
                            const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status MoveTablet(std::string_view /*table*/, std::string_view /*row*/, int /*server*/,
                          const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status Apply(const WriteBatch& /*batch*/, const WriteOptions& /*options*/) final {
    return Refused();
  }
  absl::Status RestoreTable(RestoredTable /*table*/, const CopyOfBackup& /*copy*/,
                            const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status Flush(std::string_view /*table*/, const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status Compact(std::string_view /*table*/, const CallOptions& /*options*/) final {
    return Refused();
  }
  absl::Status SetOptions(const std::map<std::string, std::string>& /*values*/) final {
    return Refused();
  }
  absl::StatusOr<Transaction> BeginTransaction(const CallOptions& /*options*/) final {
    return absl::FailedPreconditionError(
        "a database that follows another one has no transactions; read at a snapshot");
  }
  void PauseCompactions() final {}
  void ContinueCompactions() final {}
  void CancelCompactions() final {}
  void SetCompactionRate(uint64_t /*bytes_per_second*/) final {}
  std::map<std::string, std::string> ChangeableOptions() const final { return {}; }

 private:
  static absl::Status Refused() {
    return absl::FailedPreconditionError("the database was opened read-only");
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_READ_ONLY_CALLS_H_
