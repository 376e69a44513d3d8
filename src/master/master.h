// The master: decides which server has which tablet, has tablets of servers that are lost served by
// others, splits, moves and merges tablets, and creates, changes and deletes tables (section 5.2 of
// the paper). It is on the way of no read and no write, and keeps nothing that it could not find
// again: schemas are in the lock service, tablets in METADATA, and which server has which tablet
// the servers know. So a master may die at any point; the next one goes through these steps:
//
//  1. it takes the lock that makes it the only one (master_lock.h)
//  2. it finds the servers
//  3. it asks each which tablets it has; from then on the server listens to no earlier master
//  4. it looks for tablets in METADATA that no server has, and has them loaded
//
// Steps 3 and 4 are done for METADATA's root tablet first, then for METADATA's other tablets, which
// are found there, and then for users' tablets (cluster/server_role.h). As soon as a role's tablets
// are assigned, a thread looks after its servers, and never waits for those of the roles behind it:
// so whatever waits for a server of METADATA, the thread that replaces it does not. The first one
// of a process finds that no server has any tablet, and the logs of all servers that there were:
// opening a database is step 4 with all tablets. Each step that others can see is a file of the
// lock service, a mutation of METADATA, or a command to a server (cluster/server_host.h), whole or
// not at all; and before each the master looks whether it has its lock.
#ifndef BIGTABLE_MASTER_MASTER_H_
#define BIGTABLE_MASTER_MASTER_H_

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/event_listener.h"
#include "bigtable/schema.h"
#include "bigtable/tablet_info.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "cluster/cluster.h"
#include "cluster/dead_log.h"
#include "cluster/server_directory.h"
#include "cluster/server_role.h"
#include "master/balancer.h"
#include "master/master_lock.h"
#include "master/schema_store.h"
#include "tablet/table_layout.h"
#include "tabletserver/access_list_store.h"

namespace bigtable {

// Thread-safe.
class Master {
 public:
  struct Options {
    // The first one of its process: files that no tablet names are swept.
    bool opening = false;
    // For tests: called before each step.
    std::function<void()> on_step;
  };

  // The first step. Unavailable if another master has the lock. `cluster` outlives it.
  static absl::StatusOr<std::shared_ptr<Master>> Create(Cluster* cluster, Options options);
  // The others. Meanwhile somebody has to call ServerSet::FenceLost: a command of an earlier
  // master to a server that is lost is done only after that, and until then that server does not
  // answer.
  absl::Status Begin();
  ~Master();
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;

  // Its threads begin: until then it looks after nothing by itself.
  absl::Status StartThreads();
  // They end. The threads that look after lost servers go on until FinishThreads: the other may
  // wait for them. Those of METADATA's servers go on until the destructor.
  void StopThreads();
  // They are to end; does not wait for it.
  void BeginStopThreads();
  void FinishThreads();

  // False: it has given up, or lost its lock, and another is to take its place.
  bool active() const { return lock_->held(); }
  MasterEpoch epoch() const { return lock_->epoch(); }

  // --- Tables (tables.cc) ---

  // With tablets that begin at `split_rows`, and one before.
  absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                           const std::vector<std::string>& split_rows);
  absl::Status DeleteTable(std::string_view name);
  // Replaces the schema by what `change` makes of it.
  absl::Status ChangeTable(std::string_view name,
                           absl::FunctionRef<absl::Status(TableLayout*)> change);
  // Takes the place of the one with this name. They are checked by the caller.
  absl::Status SetAccessList(std::string_view name, const AccessList& list);
  // FailedPrecondition while a family has it.
  absl::Status DeleteAccessList(std::string_view name);
  // A number that no table and no family had: larger than every sequence number so far.
  SequenceNumber TakeSequence() { return cluster_->environment()->sequences.Take(1); }
  absl::Status Resume();

  // --- Tablets (tablet_changes.cc); reads and writes go on meanwhile ---

  // Splits the tablet that has `row` there. AlreadyExists if a tablet begins with it.
  absl::Status SplitTablet(std::string_view table, std::string_view row, const CallLimits& limits);
  // Merges the tablet that begins with `row` and the one before it. NotFound if none does.
  absl::Status MergeTablets(std::string_view table, std::string_view row, const CallLimits& limits);
  // Has the tablet with `row` served by the server with this number, from 0.
  absl::Status MoveTablet(std::string_view table, std::string_view row, int server,
                          const CallLimits& limits);
  absl::StatusOr<std::vector<TabletInfo>> Tablets(std::string_view table);

  // --- Upkeep (upkeep.cc) ---

  // Splits and merges what the tables' rules ask for; says whether there was anything. No split or
  // merge waits longer than half a minute for tablets that are not served.
  bool ChangeTablets(const CallLimits& limits);
  // Removes SSTables that no tablet names, and none will: those of work that has failed, and what
  // could not be removed when it was let go (sweep.cc). Errors of METADATA's server, and of files.
  absl::Status SweepFiles();
  // There may be something to do.
  void Wake();
  // What keeps tablets from being assigned may be over: no pause is waited for.
  void AssignNow();
  // Has the tablets of lost servers, and others that nobody serves, loaded by servers. OK if all
  // are served, as far as is known; otherwise why not.
  absl::Status ReplaceLostServers(ServerRole role = ServerRole::kUser);
  // After the threads have ended: OK once every tablet is served.
  absl::Status ReplaceAll();

 private:
  // What is known to have been durable in the logs of servers, by their names.
  using Reach = std::map<std::string, SequenceNumber>;
  // A tablet that no server has.
  struct Unassigned {
    const TableLayout* layout;
    TabletId id;
    std::string begin;  // its first row
    uint64_t load;
  };
  // What one server is to load.
  struct Share {
    std::shared_ptr<ServerHost> host;
    uint64_t load;
    std::vector<Unassigned> tablets;
    absl::Status status;
  };

  Master(Cluster* cluster, Options options, std::unique_ptr<MasterLock> lock);

  // Before each step.
  absl::Status Step() { return lock_->Step(); }
  // The caller's limits, and the master's end.
  CallLimits WithEnd(CallLimits limits) const;

  // Starting, and what any of its calls needs.
  absl::Status AcceptByServers(ServerRole role);
  // Steps 3 and 4 for METADATA's tablets of one role.
  absl::Status BeginRole(ServerRole role);
  // Whether an error keeps it from going on: a later master must begin to be able to do something
  // about a server that was lost, which is in the way until one is there that replaces it.
  bool IsFatal(const absl::Status& assigned) const {
    return !assigned.ok() && (options_.opening || !active());
  }
  absl::Status ReadTables() ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  // What an earlier master has begun: deletions and changes of schemas, and creations.
  absl::Status FinishChanges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  // After an opening (sweep.cc): what earlier processes have left.
  absl::Status SweepLeftovers();
  void NoteStray(std::string_view path);
  absl::StatusOr<TableLayout> FindTable(std::string_view name) const;
  // NotFound: a list that a family is to have, and did not have.
  absl::Status CheckAccessLists(const TableLayout* before, const TableLayout& layout) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  absl::StatusOr<uint64_t> FindTableId(std::string_view name) const;

  // Tables.
  absl::Status DropTablets(uint64_t table_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  // Brings the lock service back to the schema that is served, after a change that may or may not
  // have reached it. If it cannot, writes are refused until Resume() succeeds with it. Says
  // whether it could.
  bool RestoreSchema(const TableLayout& layout) ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  void RefuseWrites(const absl::Status& status);
  // The schema that a table has from now on, for all who serve its tablets.
  absl::Status Distribute(const TableLayout& layout) ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  // Puts the rules of `layout` that are other than before at a point in the order of all mutations,
  // and has nothing collected by them until `layout` is distributed.
  absl::Status ChangeRules(const TableLayout& before, TableLayout* layout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  void TellOfTable(void (EventListener::*function)(const TableEvent&), std::string_view table);

  // Assignment (assignment.cc).
  // All tablets of a role that no server has. With the role's mutex.
  absl::Status Assign(ServerRole role);
  // The same of users', noting what became of it.
  absl::Status AssignUsers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  absl::StatusOr<std::vector<Unassigned>> FindUnassigned(ServerRole role, Reach* must_reach);
  absl::StatusOr<std::vector<TabletState>> ReadTablets(ServerRole role, const TableLayout& layout);
  absl::Status AddFirstMetadataTablet();
  // The same of one role, with its mutex.
  absl::Status AssignIfDue(ServerRole role, bool* is_assigned);
  absl::StatusOr<std::unique_ptr<DeadLog>> ReadLog(const std::string& server, bool must_exist,
                                                   SequenceNumber last, const Reach& must_reach);
  // So that each server has about as much. Unavailable if no server has its lock.
  absl::StatusOr<std::vector<Share>> Distribute(ServerRole role,
                                                const std::vector<Unassigned>& tablets) const;
  absl::Status LoadAll(std::vector<Share> shares, const std::vector<DeadLog*>& logs);
  absl::Status LoadOne(ServerHost* host, const Unassigned& tablet,
                       const std::vector<DeadLog*>& logs);
  // On the host, or else on the server that METADATA names: to be there again a tablet needs
  // nothing of METADATA, which may be what has failed.
  absl::Status LoadSomewhere(ServerHost* host, const Unassigned& tablet,
                             const std::vector<DeadLog*>& logs);
  bool IsServed(const Unassigned& tablet) const;

  // Tablets.
  // The tablet that has `row`; waits until it is served.
  absl::StatusOr<HostedTablet> AwaitTablet(uint64_t table_id, std::string_view row,
                                           const CallLimits& limits);
  absl::StatusOr<std::vector<HostedTablet>> AwaitTablets(uint64_t table_id,
                                                         const CallLimits& limits);
  // NotFound: the table was deleted.
  absl::Status CheckThere(uint64_t table_id) const;
  // Before the caller looks for a tablet again.
  absl::Status WaitALittle(const CallLimits& limits);
  // The same for one that waits for the tablet with `row`, which nobody serves. Errors name it and
  // the reason. Unavailable: to load it has failed for so long that nobody should wait.
  absl::Status WaitForTablet(uint64_t table_id, std::string_view row, const CallLimits& limits);
  absl::Status Move(std::string_view table, const HostedTablet& from, ServerHost* to,
                    const CallLimits& limits);
  std::optional<int> NumberOf(const ServerHost& host) const;

  // Upkeep.
  void UpkeepLoop();
  void LivenessLoop(ServerRole role);
  void EndLiveness(ServerRole role, std::thread* thread);
  bool IsStopping() const;
  void Sweep();
  bool SplitLarge(const TableLayout& layout, const CallLimits& limits);
  // METADATA's.
  bool SplitLargeMetadata(const CallLimits& limits);
  bool MergeSmall(const TableLayout& layout, const CallLimits& limits);
  // Moves a tablet from the server with most to do to the one with least, if that is worth it.
  void Balance() ABSL_LOCKS_EXCLUDED(mutex_);
  // Where a tablet that is too large is to be split, if it can be.
  std::optional<std::string> RowToSplitAt(const SplitRule& rule, const Tablet& tablet);

  Cluster* const cluster_;
  const Options options_;
  const bool read_only_;
  const std::unique_ptr<MasterLock> lock_;
  SchemaStore schemas_;
  AccessListStore access_lists_;
  InfoLog* const info_log_;

  // One change of tables, or assignment of tablets, at a time. Before mutex_.
  mutable Mutex schema_mutex_;
  bool is_assigned_ ABSL_GUARDED_BY(schema_mutex_) = false;  // every tablet, as far as is known

  // Of a role of METADATA's.
  struct MetadataPart {
    Mutex mutex;  // one assignment at a time; nothing else waits with it
    bool is_assigned ABSL_GUARDED_BY(mutex) = false;
    std::thread liveness;
  };
  MetadataPart* PartOf(ServerRole role) { return &metadata_parts_[static_cast<size_t>(role)]; }
  std::array<MetadataPart, kMetadataRoles.size()> metadata_parts_;
  const TableLayout metadata_layout_ = MetadataLayout();

  mutable Mutex mutex_;
  // Until Begin has assigned all tablets, which is to fail then if one cannot be loaded.
  std::atomic<bool> is_opening_;
  std::map<std::string, TableLayout, std::less<>> tables_ ABSL_GUARDED_BY(mutex_);
  // Tablets that are on their way from one server to another, or being loaded.
  std::set<TabletId> moving_ ABSL_GUARDED_BY(mutex_);
  // Of the tablets that are too large and cannot be split: their bytes when that was found.
  std::map<TabletId, uint64_t> unsplittable_ ABSL_GUARDED_BY(mutex_);

  // Of the master's threads.
  mutable Mutex upkeep_mutex_;
  CondVar upkeep_changed_;
  bool upkeep_due_ ABSL_GUARDED_BY(upkeep_mutex_) = false;
  std::array<bool, kServerRoles.size()> liveness_due_ ABSL_GUARDED_BY(upkeep_mutex_) = {};
  std::array<bool, kServerRoles.size()> liveness_now_ ABSL_GUARDED_BY(upkeep_mutex_) = {};
  bool stopping_ ABSL_GUARDED_BY(upkeep_mutex_) = false;
  std::array<bool, kServerRoles.size()> liveness_stopping_ ABSL_GUARDED_BY(upkeep_mutex_) = {};
  std::thread upkeep_, liveness_;
  Balancer balancer_;  // the upkeep thread's
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_H_
