// A tablet server as its master sees it: the commands that change its tablets (sections 5.1 to 5.3
// of the paper). The server itself carries out each command completely or undoes it. If a master
// dies after giving a command, the next one finds the tablets as they were before the command or
// after it.
//
//   Load     open a tablet from METADATA and the logs of dead servers, and serve it
//   Unload   flush a tablet and stop serving it
//   Split    replace a tablet by two
//   Merge    replace two neighbours by one tablet
//   Empty    drop all rows of a tablet
//   Drop     drop the tablets of a table that was deleted
//
// A split copies nothing and waits for nothing: the halves share memtables and SSTables. Unload and
// Merge flush the memtables twice: once while writes continue, and then, with the tablet stopped,
// the few mutations that have arrived meanwhile. So the next server of the tablet needs nothing of
// the log. Reads continue until then. Section 6 describes these two minor compactions.
//
// Commands carry the epoch of the master that gives them. A later master has a larger epoch, and
// the commands of earlier masters are refused (Unavailable): see Accept.
#ifndef BIGTABLE_CLUSTER_SERVER_HOST_H_
#define BIGTABLE_CLUSTER_SERVER_HOST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/memory_budget.h"

#include "admission/access_control.h"
#include "admission/quota_control.h"
#include "admission/write_controller.h"
#include "background/background_work.h"
#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "base/sequence.h"
#include "base/steady_time.h"
#include "changes/old_changes.h"
#include "cluster/coordination.h"
#include "cluster/server_role.h"
#include "cluster/storage.h"
#include "metadata/metadata_table.h"
#include "monitoring/listener_queue.h"
#include "recovery/dead_log.h"
#include "schema/layout_pool.h"
#include "serving/data_path.h"
#include "serving/data_server.h"
#include "tablet/inherited_counters.h"
#include "tablet/tablet.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

class ServerHost;

// A tablet and its server. Both null: the tablet is not served.
struct HostedTablet {
  std::shared_ptr<Tablet> tablet;
  std::shared_ptr<ServerHost> host;

  explicit operator bool() const { return tablet != nullptr; }
};

// The generation of the lock that only one master can hold.
using MasterEpoch = uint64_t;

// Thread-safe.
class ServerHost {
 public:
  // A tablet was superseded: drop what is cached of it. Called on any thread, also inside the
  // group commit queue, so it must not wait.
  using SupersededFunction = std::function<void(const Tablet&)>;

  // What the hosts of a process share. All outlive this.
  struct Parts {
    bool read_only = false;
    ClusterStorage* storage = nullptr;
    ClusterCoordination* coordination = nullptr;
    BackgroundWork* background = nullptr;  // of the servers
    SequenceSource* sequences = nullptr;
    LayoutPool* layouts = nullptr;
    InheritedCounters* inherited_counters = nullptr;
    SupersededFunction notify_superseded;
    // For calls that reach the server.
    MemoryBudget* budget = nullptr;
    AccessControl* access = nullptr;
    QuotaControl* quotas = nullptr;
    // For reports.
    InfoLog* info_log = nullptr;
    ListenerQueue* events = nullptr;  // null: there is no listener
  };

  // `metadata`, METADATA's rows for tablets of this role, outlives this.
  ServerHost(Parts parts, ServerRole role, MetadataTable* metadata,
             std::unique_ptr<TabletServer> server);

  ServerRole role() const { return role_; }
  // METADATA's rows for tablets of this role.
  MetadataTable* metadata() const { return metadata_; }
  TabletServer* server() { return server_.get(); }
  const TabletServer* server() const { return server_.get(); }
  WriteController* write_controller() { return &write_controller_; }
  const WriteController* write_controller() const { return &write_controller_; }
  // For callers in this process: reads and writes its tablets.
  const DataPath* data_path() const { return &data_path_; }
  // The same through messages.
  DataServer* data_service() { return &data_server_; }

  // Accepts a new master, and returns the tablets that are here. Commands of earlier masters are
  // refused after it, and those already given have succeeded or failed when it returns.
  absl::StatusOr<std::vector<std::shared_ptr<Tablet>>> Accept(MasterEpoch master);

  // Creates the log and takes the lock, before the first tablet is loaded.
  absl::Status Start(MasterEpoch master);
  // Serves an unserved tablet. `logs` are those of dead servers that may have had the tablet.
  // NotFound if METADATA has no such tablet. The state of the root tablet comes from the lock
  // service's file. A server that refuses writes because of an error declines, unless no other
  // server can have the tablet: then it serves reads (kServeReads).
  enum class IfRefusingWrites { kDecline, kServeReads };
  absl::Status Load(MasterEpoch master, const TableLayout& layout, const TabletId& id,
                    const std::vector<DeadLog*>& logs,
                    IfRefusingWrites if_refusing = IfRefusingWrites::kDecline);
  // NotFound if the tablet is not here, or was superseded meanwhile. Unavailable if the server has
  // lost its lock.
  absl::Status Unload(MasterEpoch master, const TabletId& id, const CallLimits& limits);
  // Splits the tablet that has the row. AlreadyExists if a tablet begins with it.
  absl::Status Split(MasterEpoch master, uint64_t table_id, std::string_view row,
                     const CallLimits& limits);
  // Merges two tablets that are both here. The first must end where the second begins. Unavailable:
  // one of them has to be compacted for it, and `if_stopped` refuses.
  absl::Status Merge(MasterEpoch master, const TabletId& left, const TabletId& right,
                     BackgroundWork::IfStopped if_stopped, const CallLimits& limits);
  // Drops all that is in a tablet: one mutation of METADATA forgets its SSTables, and moves its
  // redo points behind its last mutation in the log. NotFound, as in Unload, also if the tablet
  // does not have exactly these rows: half of a tablet that was split has the id of the whole one.
  // After another error, nothing is dropped; but as after Split, the next opening may find it
  // dropped.
  absl::Status Empty(MasterEpoch master, const TabletId& id, const RowRange& rows,
                     const CallLimits& limits);
  // Drops the files of changes of a tablet that have none that is to be kept. NotFound: it is not
  // here any more. If the limits end while there is work on it, call it again.
  absl::Status DropOldChanges(MasterEpoch master, const std::shared_ptr<Tablet>& tablet,
                              const OldChanges& old, const CallLimits& limits);
  // Calls `function` while these tablets, which are here and which the caller has claimed, take no
  // writes and have all of their contents in SSTables. No other command is carried out meanwhile.
  // If it fails, they take writes again; if it succeeds, it has replaced them, or has called
  // SetStopped(false) for each. Several hosts at a time: in ascending order of their addresses.
  // NotFound if one of the tablets was superseded; errors of Unload.
  absl::Status WithStopped(MasterEpoch master, absl::Span<const std::shared_ptr<Tablet>> tablets,
                           const CallLimits& limits, absl::FunctionRef<absl::Status()> function);
  // In that function, and in a turn among the writes: `by`, which is stopped too, is served instead
  // of a tablet with the same rows.
  void ReplaceStopped(const std::shared_ptr<Tablet>& stopped, const std::shared_ptr<Tablet>& by);
  // To be called before SetLayout, Drop or Load, which take turns among the writes and cannot be
  // given up: waits for the command and the turn that are under way; in the second form, if the
  // server has tablets of the table. Errors of the limits.
  absl::Status AwaitTurn(const CallLimits& limits);
  absl::Status AwaitTurn(uint64_t table_id, const CallLimits& limits);
  // Sets the schema of a table for those of its tablets that are here.
  absl::Status SetLayout(MasterEpoch master, const TableLayout& layout);
  // The table was deleted: its tablets refuse writes, and no more background work on them begins.
  // What is under way may still commit to METADATA (BackgroundWork::WaitForTablet). Returns the
  // tablets, and those that were dropped before and are not erased yet.
  absl::StatusOr<std::vector<std::shared_ptr<Tablet>>> Drop(MasterEpoch master, uint64_t table_id);
  // Releases the files of a dropped tablet, which METADATA no longer names, and on which no
  // background work is under way. If the masters of two epochs call this for one tablet, the first
  // call does it.
  void Erase(const std::shared_ptr<Tablet>& dropped);

  // Ends a fenced server, which will never serve again. When this returns, nothing that it began is
  // under way, and it has no tablets.
  void End();

  // The load that tablets put on the server: their bytes on disk, plus a constant for each, so that
  // empty tablets are spread too.
  static constexpr uint64_t kLoadOfEach = 1 << 20;
  static uint64_t LoadOf(const Tablet& tablet) { return kLoadOfEach + tablet.DiskBytes(); }
  uint64_t load() const;
  // The same, with bytes as they were up to a second ago, so that the cost of creating a table does
  // not grow with the number of tablets that are here.
  uint64_t RecentLoad() const;

 private:
  absl::Status CheckMaster(MasterEpoch master) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::shared_ptr<Tablet>> FindTablet(const TabletId& id) const;
  absl::StatusOr<TabletState> ReadState(const TabletId& id, std::string* location) const;
  absl::Status SetLocation(const TabletId& id);
  absl::Status OpenAndServe(MasterEpoch master, const TableLayout& layout, const TabletId& id,
                            const std::vector<DeadLog*>& logs, IfRefusingWrites if_refusing);
  // Replays the mutations of the dead servers' logs into a tablet that is not served yet, and
  // flushes it.
  absl::Status Recover(const std::shared_ptr<Tablet>& tablet, const std::vector<DeadLog*>& logs);
  // Stops a tablet and flushes it. If that fails, the tablet takes writes again.
  absl::Status StopAndFlush(const std::shared_ptr<Tablet>& tablet, const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status SplitClaimed(const std::shared_ptr<Tablet>& tablet, std::string_view row,
                            const CallLimits& limits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MergeClaimed(const std::shared_ptr<Tablet>& left,
                            const std::shared_ptr<Tablet>& right, const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Leaves its files to the caller.
  absl::Status EmptyClaimed(const std::shared_ptr<Tablet>& tablet, const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The steps that leave nothing of a stopped tablet's contents, in METADATA or to be recovered.
  absl::Status DropChangesOfClaimed(const std::shared_ptr<Tablet>& tablet, const OldChanges& old);
  absl::StatusOr<std::vector<TabletStep>> StepsToEmpty(const std::shared_ptr<Tablet>& tablet) const;
  // For the readers of changes. DataLoss: what METADATA has of the tablet's changes.
  absl::StatusOr<TabletChange> NoteDrop(const Tablet& tablet) const;
  absl::Status CheckServing() const;
  absl::Status CheckLock() const;
  absl::Status CheckFit(IfRefusingWrites if_refusing) const;
  void Notify(void (EventListener::*function)(const TabletEvent&), const Tablet& tablet,
              std::string_view row) const;

  const Parts parts_;
  const ServerRole role_;
  MetadataTable* const metadata_;
  const std::unique_ptr<TabletServer> server_;
  WriteController write_controller_;
  DataPath data_path_;
  DataServer data_server_;

  // Held while tablets are added and removed. No thread waits for background work while it holds
  // it.
  Mutex mutex_;
  MasterEpoch master_ ABSL_GUARDED_BY(mutex_) = 0;
  int loading_ ABSL_GUARDED_BY(mutex_) = 0;  // tablets that are being loaded
  std::vector<std::shared_ptr<Tablet>> dropped_ ABSL_GUARDED_BY(mutex_);  // not erased yet
  CondVar loaded_;
  Mutex end_mutex_;  // before mutex_

  mutable Mutex load_mutex_;
  mutable uint64_t load_then_ ABSL_GUARDED_BY(load_mutex_) = 0;
  mutable size_t tablets_then_ ABSL_GUARDED_BY(load_mutex_) = 0;
  mutable SteadyTime summed_at_ ABSL_GUARDED_BY(load_mutex_);  // when load_then_ was summed up
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_HOST_H_
