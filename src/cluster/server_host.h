// A tablet server as its master sees it: what it is told to do with tablets (sections 5.1
// to 5.3 of the paper). Each command is carried out whole, or undone, by the server itself: a
// master that dies after it has given one finds the tablets as they were before or after it.
//
//   Load     open a tablet, as METADATA has it, and what dead servers' logs have of it; serve it
//   Unload   write a tablet out, and do not serve it any more
//   Split    two tablets in the place of one
//   Merge    one tablet in the place of two neighbours
//   Drop     the tablets of a table that was deleted
//
// A split copies nothing and waits for nothing: the halves share memtables and SSTables. Unload and
// Merge write the memtables out twice: once while writes go on, and then, with the tablet stopped,
// the little that has come meanwhile, so that nothing of the log is needed where it is served next.
// Reads go on until then. Section 6 has these two minor compactions.
//
// Commands carry the epoch of the master that gives them. A later master has a larger epoch, and
// the commands of earlier ones are refused (Unavailable): see Accept.
#ifndef BIGTABLE_CLUSTER_SERVER_HOST_H_
#define BIGTABLE_CLUSTER_SERVER_HOST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "cluster/dead_log.h"
#include "cluster/environment.h"
#include "cluster/server_role.h"
#include "metadata/metadata_table.h"
#include "tablet/tablet.h"
#include "tabletserver/data_path.h"
#include "tabletserver/data_server.h"
#include "tabletserver/tablet_server.h"
#include "tabletserver/write_controller.h"

namespace bigtable {

class ServerHost;

// A tablet, and where it is served. Null if it is not.
struct HostedTablet {
  std::shared_ptr<Tablet> tablet;
  std::shared_ptr<ServerHost> host;

  explicit operator bool() const { return tablet != nullptr; }
};

// The generation of the lock that makes a master the only one.
using MasterEpoch = uint64_t;

// Thread-safe.
class ServerHost {
 public:
  // `environment` and `metadata`, METADATA's rows for tablets of this role, outlive this.
  ServerHost(ClusterEnvironment* environment, ServerRole role, MetadataTable* metadata,
             std::unique_ptr<TabletServer> server);

  ServerRole role() const { return role_; }
  // METADATA's rows for tablets of this role.
  MetadataTable* metadata() const { return metadata_; }
  TabletServer* server() { return server_.get(); }
  const TabletServer* server() const { return server_.get(); }
  WriteController* write_controller() { return &write_controller_; }
  const WriteController* write_controller() const { return &write_controller_; }
  // The way to its tablets' data, for callers in this process.
  const DataPath* data_path() const { return &data_path_; }
  // The same by messages.
  DataServer* data_service() { return &data_server_; }

  // Accepts a new master: commands of earlier ones are refused from here on, and those that they
  // have given are done, or have failed.
  absl::StatusOr<std::vector<std::shared_ptr<Tablet>>> Accept(MasterEpoch master);

  // Has a log and a lock, for tablets that are to come.
  absl::Status Start(MasterEpoch master);
  // Serves a tablet that nobody serves. `logs` are of servers that have died and may have had it.
  // NotFound if METADATA has no such tablet. The root tablet is as the lock service's file says.
  // A server that refuses writes because of an error can serve reads, which is better than that
  // nobody does: it takes a tablet if nobody `else_can`.
  enum class Else { kOthersCan, kNobodyCan };
  absl::Status Load(MasterEpoch master, const TableLayout& layout, const TabletId& id,
                    const std::vector<DeadLog*>& logs, Else else_can = Else::kOthersCan);
  // NotFound if it is not here, or not any more: then whatever is in its place is. Unavailable if
  // the server has lost its lock.
  absl::Status Unload(MasterEpoch master, const TabletId& id, const CallLimits& limits);
  // Splits the tablet that has the row. AlreadyExists if a tablet begins with it.
  absl::Status Split(MasterEpoch master, uint64_t table_id, std::string_view row,
                     const CallLimits& limits);
  // Merges two tablets that are both here; the first of the two ends where the other begins.
  absl::Status Merge(MasterEpoch master, const TabletId& left, const TabletId& right,
                     const CallLimits& limits);
  // The schema of a table from now on, for those of its tablets that are here.
  absl::Status SetLayout(MasterEpoch master, const TableLayout& layout);
  // The table was deleted: its tablets take no more writes, and nothing is worked on them.
  absl::StatusOr<std::vector<std::shared_ptr<Tablet>>> Drop(MasterEpoch master, uint64_t table_id);
  // Lets go of what one of them held; `with_files`: METADATA has forgotten it.
  void Erase(const std::shared_ptr<Tablet>& dropped, bool with_files);

  // The server was fenced, and will never serve again: nothing it has begun is under way when this
  // returns, and it has no tablets.
  void End();

  // What tablets ask of the server: their bytes on disk, and something for each, so that tablets
  // with nothing in them are spread, too.
  static constexpr uint64_t kLoadOfEach = 1 << 20;
  static uint64_t LoadOf(const Tablet& tablet) { return kLoadOfEach + tablet.DiskBytes(); }
  uint64_t load() const;

 private:
  absl::Status CheckMaster(MasterEpoch master) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::shared_ptr<Tablet>> FindTablet(const TabletId& id) const;
  absl::StatusOr<TabletState> ReadState(const TabletId& id, std::string* location) const;
  absl::Status SetLocation(const TabletId& id);
  absl::Status OpenAndServe(MasterEpoch master, const TableLayout& layout, const TabletId& id,
                            const std::vector<DeadLog*>& logs, Else else_can);
  // What the dead servers' logs have of a tablet that nobody serves yet; it is written out.
  absl::Status Recover(const std::shared_ptr<Tablet>& tablet, const std::vector<DeadLog*>& logs);
  // Stops a tablet and writes everything out; it takes writes again if that fails.
  absl::Status StopAndFlush(const std::shared_ptr<Tablet>& tablet)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status SplitClaimed(const std::shared_ptr<Tablet>& tablet, std::string_view row)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status MergeClaimed(const std::shared_ptr<Tablet>& left,
                            const std::shared_ptr<Tablet>& right)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckServing() const;
  absl::Status CheckLock() const;
  absl::Status CheckFit(Else else_can) const;
  void Notify(void (EventListener::*function)(const TabletEvent&), const Tablet& tablet,
              std::string_view row) const;

  ClusterEnvironment* const environment_;
  const ServerRole role_;
  MetadataTable* const metadata_;
  const std::unique_ptr<TabletServer> server_;
  WriteController write_controller_;
  DataPath data_path_;
  DataServer data_server_;

  // Held while tablets come and go; nobody waits for background work with it.
  Mutex mutex_;
  MasterEpoch master_ ABSL_GUARDED_BY(mutex_) = 0;
  int loading_ ABSL_GUARDED_BY(mutex_) = 0;  // tablets that are being loaded
  CondVar loaded_;
  Mutex end_mutex_;  // before mutex_
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_HOST_H_
