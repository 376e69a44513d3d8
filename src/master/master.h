// The master: opens a database, takes over what earlier tablet servers left behind, creates and
// deletes tables and changes their schemas, splits, moves and merges tablets, and sweeps files that
// nothing names (section 5.2 of the paper). It is never on the way of a read or a write.
//
// Opening:
//  1. lock the directory; create it if need be: the last step is the file "root"
//  2. METADATA: its state from "root", then the logs of earlier METADATA servers
//  3. each table: its schema from the lock service, its state from METADATA
//  4. the logs of earlier user servers
//  5. sweep the SSTables and logs that nothing names
//
// What is replayed is written out to SSTables at once, and only then is the old server's file
// removed, and then its log: so a crash at any point leaves everything to be done again.
// A read-only opening does the same without writing: what is replayed stays in memory.
#ifndef BIGTABLE_MASTER_MASTER_H_
#define BIGTABLE_MASTER_MASTER_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/options.h"
#include "bigtable/schema.h"
#include "bigtable/statistics.h"
#include "bigtable/tablet_info.h"

#include "base/call_gate.h"
#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "base/sequence.h"
#include "compaction/rate_limiter.h"
#include "lockservice/local_lock_service.h"
#include "lockservice/small_files.h"
#include "master/directory.h"
#include "master/schema_store.h"
#include "master/server_directory.h"
#include "master/shared_files.h"
#include "master/table_route.h"
#include "metadata/metadata_table.h"
#include "metadata/root_tablet.h"
#include "monitoring/listener_queue.h"
#include "tablet/snapshot_list.h"
#include "tabletserver/background_work.h"
#include "tabletserver/tablet_server.h"
#include "tabletserver/write_controller.h"

namespace bigtable {

// Thread-safe once started.
class Master {
 public:
  // `options` were checked and completed: file_system, clock and shared_memory_budget are set.
  // Calls look at a table's route only inside `gate`, which outlives the master.
  static absl::StatusOr<std::unique_ptr<Master>> Start(std::string_view path,
                                                       const DatabaseOptions& options,
                                                       CallGate* gate);
  ~Master();

  // Writes everything out and ends the logs, so that the next opening finds none. No call may be
  // under way. The directory stays locked until the destructor.
  absl::Status Shutdown();

  // --- Tables ---

  // With tablets that begin at `split_rows`, and one before.
  absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                           const std::vector<std::string>& split_rows);
  absl::Status DeleteTable(std::string_view name);
  // Replaces the schema by what `change` makes of it.
  absl::Status ChangeTable(std::string_view name,
                           absl::FunctionRef<absl::Status(TableLayout*)> change);
  // NotFound.
  absl::StatusOr<std::shared_ptr<TableRoute>> FindTable(std::string_view name) const;
  std::vector<std::string> TableNames() const;
  // Larger than every sequence number so far.
  SequenceNumber TakeSequence() { return sequences_.Take(1); }

  // --- Tablets (tablet_changes.cc); reads and writes go on meanwhile ---

  // Splits the tablet that has `row` there. AlreadyExists if a tablet begins with it.
  absl::Status SplitTablet(std::string_view table, std::string_view row, const CallLimits& limits);
  // Merges the tablet that begins with `row` and the one before it. NotFound if none does.
  absl::Status MergeTablets(std::string_view table, std::string_view row, const CallLimits& limits);
  // Has the tablet with `row` served by the server with this number, from 0.
  absl::Status MoveTablet(std::string_view table, std::string_view row, int server,
                          const CallLimits& limits);
  absl::StatusOr<std::vector<TabletInfo>> Tablets(std::string_view table) const;
  // All tablets that the table has now.
  absl::Status FlushTable(std::string_view table, const CallLimits& limits);
  absl::Status CompactTable(std::string_view table, const CallLimits& limits);
  // Until there is nothing to compact, split or merge.
  absl::Status WaitUntilQuiet(const CallLimits& limits);

  // --- The parts that clients use directly ---

  // Waits until everything that was given a sequence number before the call is visible.
  void WaitForWrites();
  BackgroundWork* background() { return &background_; }
  RateLimiter* rate_limiter() { return &rate_limiter_; }
  InfoLog* info_log() { return &info_log_; }
  ListenerQueue* events() { return events_.get(); }  // null: nobody listens
  // Snapshots may outlive the master.
  const std::shared_ptr<SnapshotList>& snapshots() { return snapshots_; }
  const DatabaseOptions& options() const { return options_; }
  const std::string& path() const { return directory_.path(); }
  DatabaseStatistics Statistics() const;

  // For tests: the lock service, all tablet servers that there were, the present ones first, and
  // what the master's thread does when a server has lost its lock.
  LocalLockService* lock_service() { return lock_service_.get(); }
  std::vector<TabletServer*> ServersEver() const;
  void ReplaceLostServers();
  // The first step of that. Waits for nothing, and is taken on a thread that waits for nothing: who
  // has the schema's mutex may wait for writes that wait for this, the thread that replaces servers
  // as well as others.
  void SealLostServers();

  absl::Status Resume();
  // What stopped writes or compactions, if anything did.
  absl::Status background_error() const;

 private:
  // A route's table that was replaced, and when, in advances of the gate.
  struct Retired {
    std::shared_ptr<const ServedTable> table;
    uint64_t advances = 0;
  };

  // A tablet server of user tables. Its log is started when it gets its first tablet.
  struct UserServer {
    std::unique_ptr<TabletServer> server;
    std::unique_ptr<WriteController> write_controller;
  };

  Master(std::string_view path, const DatabaseOptions& options, CallGate* gate);

  // Starting.
  absl::Status LockAndCreate();
  absl::Status OpenLockService();
  absl::Status StartFileNumbers();
  std::unique_ptr<TabletServer> MakeServer(ServerDirectory::Kind kind, TabletStore* store);
  absl::Status OpenMetadata();
  absl::Status OpenTables();
  absl::StatusOr<std::shared_ptr<const ServedTable>> OpenTable(
      const TableLayout& layout, const std::vector<TabletState>& tablets);
  std::shared_ptr<UserServer> MakeUserServer();

  // Taking over (recovery.cc).
  using FindTabletFunction =
      absl::FunctionRef<std::shared_ptr<Tablet>(uint64_t table_id, std::string_view row)>;
  // What is known to have been durable in the logs of servers, by their names.
  using Reach = std::map<std::string, SequenceNumber>;
  static void NoteRedoPoints(const TabletState& state, Reach* must_reach);
  // Reads the logs of earlier servers into the tablets of `servers`, which take their place.
  absl::Status TakeOver(ServerDirectory::Kind kind, const std::vector<TabletServer*>& servers,
                        const Reach& must_reach);
  // Reads a log up to the sequence number `last` into the tablets that `find` knows, and has
  // `flush` write them out when they take too much memory.
  absl::Status Replay(const std::string& dead_server, SequenceNumber must_reach,
                      SequenceNumber last, FindTabletFunction find,
                      absl::FunctionRef<absl::Status()> flush);
  // Gives the server a name, a log and a lock, if it has none.
  absl::Status StartServer(ServerDirectory::Kind kind, TabletServer* server);
  absl::Status FlushAll(TabletServer* server);
  absl::Status ReplaceServer(const UserServer& lost) ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  // A tablet of a lost server, and what will be served in its place.
  struct Heir;
  absl::StatusOr<std::vector<Heir>> OpenHeirs(const UserServer& lost, SequenceNumber* must_reach)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  // What a tablet asks of its server: its bytes on disk, and something for each, so that tablets
  // with nothing in them are spread, too; and what all tablets of a server ask.
  static uint64_t LoadOf(const Tablet& tablet);
  static uint64_t LoadOf(const TabletServer& server);
  std::vector<std::shared_ptr<UserServer>> Users() const;
  std::vector<TabletServer*> UserServers() const;
  // METADATA's first: the others write to it.
  std::vector<TabletServer*> AllServers() const;
  // Changes of tablets that are claimed.
  absl::Status Split(TableRoute* route, const ServedTablet& tablet, std::string_view row)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  absl::Status Move(TableRoute* route, const ServedTablet& tablet, const UserServer& to)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  absl::Status Merge(TableRoute* route, const ServedTablet& left, const ServedTablet& right)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(schema_mutex_);
  // The server's place among them; none if it is lost.
  std::optional<int> NumberOf(const TabletServer& server) const;
  // Stops a tablet and writes everything out; it takes writes again if that fails.
  absl::Status StopAndFlush(const ServedTablet& tablet);
  // Puts `tablets` in the place of `old` in what clients look at.
  void ReplaceInRoute(TableRoute* route, const std::vector<const Tablet*>& old,
                      const std::vector<ServedTablet>& tablets);
  // Calls `function` for one tablet after the other, and looks again for those that have moved.
  absl::Status ForEachTablet(std::string_view table,
                             absl::FunctionRef<absl::Status(const ServedTablet&)> function);

  // The master's threads (upkeep.cc).
  void UpkeepLoop();
  void LivenessLoop();
  void WakeUpkeep();
  // Ends this thread and those of background work. What they wait for ends early.
  void StopThreads();
  void RemoveHolders();
  bool IsStopping() const;
  // Deletes what no call can look at any more. Any thread.
  void DeleteRetired();
  // Splits and merges what the tables' rules ask for; says whether there was anything. Any thread.
  bool ChangeTablets();
  bool SplitLarge(const std::string& name, const ServedTable& table);
  bool MergeSmall(const std::string& name, const ServedTable& table);
  // Where a tablet that is too large is to be split, if it can be.
  std::optional<std::string> RowToSplitAt(const SplitRule& rule, const Tablet& tablet);
  // Brings the lock service back to the schema that is served, after a change that may or may not
  // have reached it. If it cannot, writes are refused until Resume() succeeds with it.
  void RestoreSchema(const TableLayout& layout);
  absl::Status SweepTables(const std::vector<TableLayout>& layouts);
  absl::Status SweepFiles();
  void NoteSequences(const TabletState& state);
  void TellOfTable(void (EventListener::*function)(const TableEvent&), std::string_view table);

  const DatabaseDirectory directory_;
  const DatabaseOptions options_;
  FileSystem* const file_system_;
  CallGate* const gate_;
  const std::unique_ptr<ListenerQueue> events_;  // before everything that pushes
  InfoLog info_log_;
  const std::unique_ptr<ScanCache> scan_cache_;  // null: off
  RateLimiter rate_limiter_;
  SequenceSource sequences_;
  const std::shared_ptr<SnapshotList> snapshots_;
  std::atomic<uint64_t> last_file_number_{0};

  std::unique_ptr<FileLock> lock_;
  SmallFiles small_files_;
  SchemaStore schemas_;
  RootTablet root_;
  std::unique_ptr<LocalLockService> lock_service_;
  std::unique_ptr<LockSession> session_;  // the master's
  std::unique_ptr<ServerDirectory> servers_;

  std::unique_ptr<TabletServer> metadata_server_;
  std::unique_ptr<MetadataTable> metadata_;
  // As many as the options say; each may be replaced by another. Those that were stay, empty, until
  // the database is closed: calls may look at them.
  mutable Mutex servers_mutex_;
  std::vector<std::shared_ptr<UserServer>> user_servers_ ABSL_GUARDED_BY(servers_mutex_);
  std::vector<std::shared_ptr<UserServer>> dead_servers_ ABSL_GUARDED_BY(servers_mutex_);

  Mutex schema_mutex_;  // one change of tables at a time
  // That are sealed, and whose tablets are not all served by others yet.
  std::vector<std::shared_ptr<UserServer>> lost_servers_ ABSL_GUARDED_BY(schema_mutex_);
  SharedFiles shared_files_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<TableRoute>, std::less<>> tables_ ABSL_GUARDED_BY(mutex_);
  // What calls may still look at: until the gate has advanced twice since.
  std::vector<Retired> retired_ ABSL_GUARDED_BY(mutex_);

  // Of the tablets that are too large and cannot be split: their bytes when that was found.
  std::map<TabletId, uint64_t> unsplittable_ ABSL_GUARDED_BY(mutex_);

  // Of the master's threads.
  mutable Mutex upkeep_mutex_;
  CondVar upkeep_changed_;
  bool upkeep_due_ ABSL_GUARDED_BY(upkeep_mutex_) = false;
  bool liveness_due_ ABSL_GUARDED_BY(upkeep_mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(upkeep_mutex_) = false;
  bool liveness_stopping_ ABSL_GUARDED_BY(upkeep_mutex_) = false;
  std::thread upkeep_, liveness_;

  // Last: its threads use everything above.
  BackgroundWork background_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_H_
