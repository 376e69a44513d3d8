// Opens, owns and destroys what all tablet servers of a process share: the locked directory, the
// lock service, memory, files, number sources and background threads. It knows no server.
//
// Only the code that assembles servers, a master and a database includes this (cluster.cc,
// statistics.cc and make_server.cc here, master/master.cc, routing/database_impl.cc). It gives each
// class the parts that the class uses, which are named in that class's header.
#ifndef BIGTABLE_CLUSTER_ENVIRONMENT_H_
#define BIGTABLE_CLUSTER_ENVIRONMENT_H_

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/options.h"

#include "admission/access_control.h"
#include "admission/quota_control.h"
#include "background/background_work.h"
#include "base/info_log.h"
#include "base/limited_mutex.h"
#include "base/sequence.h"
#include "cache/scan_cache.h"
#include "cluster/change_readers.h"
#include "cluster/closing_state.h"
#include "cluster/coordination.h"
#include "cluster/live_options.h"
#include "cluster/storage.h"
#include "cluster/unserved_tablets.h"
#include "commit/batch_log_sync.h"
#include "commit/batch_writer.h"
#include "commit/void_batches.h"
#include "compaction/rate_limiter.h"
#include "monitoring/listener_queue.h"
#include "schema/layout_pool.h"
#include "tablet/inherited_counters.h"
#include "tablet/snapshot_list.h"

namespace bigtable {

// A plain struct, and thread-safe as its parts are. Opened before the first server, and destroyed
// after the last one. The parts are made in this order, and destroyed in the reverse one: the
// threads first, then what uses the lock service, then the files, then the directory's lock. The
// listener's events and the info log are there for all of them.
struct ClusterEnvironment {
  // Locks the directory, creates the database if necessary, and opens the lock service. `options`
  // must be checked and complete: `clock` and `shared_memory_budget` are set, and `file_system`
  // holds the directory, which exists (filesystem/guarded_file_system.h). Errors of OpenDirectory.
  // `files`: null, or open SSTables that outlive it.
  static absl::StatusOr<std::unique_ptr<ClusterEnvironment>> Open(std::string_view path,
                                                                  const DatabaseOptions& options,
                                                                  OpenFiles* files = nullptr);
  // Closes the files that rows and streams still refer to, while the directory is still locked.
  ~ClusterEnvironment();
  ClusterEnvironment(const ClusterEnvironment&) = delete;
  ClusterEnvironment& operator=(const ClusterEnvironment&) = delete;

  bool read_only() const { return options.read_only; }

  const DatabaseOptions options;  // of the opening
  LiveOptions live;
  const std::unique_ptr<ListenerQueue> events;  // null: there is no listener
  InfoLog info_log;
  const std::unique_ptr<ScanCache> scan_cache;  // null: off
  RateLimiter rate_limiter;
  SequenceSource sequences;
  const std::shared_ptr<SnapshotList> snapshots;  // snapshots may outlive the environment
  ClosingState closing;
  LayoutPool layouts;
  UnservedTablets unserved;
  InheritedCounters inherited_counters;

  ClusterStorage storage;
  ClusterCoordination coordination;
  std::unique_ptr<AccessControl> access;
  QuotaControl quotas;
  // Of batches on several users' tablets.
  struct Batches {
    BatchLogSync log_sync;
    std::unique_ptr<VoidBatches> void_batches;
    std::unique_ptr<BatchWriter> writer;
  } batches;
  LimitedMutex ingestion;  // Ingestion::Parts::mutex
  ChangeReaders change_readers;

  // Its threads start in Cluster::StartBackground, and end before the first server does.
  BackgroundWork background;

 private:
  ClusterEnvironment(std::string_view path, const DatabaseOptions& options, OpenFiles* files);

  // Makes file numbers and server names continue after those in the directory.
  absl::Status StartNumbers();
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_ENVIRONMENT_H_
