// The tablet servers of a process, and what they share: the directory that is locked, the lock
// service, METADATA, memory, threads, sequence numbers. A master (master/master.h) says which
// tablets they have; the cluster goes on without one, and outlives every one of them.
//
// Opening: lock the directory, and create what is in it if need be, with the file "root" as the
// last step; the lock service. After that there are servers, and none has a tablet.
#ifndef BIGTABLE_CLUSTER_CLUSTER_H_
#define BIGTABLE_CLUSTER_CLUSTER_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/options.h"
#include "bigtable/statistics.h"

#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "base/sequence.h"
#include "cluster/directory.h"
#include "cluster/server_host.h"
#include "cluster/server_role.h"
#include "cluster/shared_files.h"
#include "cluster/unserved_tablets.h"
#include "compaction/rate_limiter.h"
#include "lockservice/local_lock_service.h"
#include "lockservice/small_files.h"
#include "metadata/metadata_client.h"
#include "metadata/metadata_table.h"
#include "metadata/root_tablet.h"
#include "monitoring/listener_queue.h"
#include "sstable/open_tables.h"
#include "tablet/file_numbers.h"
#include "tablet/layout_pool.h"
#include "tablet/snapshot_list.h"
#include "tabletserver/access_control.h"
#include "tabletserver/background_work.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// Thread-safe once opened.
class Cluster final : public MetadataServers {
 public:
  // What a tablet was that is served no more, at least not as it was: whoever keeps it lets go of
  // it. Called on any thread, also in the turn of the writer; it must not wait.
  using GoneFunction = std::function<void(const Tablet&)>;

  // `options` were checked and completed: clock and shared_memory_budget are set, and file_system
  // is one that holds the directory, which is there (filesystem/guarded_file_system.h).
  static absl::StatusOr<std::unique_ptr<Cluster>> Open(std::string_view path,
                                                       const DatabaseOptions& options,
                                                       GoneFunction gone);
  ~Cluster() override;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // The threads begin, once a master has assigned all tablets. `on_progress` is called after each
  // compaction, and when a server has lost its lock.
  absl::Status StartBackground(std::function<void()> on_progress);
  // From now on nobody waits for tablets that are not served, nor for background work, and merging
  // compactions are cancelled: before the last calls are waited for.
  void BeginClosing() {
    closing_ = true;
    background_.BeginClosing();
  }
  bool is_closing() const { return closing_; }
  // There is no master any more: from now on nobody waits for METADATA, either.
  void BeginEnding() { ending_ = true; }
  // What these threads wait for ends early.
  void StopBackground();
  // Writes everything out and ends the logs, so that the next opening finds none. No call may be
  // under way, and every server serves. The directory stays locked until the destructor.
  absl::Status Shutdown();
  // After an opening that has failed, with no thread at work: the same for each server that can be
  // ended, so that it leaves nothing. The logs of others are read by the next opening.
  void AbandonOpening();

  // --- Servers ---

  // Of users' tablets: as many as the options say, in the order of their numbers.
  std::vector<std::shared_ptr<ServerHost>> Servers() const { return ServersOf(ServerRole::kUser); }
  std::vector<std::shared_ptr<ServerHost>> ServersOf(ServerRole role) const;
  // With those that have ended.
  std::vector<std::shared_ptr<ServerHost>> ServersEver(ServerRole role = ServerRole::kUser) const;
  // What servers of this role have committed so far, to METADATA or its root, is not lost without an
  // error: before something is removed that is needed no more because of it. Unavailable while the
  // server that has it in its log is being replaced.
  absl::Status AttestCommitsOf(ServerRole role) const;
  // The one with this name; null if it is none of these.
  std::shared_ptr<ServerHost> FindServer(std::string_view name) const;
  // The same, among those that there ever were.
  std::shared_ptr<ServerHost> FindServerEver(std::string_view name) const;
  // Puts a new server, without tablets, in the place of one that has ended. Those that were stay,
  // empty, until the database is closed: calls may look at them.
  // The new one listens to no master before `master`. Nothing, if that was done already.
  void ReplaceServer(const std::shared_ptr<ServerHost>& ended, MasterNumber master);
  // Seals those that have lost their locks: they never serve again. It is the first step of
  // replacing them, and the only one that those who wait for writes may wait for: it needs no
  // master, waits for nothing, and is to be taken on a thread that waits for nothing.
  void SealLostServers();
  // Whether a server of this process has, or is about to have, this name, and has not ended.
  bool IsLive(std::string_view name) const;

  // --- Tablets, wherever they are ---

  // All tablets of a table that are served, in key order.
  std::vector<HostedTablet> TabletsOf(uint64_t table_id) const;
  // The one that has `row`, if it is served.
  HostedTablet FindTablet(uint64_t table_id, std::string_view row) const;
  // Calls `function` for one tablet of the table after the other, and looks again for those that
  // have moved. Waits for those that are not served. NotFound if `is_there` says that the table is
  // not there any more.
  absl::Status ForEachTablet(uint64_t table_id, const CallLimits& limits,
                             absl::FunctionRef<absl::Status()> is_there,
                             absl::FunctionRef<absl::Status(const HostedTablet&)> function);

  // --- What is shared ---

  const DatabaseOptions& options() const { return options_; }
  const DatabaseDirectory& directory() const { return directory_; }
  FileSystem* file_system() { return file_system_; }
  FilePool* files() { return files_.get(); }
  LocalLockService* lock_service() { return lock_service_.get(); }
  AccessControl* access() { return access_.get(); }
  // METADATA's rows for users' tablets, and those for its own: apart, because a split or a merge
  // keeps others waiting, and may itself wait for the server of what it writes to.
  MetadataTable* metadata() { return &metadata_; }
  MetadataTable* root_rows() { return &root_rows_; }
  // What stops METADATA's writes, if anything does.
  absl::Status metadata_error() const;
  MetadataLookups metadata_lookups() const { return metadata_client_.lookups(); }
  // For who has the servers elsewhere: what they are asked through from now on. What this says for
  // a server outlives the last call.
  using Services = std::function<DataService*(ServerHost*)>;
  void SetServices(Services services);
  DataService* ServiceOf(ServerHost* host) const;
  BackgroundWork* background() { return &background_; }
  SharedFiles* shared_files() { return &shared_files_; }
  LayoutPool* layouts() { return &layouts_; }
  UnservedTablets* unserved() { return &unserved_; }
  // Once all tablets are served: which files several of them name.
  void CountSharedFiles();
  RootTablet* root() { return &root_; }
  FileNumbers* file_numbers() { return &file_numbers_; }
  RateLimiter* rate_limiter() { return &rate_limiter_; }
  InfoLog* info_log() { return &info_log_; }
  ListenerQueue* events() { return events_.get(); }  // null: nobody listens
  SequenceSource* sequences() { return &sequences_; }
  // Snapshots may outlive the cluster.
  const std::shared_ptr<SnapshotList>& snapshots() { return snapshots_; }
  // Waits until everything that was given a sequence number before the call is visible.
  void WaitForWrites();
  void NoteSequences(const TabletState& state);
  // Tells of a tablet that is not what it was: see GoneFunction.
  void TellGone(const Tablet& tablet) { gone_(tablet); }

  // What a tablet counts goes on where it is loaded next.
  void KeepCounters(const Tablet& tablet);
  void PassOnCounters(Tablet* tablet);
  void ForgetCounters(uint64_t table_id);

  // Gives the server a name, a log and a lock, if it has none; in a database that is only read, a
  // name.
  absl::Status StartServer(ServerHost* host);

  // MetadataServers.
  std::string RootServer() override { return root_.server(); }
  DataService* FindService(std::string_view server) override;
  bool HasEnded(std::string_view server) override;
  absl::Duration Patience() override;
  absl::Status CheckDirectory() override;
  bool HaveFailed() override { return !metadata_error().ok(); }

  DatabaseStatistics Statistics() const;
  // Takes up what an error has stopped.
  absl::Status Resume();
  // What stopped writes or compactions, if anything did.
  absl::Status background_error() const;

 private:
  Cluster(std::string_view path, const DatabaseOptions& options, GoneFunction gone);

  absl::Status LockAndCreate();
  // Whether there is a database; an error if that cannot be seen.
  absl::StatusOr<bool> HasRoot();
  absl::Status OpenLockService();
  absl::Status StartNumbers();
  std::unique_ptr<TabletServer> MakeServer(ServerRole role);
  std::shared_ptr<LastWrites> MakeLastWrites() const;
  std::shared_ptr<ServerHost> MakeHost(ServerRole role);
  // In the order of their roles: each writes to those before.
  std::vector<std::shared_ptr<ServerHost>> AllHosts() const;
  std::vector<TabletServer*> AllServers() const;
  void RemoveHolders();
  absl::Status FlushAll(TabletServer* server);
  // Writes out everything it has, and removes its log.
  absl::Status EndServer(TabletServer* server);

  const DatabaseDirectory directory_;
  const DatabaseOptions options_;
  FileSystem* const file_system_;
  const GoneFunction gone_;
  const std::unique_ptr<ListenerQueue> events_;  // before everything that pushes
  InfoLog info_log_;
  const std::unique_ptr<ScanCache> scan_cache_;  // null: off
  RateLimiter rate_limiter_;
  SequenceSource sequences_;
  const std::shared_ptr<SnapshotList> snapshots_;
  std::atomic<bool> closing_{false};
  std::atomic<bool> ending_{false};
  FileNumbers file_numbers_;
  SharedFiles shared_files_;
  LayoutPool layouts_;
  UnservedTablets unserved_;

  std::unique_ptr<FileLock> lock_;
  SmallFiles small_files_;
  const std::shared_ptr<FilePool> files_;  // the SSTables
  OpenTables open_tables_;
  RootTablet root_;
  std::unique_ptr<LocalLockService> lock_service_;
  std::unique_ptr<LockSession> session_;  // the cluster's own
  std::unique_ptr<AccessControl> access_;
  Mutex seal_mutex_;

  MetadataClient metadata_client_;
  MetadataTable metadata_;
  MetadataTable root_rows_;

  Mutex replace_mutex_;  // one server at a time is replaced, for all who have a list; before mutex_
  mutable Mutex mutex_;
  std::vector<std::shared_ptr<ServerHost>> servers_ ABSL_GUARDED_BY(mutex_);  // as AllHosts
  std::vector<std::shared_ptr<ServerHost>> dead_servers_ ABSL_GUARDED_BY(mutex_);
  // Given out by this process, and not of servers that have ended.
  std::set<std::string, std::less<>> names_ ABSL_GUARDED_BY(mutex_);
  std::map<TabletId, Ref<TabletCounters>> counters_ ABSL_GUARDED_BY(mutex_);
  Services services_ ABSL_GUARDED_BY(mutex_);       // null: in place
  uint64_t last_name_ ABSL_GUARDED_BY(mutex_) = 0;  // the number in the newest name

  // Last: its threads use everything above.
  BackgroundWork background_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_CLUSTER_H_
