// The tablet servers of a process, from opening to end: what they share (cluster/environment.h),
// the set of them (cluster/server_set.h) and METADATA (cluster/local_metadata.h). A master
// (master/master.h) says which tablets they have; the cluster continues without one, and outlives
// every one of them.
//
// Opening: lock the directory, and create the database if need be; open the lock service. After
// that there are servers, and none has a tablet.
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

#include "cluster/environment.h"
#include "cluster/local_metadata.h"
#include "cluster/server_set.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// Thread-safe once opened.
class Cluster {
 public:
  // Arguments and errors as of ClusterEnvironment::Open.
  static absl::StatusOr<std::unique_ptr<Cluster>> Open(
      std::string_view path, const DatabaseOptions& options,
      ClusterEnvironment::SupersededFunction on_superseded);
  ~Cluster() { StopBackground(); }
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  ClusterEnvironment* environment() { return environment_.get(); }
  ServerSet* servers() { return &servers_; }
  LocalMetadata* metadata() { return &metadata_; }

  // The threads begin, once a master has assigned all tablets. `on_progress` is called after each
  // compaction, and when a server has lost its lock.
  absl::Status StartBackground(std::function<void()> on_progress);
  // Before the last calls are waited for: no call waits for tablets that are not served, nor for
  // background work, from here on, and merging compactions are cancelled.
  void BeginClosing();
  // There is no master any more: no call waits for METADATA, either.
  void BeginEnding() { environment_->is_ending = true; }
  // What these threads wait for ends early.
  void StopBackground();
  // Flushes everything and ends the logs, so that the next opening finds none. No call may be under
  // way, and every server serves. The directory stays locked until the destructor.
  absl::Status Shutdown();
  // After an opening that has failed, with no thread at work: the same for each server that can be
  // ended, so that it leaves nothing. The logs of others are read by the next opening.
  void AbandonOpening();

  // Reaches servers in another way from here on, for tests of messages: see ServerSet::SetServices.
  void SetServices(ServerSet::Services services);

  DatabaseStatistics Statistics();
  // Resumes what an error has stopped.
  absl::Status Resume();
  // What stopped writes or compactions, if anything did.
  absl::Status background_error() const;

 private:
  explicit Cluster(std::unique_ptr<ClusterEnvironment> environment)
      : environment_(std::move(environment)),
        metadata_(environment_.get(), &servers_),
        servers_(environment_.get()) {}

  void RemoveHolders();
  // Users' servers first: their flushes write to METADATA, and METADATA's to its root.
  std::vector<TabletServer*> InOrderOfEnding() const;
  // Flushes everything it has, and removes its log.
  absl::Status EndServer(TabletServer* server);

  const std::unique_ptr<ClusterEnvironment> environment_;
  LocalMetadata metadata_;  // knows the servers, and they write to it until they end
  ServerSet servers_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_CLUSTER_H_
