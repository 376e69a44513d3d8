// The state of an embedded database that its calls share. Readers, scanners, tables and
// transactions share it, so it outlives the Database object. After Close only the gate may be used.
#ifndef BIGTABLE_ROUTING_DATABASE_IMPL_H_
#define BIGTABLE_ROUTING_DATABASE_IMPL_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <unistd.h>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/call_recording.h"
#include "bigtable/clock.h"
#include "bigtable/log_sink.h"
#include "bigtable/memory_budget.h"
#include "bigtable/options.h"

#include "admission/access_list_store.h"
#include "admission/quota_control.h"
#include "background/background_work.h"
#include "base/call_gate.h"
#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "base/sequence.h"
#include "cluster/closing_state.h"
#include "cluster/cluster.h"
#include "cluster/database_history.h"
#include "cluster/live_options.h"
#include "cluster/storage.h"
#include "cluster/unserved_tablets.h"
#include "commit/batch_writer.h"
#include "filesystem/guarded_file_system.h"
#include "lockservice/lock_service.h"
#include "master/master_runner.h"
#include "master/schema_store.h"
#include "monitoring/tracer.h"
#include "options/option_changes.h"
#include "read/row_requests.h"
#include "routing/async_pool.h"
#include "routing/async_reads.h"
#include "routing/location_cache.h"
#include "rpc/request_slots.h"
#include "tablet/snapshot_list.h"

namespace bigtable {

class DatabaseImpl {
 public:
  // What calls use of the cluster, besides its servers.
  struct Parts {
    bool read_only = false;
    const LiveOptions* live = nullptr;
    Clock* clock = nullptr;
    std::shared_ptr<MemoryBudget> budget;
    SequenceSource* sequences = nullptr;
    std::shared_ptr<SnapshotList> snapshots;  // snapshots may outlive the cluster
    const UnservedTablets* unserved = nullptr;
    QuotaControl* quotas = nullptr;
    BatchWriter* batch_writer = nullptr;
    BackgroundWork* background = nullptr;  // of the servers
    ClusterStorage* storage = nullptr;
    const ClosingState* closing = nullptr;
    InfoLog* info_log = nullptr;
  };

  explicit DatabaseImpl(const DatabaseOptions& options)
      : tracer(options.trace_sink, options.trace_one_of), recorder(options.recorder) {}

  // The reason that the gate refuses calls.
  [[gnu::cold]] absl::Status ClosedError() const;
  // True in a child process that was forked while the database was open. Nothing behind the gate
  // may be touched then, not even to destroy it: other threads were using it at the fork, and its
  // resources belong to the parent.
  bool is_forked() const { return gate.is_forked(); }

  // `options` must be checked and complete. `files`: null, or SSTables that outlive this.
  absl::Status Open(std::string_view path, DatabaseOptions options, OpenFiles* files);
  // Requires that no call is inside the gate.
  absl::Status Close();
  // The first step of Open: sets `options->file_system`, and the log sink if the options have none.
  absl::Status HoldDirectory(std::string_view path, DatabaseOptions* options);
  // The step after the opening of the cluster: sets `parts` and `option_changes`.
  void TakeParts();

  // For a call inside the gate that changes something.
  absl::Status CheckWritable(const CallLimits& limits) const;
  // The numbers of all SSTables, METADATA's too. Inside the gate.
  absl::StatusOr<std::set<uint64_t>> FileNumbers() const;
  // Calls `function` for every tablet of the table, one after the other.
  absl::Status ForEachTablet(std::string_view table, const CallLimits& limits,
                             absl::FunctionRef<absl::Status(const HostedTablet&)> function);

  // Holds the directory; null until Open. Declared first, because everything else uses it.
  std::unique_ptr<GuardedFileSystem> file_system;
  // Of the options; null: there is none. For messages outside of the gate.
  std::shared_ptr<LogSink> log_sink;
  CallGate gate;
  LocationCache locations{&gate};
  RequestSlots slots;  // for messages
  // Reads whose callers do not wait: of tablets elsewhere, each of which may wait for long; of
  // tablets in place, one for each thread; and those that overlap.
  AsyncPool async_elsewhere{64};
  AsyncPool async_alone{64};
  AsyncReads async_overlapped{RowRequests::kAhead, 4, &async_alone};
  // These are null once the database is closed. Use them only inside the gate.
  std::unique_ptr<Cluster> cluster;
  Parts parts;
  std::unique_ptr<LockSession> session;  // of the clients
  std::unique_ptr<SchemaStore> schemas;
  std::unique_ptr<AccessListStore> access_lists;
  std::unique_ptr<MasterRunner> masters;
  std::unique_ptr<OptionChanges> option_changes;
  // Of an opening for reading perhaps an error, which is one for followers only.
  absl::StatusOr<DatabaseHistory> history = absl::UnknownError("");
  Tracer tracer;
  const std::shared_ptr<CallRecorder> recorder;  // of calls; null: they are not recorded
  const pid_t process = ::getpid();              // the process that opened the database

  Mutex mutex;
  bool closed ABSL_GUARDED_BY(mutex) = false;
  absl::Status close_status ABSL_GUARDED_BY(mutex);
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_DATABASE_IMPL_H_
