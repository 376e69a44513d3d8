// The master: opens a database, takes over what earlier tablet servers left behind, creates and
// deletes tables and changes their schemas, and sweeps files that nothing names (section 5.2 of the
// paper). It is never on the way of a read or a write.
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
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/options.h"
#include "bigtable/schema.h"
#include "bigtable/statistics.h"

#include "base/info_log.h"
#include "base/mutex.h"
#include "base/sequence.h"
#include "compaction/rate_limiter.h"
#include "lockservice/small_files.h"
#include "master/directory.h"
#include "master/schema_store.h"
#include "master/served_table.h"
#include "master/server_directory.h"
#include "metadata/metadata_table.h"
#include "metadata/root_tablet.h"
#include "monitoring/event_queue.h"
#include "tablet/snapshot_list.h"
#include "tabletserver/background_work.h"
#include "tabletserver/tablet_server.h"
#include "tabletserver/write_controller.h"

namespace bigtable {

// Thread-safe once started.
class Master {
 public:
  // `options` were checked and completed: file_system, clock and shared_memory_budget are set.
  static absl::StatusOr<std::unique_ptr<Master>> Start(std::string_view path,
                                                       const DatabaseOptions& options);
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
  absl::StatusOr<std::shared_ptr<const ServedTable>> FindTable(std::string_view name) const;
  std::vector<std::string> TableNames() const;
  // Larger than every sequence number so far.
  SequenceNumber TakeSequence() { return sequences_.Take(1); }

  // --- The parts that clients use directly ---

  // Waits until everything that was given a sequence number before the call is visible.
  void WaitForWrites();
  BackgroundWork* background() { return &background_; }
  RateLimiter* rate_limiter() { return &rate_limiter_; }
  InfoLog* info_log() { return &info_log_; }
  EventQueue* events() { return events_.get(); }  // null: nobody listens
  // Snapshots may outlive the master.
  const std::shared_ptr<SnapshotList>& snapshots() { return snapshots_; }
  const DatabaseOptions& options() const { return options_; }
  const std::string& path() const { return directory_.path(); }
  DatabaseStatistics Statistics() const;

  absl::Status Resume();
  // What stopped writes or compactions, if anything did.
  absl::Status background_error() const;

 private:
  // A tablet server of user tables. Its log is started when it gets its first tablet.
  struct UserServer {
    std::unique_ptr<TabletServer> server;
    std::unique_ptr<WriteController> write_controller;
    uint64_t load = 0;  // of its tablets, when a table was opened last
  };

  Master(std::string_view path, const DatabaseOptions& options);

  // Starting.
  absl::Status LockAndCreate();
  absl::Status StartFileNumbers();
  std::unique_ptr<TabletServer> MakeServer(ServerDirectory::Kind kind, TabletStore* store);
  absl::Status OpenMetadata();
  absl::Status OpenTables();
  absl::StatusOr<std::shared_ptr<const ServedTable>> OpenTable(
      const TableLayout& layout, const std::vector<TabletState>& tablets);
  // Reads the logs of earlier servers into the tablets of `servers`, which take their place.
  absl::Status TakeOver(ServerDirectory::Kind kind, const std::vector<TabletServer*>& servers,
                        const std::map<std::string, SequenceNumber>& must_reach);
  absl::Status Replay(const std::string& dead_server, const std::vector<TabletServer*>& servers,
                      SequenceNumber must_reach);
  // Gives the server a name and a log, if it has none.
  absl::Status StartServer(ServerDirectory::Kind kind, TabletServer* server);
  absl::Status FlushAll(TabletServer* server);
  // The server that is to have the next tablet.
  UserServer* LeastLoaded();
  std::vector<TabletServer*> UserServers() const;
  // METADATA's first: the others write to it.
  std::vector<TabletServer*> AllServers() const;
  static void NoteRedoPoints(const TabletState& state,
                             std::map<std::string, SequenceNumber>* must_reach);
  // Brings the lock service back to the schema that is served, after a change that may or may not
  // have reached it. If it cannot, writes are refused until Resume() succeeds with it.
  void RestoreSchema(const TableLayout& layout);
  absl::Status SweepTables(const std::vector<TableLayout>& layouts);
  absl::Status SweepFiles();
  void NoteSequences(const TabletState& state);
  void TellOfTable(void (EventListener::*function)(const TableEvent&), std::string_view table);
  void NoteStalls();

  const DatabaseDirectory directory_;
  const DatabaseOptions options_;
  FileSystem* const file_system_;
  const std::unique_ptr<EventQueue> events_;  // before everything that pushes
  InfoLog info_log_;
  const std::unique_ptr<ScanCache> scan_cache_;  // null: off
  RateLimiter rate_limiter_;
  SequenceSource sequences_;
  const std::shared_ptr<SnapshotList> snapshots_;
  std::atomic<uint64_t> last_file_number_{0};

  std::unique_ptr<FileLock> lock_;
  SmallFiles small_files_;
  SchemaStore schemas_;
  ServerDirectory servers_;
  RootTablet root_;

  std::unique_ptr<TabletServer> metadata_server_;
  std::unique_ptr<MetadataTable> metadata_;
  std::vector<UserServer> user_servers_;  // as many as there will be

  Mutex schema_mutex_;  // one change of tables at a time
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<const ServedTable>, std::less<>> tables_
      ABSL_GUARDED_BY(mutex_);

  // Last: its threads use everything above.
  BackgroundWork background_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_MASTER_H_
