// The methods of backups. Each takes its request, and returns its response or an error. A backup is
// one of the engine's, of one table (backup_text.h); of the engine's backups others are not seen.
//
// What copies data runs on the thread of operations, one after the other. Until a new backup is
// done, it is CREATING, which is known in memory alone: a server that ends or dies has not made it.
#ifndef BIGTABLE_SERVER_ADMIN_BACKUPS_H_
#define BIGTABLE_SERVER_ADMIN_BACKUPS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.pb.h"
#include "google/longrunning/operations.pb.h"

#include "bigtable/backup_engine.h"
#include "bigtable/call_options.h"

#include "server/admin/admin_parts.h"
#include "server/admin/operation_store.h"
#include "server/admin/operation_thread.h"
#include "server/text/resource_name.h"

namespace bigtable::server {

// Thread-safe. Every method returns FAILED_PRECONDITION if the parts have no engine of backups.
class Backups {
 public:
  // The error of a method as its client may see it.
  using ToClient = std::function<absl::Status(std::string_view method, const absl::Status& error)>;

  // The parts outlive this. Throws std::system_error: the system has no thread.
  Backups(const AdminParts* parts, ToClient to_client);
  // End, if it was not called.
  ~Backups();
  Backups(const Backups&) = delete;
  Backups& operator=(const Backups&) = delete;

  absl::StatusOr<google::longrunning::Operation> Create(const admin::CreateBackupRequest& request);
  absl::StatusOr<admin::Backup> Get(const admin::GetBackupRequest& request) const;
  absl::StatusOr<admin::ListBackupsResponse> List(const admin::ListBackupsRequest& request) const;
  // Only when it expires.
  absl::StatusOr<admin::Backup> Update(const admin::UpdateBackupRequest& request,
                                       const CallOptions& options);
  absl::Status Delete(const admin::DeleteBackupRequest& request, const CallOptions& options);
  absl::StatusOr<google::longrunning::Operation> Restore(const admin::RestoreTableRequest& request);
  absl::StatusOr<google::longrunning::Operation> Copy(const admin::CopyBackupRequest& request);

  // Cancels the operations, and waits for their end. Afterwards there are no new ones.
  void End();

 private:
  // A backup that is there, with its number in the engine.
  struct Found {
    uint64_t id = 0;
    admin::Backup backup;
  };
  using Message = google::protobuf::Message;
  using Made = absl::StatusOr<std::unique_ptr<Message>>;
  // A long operation.
  struct Work {
    std::string method;
    std::string resource;
    std::shared_ptr<Message> metadata;
    // Called by the thread of operations. The response.
    std::function<Made(const std::string& operation, const Cancellation* cancellation)> run;
    // Sets the time at which it has ended in the metadata.
    std::function<void()> set_end;
  };

  absl::Status CheckEngine() const;
  // NOT_FOUND: the instance has no such cluster.
  absl::Status CheckCluster(const ClusterName& name) const;
  // Those that have not expired, by name.
  absl::StatusOr<std::map<std::string, Found>> All() const;
  // NOT_FOUND; FAILED_PRECONDITION: it is being created.
  absl::StatusOr<Found> FindReady(std::string_view name) const;
  std::map<std::string, admin::Backup> Creating() const;
  // ALREADY_EXISTS; otherwise its name is taken until Forget.
  absl::Status Reserve(const admin::Backup& backup);
  void Forget(const std::string& name);
  absl::StatusOr<google::longrunning::Operation> Begin(Work work);
  // Copies the table of a backup that is there into a new one.
  Made RestoreTo(const KnownTable& table, const Found& found, const Cancellation* cancellation,
                 const std::function<void(int percent)>& on_progress) const;
  // Within the deadline of the call, and for a bounded time: UNAVAILABLE if an operation takes
  // longer.
  absl::Status Briefly(const CallOptions& options,
                       const std::function<absl::Status(const CallOptions& options)>& call) const;
  void DeleteExpired();

  const AdminParts& parts_;
  const ToClient to_client_;
  mutable std::mutex mutex_;
  std::map<std::string, admin::Backup> creating_;  // by name
  // Of operations that are not done, by their names.
  std::map<std::string, std::shared_ptr<Cancellation>> running_;
  std::unique_ptr<OperationThread> thread_;  // null: there is no engine
};

// FAILED_PRECONDITION: the instance or cluster has backups that are done.
absl::Status CheckHasNoBackups(const AdminParts& parts, std::string_view name);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_BACKUPS_H_
