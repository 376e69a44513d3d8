// Assigns the tablets that no server has to servers: all tablets when a database is opened, and the
// tablets of a server that has lost its lock (sections 5.2 and 6 of the paper).
//
// A lost server is replaced in these steps:
//  1. Its file is locked, and the server is fenced: it never serves again (ServerSet::FenceLost).
//  2. The server ends: what it has begun is finished, and it acknowledges nothing more. Its last
//     acknowledged sequence number is noted in its file. A stalled call on its log that was
//     abandoned (commitlog/commit_log.h) may continue; what it writes is not read.
//  3. Its log is made durable, and read once and sorted (recovery/dead_log.h). A log that cannot be
//     synced is replaced by a copy.
//  4. Other servers load its tablets from METADATA and the sorted log. Each tablet is served as
//     soon as its mutations from the log are flushed.
//  5. The server's file gets the note that the log is not needed. Then both are removed.
// After an error, or the death of the master, this master or another one continues from the failed
// step. Callers that need a tablet of the server wait.
#ifndef BIGTABLE_MASTER_ASSIGNMENT_H_
#define BIGTABLE_MASTER_ASSIGNMENT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/memory_budget.h"
#include "bigtable/options.h"

#include "base/mutex.h"
#include "base/sequence.h"
#include "cluster/coordination.h"
#include "cluster/server_directory.h"
#include "cluster/server_host.h"
#include "cluster/server_role.h"
#include "cluster/storage.h"
#include "commit/batch_log_sync.h"
#include "commit/void_batches.h"
#include "master/master_context.h"
#include "master/table_catalogue.h"
#include "metadata/metadata_format.h"
#include "recovery/dead_log.h"
#include "schema/table_layout.h"
#include "tablet/tablet_id.h"

namespace bigtable {

// A tablet that no server has.
struct UnassignedTablet {
  std::shared_ptr<const TableLayout> layout;
  TabletId id;
  std::string begin;  // its first row
  uint64_t load = 0;  // as ServerHost::LoadOf, without the constant for each tablet
};

// The tablets that one server is to load.
struct ServerShare {
  std::shared_ptr<ServerHost> host;
  uint64_t load = 0;
  std::vector<UnassignedTablet> tablets = {};
  absl::Status status = absl::OkStatus();
};

// Thread-safe. One assignment of a role at a time.
class Assignment {
 public:
  // Parts of the cluster.
  struct Parts {
    const ClusterStorage* storage = nullptr;
    const ClusterCoordination* coordination = nullptr;
    SequenceSource* sequences = nullptr;
    BatchLogSync* batch_log_sync = nullptr;
    VoidBatches* void_batches = nullptr;
    const MemoryBudget* budget = nullptr;                            // for sorting logs
    FileSystem::ReadMode read_mode = FileSystem::ReadMode::kMapped;  // of logs
  };

  // All outlive this. `is_opening`: until FinishOpening, loading stops at the first tablet that
  // cannot be loaded.
  Assignment(const Parts& parts, MasterContext* context, TableCatalogue* catalogue, bool is_opening)
      : parts_(parts), context_(context), catalogue_(catalogue), is_opening_(is_opening) {}
  Assignment(const Assignment&) = delete;
  Assignment& operator=(const Assignment&) = delete;

  // Assigns all tablets of a METADATA role that no server has.
  absl::Status AssignMetadata(ServerRole role);
  // The same for users' tablets.
  absl::Status AssignUsers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  void FinishOpening() { is_opening_ = false; }

  // Assigns the tablets of lost servers, and other tablets that no server has. OK if all are
  // served, as far as is known; otherwise the error.
  absl::Status ReplaceLost(ServerRole role);
  // The same for all roles: OK once every tablet is served.
  absl::Status ReplaceAll();

  // Distributes tablets so that the servers have about the same load. Unavailable if no server has
  // its lock.
  absl::StatusOr<std::vector<ServerShare>> Distribute(
      ServerRole role, const std::vector<UnassignedTablet>& tablets) const;
  // Makes each server load its share, with the mutations that `logs` have for it.
  absl::Status LoadAll(std::vector<ServerShare> shares, const std::vector<DeadLog*>& logs);
  // A user's tablet could not be loaded: the next assignment looks for it again.
  void MarkUnassigned() ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex()) {
    is_assigned_[static_cast<size_t>(ServerRole::kUser)] = false;
  }

  // Prevents others from loading the tablet until EndMove. False: it is being moved or loaded.
  [[nodiscard]] bool BeginMove(const TabletId& id);
  void EndMove(const TabletId& id);

 private:
  // For an opening, if a table has a change stream.
  void LeaveOutLostNumbers();
  // What the redo points of METADATA say of a server's mutations.
  struct RedoneThrough {
    SequenceNumber log_synced = 0;  // up to this one its log is durable
    SequenceNumber flushed = 0;     // up to this one they are in SSTables, or in the durable log
  };
  using Reach = std::map<std::string, RedoneThrough>;  // by server name

  Mutex* MutexOf(ServerRole role);
  bool* IsAssigned(ServerRole role) { return &is_assigned_[static_cast<size_t>(role)]; }

  // Call these with the role's mutex held.
  absl::Status Assign(ServerRole role);
  absl::Status AssignIfDue(ServerRole role);
  absl::Status EndLost(ServerRole role, ServerDirectory* servers);
  absl::StatusOr<std::vector<UnassignedTablet>> FindUnassigned(ServerRole role, Reach* must_reach);
  absl::StatusOr<std::vector<TabletState>> ReadTablets(ServerRole role, const TableLayout& layout);
  absl::Status AddFirstMetadataTablet();
  absl::StatusOr<std::vector<std::unique_ptr<DeadLog>>> ReadLogs(
      const std::vector<std::string>& dead, bool are_loaded, const Reach& must_reach,
      ServerDirectory* servers);
  // Makes the log of a server that has ended survive a crash of the machine as it is.
  absl::Status SecureLog(const std::string& server);
  // Lets logs end before batches that are not whole, durably.
  absl::Status EndIncompleteBatches(const std::vector<std::unique_ptr<DeadLog>>& logs,
                                    const Reach& must_reach, ServerDirectory* servers);
  absl::StatusOr<std::unique_ptr<DeadLog>> ReadLog(const std::string& server, bool must_exist,
                                                   const ServerRecord& record,
                                                   const Reach& must_reach);
  absl::Status RemoveDead(ServerRole role, const std::vector<std::string>& dead,
                          ServerDirectory* servers);
  // Nothing in the log of a server that has ended is needed. That is durable before servers of this
  // process stop to wait for the log to be synced (commit/batch_log_sync.h): until then an
  // opening would read it, and end other logs before batches whose parts are missing in it.
  absl::Status EndLog(const std::string& server, ServerDirectory* servers);

  absl::Status LoadOne(ServerHost* host, const UnassignedTablet& tablet,
                       const std::vector<DeadLog*>& logs);
  // Loads the tablet on the host, or else on the server that METADATA names. A tablet that returns
  // there needs no change of METADATA, which may be what has failed.
  absl::Status LoadSomewhere(ServerHost* host, const UnassignedTablet& tablet,
                             const std::vector<DeadLog*>& logs);
  bool IsServed(const UnassignedTablet& tablet) const;

  const Parts parts_;
  MasterContext* const context_;
  TableCatalogue* const catalogue_;
  const std::shared_ptr<const TableLayout> metadata_layout_ =
      std::make_shared<const TableLayout>(MetadataLayout());
  std::atomic<bool> is_opening_;

  // For METADATA's roles. For users' tablets it is the catalogue's change_mutex.
  std::array<Mutex, kMetadataRoles.size()> metadata_mutexes_;
  // Whether every tablet of a role has a server, as far as is known. Guarded by the role's mutex.
  std::array<bool, kServerRoles.size()> is_assigned_ = {};

  mutable Mutex mutex_;
  // Tablets that are being moved or loaded.
  std::set<TabletId> moving_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_ASSIGNMENT_H_
