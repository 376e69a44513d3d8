// What all tablet servers of a process share: the locked directory, the lock service, memory,
// files, number sources and background threads. It knows no server. Use each part as its own header
// says.
#ifndef BIGTABLE_CLUSTER_ENVIRONMENT_H_
#define BIGTABLE_CLUSTER_ENVIRONMENT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/options.h"

#include "admission/access_control.h"
#include "admission/quota_control.h"
#include "background/background_work.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "base/ref_counted.h"
#include "base/relaxed.h"
#include "base/sequence.h"
#include "cache/scan_cache.h"
#include "cluster/directory.h"
#include "cluster/server_directory.h"
#include "cluster/unserved_tablets.h"
#include "commit/batch_log_sync.h"
#include "commit/batch_writer.h"
#include "compaction/rate_limiter.h"
#include "filesystem/file_pool.h"
#include "lockservice/local_lock_service.h"
#include "lockservice/small_files.h"
#include "metadata/root_tablet.h"
#include "monitoring/listener_queue.h"
#include "monitoring/tablet_counters.h"
#include "recovery/void_batches.h"
#include "schema/layout_pool.h"
#include "sstable/open_tables.h"
#include "tablet/file_numbers.h"
#include "tablet/snapshot_list.h"
#include "tablet/tablet.h"
#include "tablet/tablet_id.h"

namespace bigtable {

// The counters of tablets that were unloaded, kept until the tablet is loaded again, perhaps by
// another server.
//
// Thread-safe.
class InheritedCounters {
 public:
  // The tablet was unloaded.
  void Keep(const Tablet& tablet) {
    ABSL_ASSERT(tablet.flags().superseded() && "nothing more is counted for it");
    MutexLock lock(&mutex_);
    counters_[tablet.id()] = Ref<TabletCounters>(tablet.counters());
  }
  // The tablet was loaded: its counters continue from their old values.
  void PassOn(Tablet* tablet) {
    Ref<TabletCounters> counters;
    {
      MutexLock lock(&mutex_);
      const auto found = counters_.find(tablet->id());
      if (found == counters_.end()) return;
      counters = std::move(found->second);
      counters_.erase(found);
    }
    tablet->counters()->Inherit(*counters);
  }
  // The table was deleted.
  void ForgetTable(uint64_t table_id) {
    MutexLock lock(&mutex_);
    std::erase_if(counters_, [&](const auto& entry) { return entry.first.table_id == table_id; });
  }

 private:
  Mutex mutex_;
  std::map<TabletId, Ref<TabletCounters>> counters_ ABSL_GUARDED_BY(mutex_);
};

// SSTables that several tablets name, because these were one tablet when the files were written.
// The last tablet to drop its reference deletes the file. The counts are rebuilt from METADATA at
// each opening.
//
// Thread-safe.
class SharedFiles {
 public:
  // One more tablet names the file.
  void Share(uint64_t number) {
    MutexLock lock(&mutex_);
    ++others_[number];
  }
  // A tablet no longer names the file. True if no tablet does.
  [[nodiscard]] bool Release(uint64_t number) {
    MutexLock lock(&mutex_);
    const auto found = others_.find(number);
    if (found == others_.end()) return true;
    ABSL_ASSERT(found->second > 0 && "a count of none is not kept");
    if (--found->second == 0) others_.erase(found);
    return false;
  }

 private:
  Mutex mutex_;
  // How many tablets besides the first name the file.
  absl::flat_hash_map<uint64_t, uint64_t> others_ ABSL_GUARDED_BY(mutex_);
};

// The options that may change while a database is open, as they are now. DatabaseOptions has the
// values of the opening.
//
// Any thread reads them, and each value by itself: work that has begun may still have an earlier
// one. Only Database::SetOptions changes them (options/option_changes.h).
struct LiveOptions {
  explicit LiveOptions(const DatabaseOptions& opened)
      : durability(opened.durability),
        memtable_size(opened.memtable_size),
        metadata_tablet_size(opened.metadata_tablet_size),
        target_file_size(opened.target_file_size),
        compaction_rate(opened.compaction_rate),
        balance_interval(opened.balance_interval) {}

  Relaxed<Durability> durability;
  Relaxed<uint64_t> memtable_size;  // 0: by the memory budget
  Relaxed<uint64_t> metadata_tablet_size;
  Relaxed<uint64_t> target_file_size;
  Relaxed<uint64_t> compaction_rate;
  Relaxed<absl::Duration> balance_interval;
};

// A plain struct, and thread-safe as its parts are. Opened before the first server, and destroyed
// after the last one.
struct ClusterEnvironment {
  // A tablet was superseded: drop what is cached of it. Called on any thread, also inside the
  // group commit queue, so it must not wait.
  using SupersededFunction = std::function<void(const Tablet&)>;

  // Locks the directory, creates the database if necessary, and opens the lock service. `options`
  // must be checked and complete: `clock` and `shared_memory_budget` are set, and `file_system`
  // holds the directory, which exists (filesystem/guarded_file_system.h). Errors of OpenDirectory.
  static absl::StatusOr<std::unique_ptr<ClusterEnvironment>> Open(std::string_view path,
                                                                  const DatabaseOptions& options,
                                                                  SupersededFunction on_superseded);
  // Closes the files that rows and streams still refer to, while the directory is still locked.
  ~ClusterEnvironment();
  ClusterEnvironment(const ClusterEnvironment&) = delete;
  ClusterEnvironment& operator=(const ClusterEnvironment&) = delete;

  bool read_only() const { return options.read_only; }

  const DatabaseDirectory directory;
  const DatabaseOptions options;  // of the opening
  LiveOptions live;
  FileSystem* const file_system;
  const SupersededFunction notify_superseded;
  const std::unique_ptr<ListenerQueue> events;  // null: there is no listener
  InfoLog info_log;
  const std::unique_ptr<ScanCache> scan_cache;  // null: off
  RateLimiter rate_limiter;
  SequenceSource sequences;
  const std::shared_ptr<SnapshotList> snapshots;  // snapshots may outlive the environment
  // The database is being closed: calls no longer wait for unserved tablets or background work.
  std::atomic<bool> is_closing{false};
  // There is no master any more: calls no longer wait for METADATA either.
  std::atomic<bool> is_ending{false};
  FileNumbers file_numbers;
  SharedFiles shared_files;
  LayoutPool layouts;
  UnservedTablets unserved;
  ServerNames server_names;
  InheritedCounters inherited_counters;

  std::unique_ptr<FileLock> directory_lock;
  SmallFiles small_files;
  const std::shared_ptr<FilePool> files;  // the SSTables
  OpenTables open_tables;
  RootTablet root;
  std::unique_ptr<LocalLockService> lock_service;
  std::unique_ptr<LockSession> session;  // of the environment's own
  std::unique_ptr<AccessControl> access;
  QuotaControl quotas;
  // Of batches on several users' tablets.
  BatchLogSync batch_log_sync;
  std::unique_ptr<VoidBatches> void_batches;
  std::unique_ptr<BatchWriter> batch_writer;

  // Its threads start in Cluster::StartBackground, and end before the first server does.
  BackgroundWork background;

 private:
  ClusterEnvironment(std::string_view path, const DatabaseOptions& options,
                     SupersededFunction on_superseded);

  // Makes file numbers and server names continue after those in the directory.
  absl::Status StartNumbers();
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_ENVIRONMENT_H_
