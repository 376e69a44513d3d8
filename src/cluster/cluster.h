// The tablet servers of a process, from opening to end: what they share (cluster/environment.h),
// the set of servers (cluster/server_set.h) and METADATA (cluster/local_metadata.h). A master
// (master/master.h) assigns tablets to the servers. The cluster outlives every master and continues
// without one.
//
// Opening locks the directory, creates the database if necessary, and opens the lock service. After
// that the servers exist, and none has a tablet.
#ifndef BIGTABLE_CLUSTER_CLUSTER_H_
#define BIGTABLE_CLUSTER_CLUSTER_H_

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/options.h"
#include "bigtable/statistics.h"

#include "cluster/local_metadata.h"
#include "cluster/server_host.h"
#include "cluster/server_role.h"
#include "cluster/server_set.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

struct ClusterEnvironment;

// Thread-safe once opened.
class Cluster {
 public:
  // Arguments and errors as of ClusterEnvironment::Open.
  static absl::StatusOr<std::unique_ptr<Cluster>> Open(std::string_view path,
                                                       const DatabaseOptions& options,
                                                       ServerHost::SupersededFunction on_superseded,
                                                       OpenFiles* files = nullptr);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // For those that assemble a master or a database, and give their parts what these use
  // (cluster/environment.h).
  ClusterEnvironment* environment() { return environment_.get(); }
  ServerSet* servers() { return &servers_; }
  LocalMetadata* metadata() { return &metadata_; }

  // Starts the threads, once a master has assigned all tablets. `on_progress` is called after each
  // compaction, and when a server has lost its lock.
  absl::Status StartBackground(std::function<void()> on_progress);
  // Call it before waiting for the last calls. After it no call waits for unserved tablets or for
  // background work, and merging compactions are cancelled.
  void BeginClosing();
  // There is no master any more: no call waits for METADATA either.
  void BeginEnding();
  // Stops the background threads. Whatever they wait for ends early.
  void StopBackground();
  // Flushes everything and closes the logs, so that the next opening finds none. Requires that no
  // call is under way and that every server serves. The directory stays locked until the
  // destructor.
  absl::Status Shutdown();
  // After an opening that failed, with no thread at work: shuts down each server that can be shut
  // down, so that it leaves no log. The next opening reads the logs of the others.
  void AbandonOpening();

  // Changes how calls reach servers, for tests of messages: see ServerSet::SetServices.
  void SetServices(ServerSet::Services services);

  DatabaseStatistics Statistics();
  // Resumes what an error has stopped, within limits.
  absl::Status Resume(const CallLimits& limits);
  // The error that stopped writes or compactions; OK if there is none.
  absl::Status background_error() const;

 private:
  Cluster(std::unique_ptr<ClusterEnvironment> environment,
          ServerHost::SupersededFunction on_superseded);

  std::shared_ptr<ServerHost> MakeHost(ServerRole role);
  // For quotas.
  StoredBytes AddUpStorage() const;
  void RemoveHolders();
  // Users' servers first: their flushes write to METADATA, and METADATA's flushes to its root.
  std::vector<TabletServer*> InOrderOfEnding() const;
  // Flushes all tablets of the server and removes its log.
  absl::Status EndServer(TabletServer* server);

  const std::unique_ptr<ClusterEnvironment> environment_;
  const ServerHost::SupersededFunction on_superseded_;
  LocalMetadata metadata_;  // knows the servers, and they write to it until they end
  ServerSet servers_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_CLUSTER_H_
