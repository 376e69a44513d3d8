// The master's assignment of tablets that no server has: all of them, when a database is opened,
// and those of a server that has lost its lock (sections 5.2 and 6 of the paper).
//
// A lost server is replaced in these steps:
//  1. its file is locked, and the server is fenced: it never serves again (ServerSet::FenceLost)
//  2. it ends: what it has begun is done, and nothing more is acknowledged. What was is noted in
//     its file. A call on its log that stalls and was left behind (commitlog/commit_log.h) may
//     continue: what it writes is not read
//  3. its log is read, once, and sorted (cluster/dead_log.h)
//  4. its tablets are loaded by other servers, as METADATA and the sorted log have them, and are
//     served as soon as what came from the log is flushed
//  5. the server's file and log are removed
// After an error, or the master's death, it is done again from there, by this master or another
// one; callers that need a tablet of the server wait.
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

#include "base/mutex.h"
#include "base/sequence.h"
#include "cluster/dead_log.h"
#include "cluster/server_directory.h"
#include "cluster/server_host.h"
#include "cluster/server_role.h"
#include "master/master_context.h"
#include "master/table_catalogue.h"
#include "metadata/metadata_format.h"
#include "tablet/table_layout.h"
#include "tablet/tablet_id.h"

namespace bigtable {

// A tablet that no server has.
struct UnassignedTablet {
  std::shared_ptr<const TableLayout> layout;
  TabletId id;
  std::string begin;  // its first row
  uint64_t load = 0;  // as ServerHost::LoadOf, without what each tablet adds
};

// What one server is to load.
struct ServerShare {
  std::shared_ptr<ServerHost> host;
  uint64_t load = 0;
  std::vector<UnassignedTablet> tablets = {};
  absl::Status status = absl::OkStatus();
};

// Thread-safe. One assignment of a role at a time.
class Assignment {
 public:
  // Both outlive this. `is_opening`: until FinishOpening, loading ends with the first tablet that
  // cannot be loaded.
  Assignment(MasterContext* context, TableCatalogue* catalogue, bool is_opening)
      : context_(context), catalogue_(catalogue), is_opening_(is_opening) {}
  Assignment(const Assignment&) = delete;
  Assignment& operator=(const Assignment&) = delete;

  // All tablets of METADATA's role that no server has.
  absl::Status AssignMetadata(ServerRole role);
  // The same of users' tablets.
  absl::Status AssignUsers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  void FinishOpening() { is_opening_ = false; }

  // Has the tablets of lost servers, and others that no server has, loaded by servers. OK if all
  // are served, as far as is known; otherwise why not.
  absl::Status ReplaceLost(ServerRole role);
  // The same of all roles: OK once every tablet is served.
  absl::Status ReplaceAll();

  // Distributes tablets so that each server has about as much. Unavailable if no server has its
  // lock.
  absl::StatusOr<std::vector<ServerShare>> Distribute(
      ServerRole role, const std::vector<UnassignedTablet>& tablets) const;
  // Has each server load its share, with what `logs` have of it.
  absl::Status LoadAll(std::vector<ServerShare> shares, const std::vector<DeadLog*>& logs);
  // A user's tablet could not be loaded: it is looked for again.
  void NoteUnserved() ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex()) {
    is_assigned_[static_cast<size_t>(ServerRole::kUser)] = false;
  }

  // Keeps a tablet from being loaded by others until EndMove. False: it is being moved or loaded.
  [[nodiscard]] bool BeginMove(const TabletId& id);
  void EndMove(const TabletId& id);

 private:
  // What is known to have been durable in the logs of servers, by their names.
  using Reach = std::map<std::string, SequenceNumber>;

  Mutex* MutexOf(ServerRole role);
  bool* IsAssigned(ServerRole role) { return &is_assigned_[static_cast<size_t>(role)]; }

  // These with the role's mutex.
  absl::Status Assign(ServerRole role);
  absl::Status AssignIfDue(ServerRole role);
  absl::Status EndLost(ServerRole role, ServerDirectory* servers);
  absl::StatusOr<std::vector<UnassignedTablet>> FindUnassigned(ServerRole role, Reach* must_reach);
  absl::StatusOr<std::vector<TabletState>> ReadTablets(ServerRole role, const TableLayout& layout);
  absl::Status AddFirstMetadataTablet();
  absl::StatusOr<std::vector<std::unique_ptr<DeadLog>>> ReadLogs(
      const std::vector<std::string>& dead, bool are_loaded, const Reach& must_reach,
      ServerDirectory* servers);
  absl::StatusOr<std::unique_ptr<DeadLog>> ReadLog(const std::string& server, bool must_exist,
                                                   SequenceNumber last, const Reach& must_reach);
  absl::Status RemoveDead(ServerRole role, const std::vector<std::string>& dead,
                          ServerDirectory* servers);

  absl::Status LoadOne(ServerHost* host, const UnassignedTablet& tablet,
                       const std::vector<DeadLog*>& logs);
  // On the host, or else on the server that METADATA names: a tablet that returns there needs no
  // change of METADATA, which may be what has failed.
  absl::Status LoadSomewhere(ServerHost* host, const UnassignedTablet& tablet,
                             const std::vector<DeadLog*>& logs);
  bool IsServed(const UnassignedTablet& tablet) const;

  MasterContext* const context_;
  TableCatalogue* const catalogue_;
  const std::shared_ptr<const TableLayout> metadata_layout_ =
      std::make_shared<const TableLayout>(MetadataLayout());
  std::atomic<bool> is_opening_;

  // Of METADATA's roles; for users' tablets it is the catalogue's change_mutex.
  std::array<Mutex, kMetadataRoles.size()> metadata_mutexes_;
  // Whether every tablet of a role has a server, as far as is known; each with its role's mutex.
  std::array<bool, kServerRoles.size()> is_assigned_ = {};

  mutable Mutex mutex_;
  // Tablets that are being moved or loaded.
  std::set<TabletId> moving_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_ASSIGNMENT_H_
