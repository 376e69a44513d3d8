// The implementation of a Database and its Tables. Readers, scanners and tables share it, so it
// outlives the Database object. After Close only the gate may be used.
#ifndef BIGTABLE_CLIENT_DATABASE_IMPL_H_
#define BIGTABLE_CLIENT_DATABASE_IMPL_H_

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/database.h"
#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/snapshot.h"
#include "bigtable/table.h"
#include "bigtable/write_batch.h"

#include "base/call_gate.h"
#include "base/call_limits.h"
#include "base/fork_callback.h"
#include "base/mutex.h"
#include "client/commit_order.h"
#include "client/location_cache.h"
#include "client/option_changes.h"
#include "client/row_stripes.h"
#include "client/table_route.h"
#include "cluster/cluster.h"
#include "filesystem/guarded_file_system.h"
#include "lockservice/lock_service.h"
#include "master/master_runner.h"
#include "master/schema_store.h"
#include "monitoring/call_counters.h"
#include "monitoring/call_timer.h"
#include "monitoring/tracer.h"
#include "read/cell_cursor.h"
#include "rpc/move_wait.h"
#include "rpc/request_slots.h"
#include "tablet/snapshot_list.h"
#include "tabletserver/access_list_store.h"
#include "tabletserver/data_path.h"
#include "tabletserver/quota_control.h"

namespace bigtable {

// Options with the deadline and the cancellation of CallOptions.
template <typename Options>
concept HasCallOptions =
    std::same_as<decltype(Options::deadline), decltype(CallOptions::deadline)> &&
    std::same_as<decltype(Options::cancellation), decltype(CallOptions::cancellation)>;
static_assert(HasCallOptions<CallOptions> && HasCallOptions<CreateTableOptions> &&
              HasCallOptions<OpenTableOptions> && HasCallOptions<ReadOptions> &&
              HasCallOptions<WriteOptions>);

// Call it once for each call, when the call begins (base/call_limits.h).
template <HasCallOptions Options>
CallLimits LimitsOf(const Options& options) {
  return {options.deadline, options.cancellation};
}

// A snapshot that releases itself.
class SnapshotImpl final : public Snapshot {
 public:
  // `is_users`: from Database::TakeSnapshot, after SnapshotList::AddUser.
  SnapshotImpl(std::shared_ptr<SnapshotList> list, const SnapshotList::Point& point,
               bool is_users = false)
      : Snapshot(point.sequence), list_(std::move(list)), point_(point), is_users_(is_users) {}
  ~SnapshotImpl() override {
    // After a fork, another thread of the parent may have been changing the list.
    if (ForkCallback::Forks() != forks_) return;
    list_->Release(point_);
    if (is_users_) list_->RemoveUser();
  }

  bool IsOf(const SnapshotList* list) const { return list_.get() == list; }

  // Of a snapshot that TableImpl::CheckRead has checked: when it was taken, in microseconds, and
  // the point of reads at it.
  static int64_t TimeOf(const Snapshot& snapshot) {
    return absl::ToUnixMicros(static_cast<const SnapshotImpl&>(snapshot).point_.time);
  }
  static DataPath::ReadPoint ReadPointOf(const Snapshot& snapshot) {
    return {.sequence = snapshot.sequence(), .now = TimeOf(snapshot)};
  }

 private:
  const std::shared_ptr<SnapshotList> list_;
  const SnapshotList::Point point_;
  const bool is_users_;
  const uint64_t forks_ = ForkCallback::Forks();
};

class OwnWrites;
class TableImpl;

// Rows that a transaction has read, and at which sequence number.
struct TransactionRead {
  const TableImpl* table;
  RowRange rows;
  SequenceNumber since;
};

class DatabaseImpl {
 public:
  static DatabaseImpl* Of(Database* database) { return database->impl_.get(); }

  explicit DatabaseImpl(const DatabaseOptions& options)
      : tracer(options.trace_sink, options.trace_one_of) {}

  // The reason that the gate refuses calls.
  [[gnu::cold]] absl::Status ClosedError() const;
  // True in a child process that was forked while the database was open. Nothing behind the gate
  // may be touched then, not even to destroy it: other threads were using it at the fork, and its
  // resources belong to the parent.
  bool is_forked() const { return gate.is_forked(); }

  // `options` must be checked and complete.
  absl::Status Open(std::string_view path, DatabaseOptions options);
  // Requires that no call is inside the gate.
  absl::Status Close();
  // The first step of Open: sets `options->file_system`, and the log sink if the options have none.
  absl::Status HoldDirectory(std::string_view path, DatabaseOptions* options);

  // What all servers share. Call it inside the gate.
  ClusterEnvironment* environment() const { return cluster->environment(); }

  // Database::Apply; with the reads of a transaction: see BatchCall::SetReads. `*committed`: the
  // last sequence number of the batch, if it is applied. `is_paid`: see BatchCall::SetPaid. The
  // limits are those of the options, which are not converted again.
  absl::Status Apply(const WriteBatch& batch, const WriteOptions& options, const CallLimits& limits,
                     CallSample* sample, const std::vector<TransactionRead>* reads = nullptr,
                     SequenceNumber* committed = nullptr, bool is_paid = false);

  // Database::BeginTransaction: the snapshot of a transaction, at a sequence number that no
  // mutation has.
  absl::StatusOr<std::shared_ptr<const Snapshot>> TakeOwnSnapshot(const CallLimits& limits);

  // Inside the gate: reads that begin after this can be compared with the writes that follow them
  // (TabletServer::TrackWrites). A server whose writes stall is left out: commits that have read
  // there conflict, and are tried again. Errors of the limits.
  absl::Status TrackWrites(const CallLimits& limits) const;

  // For a call inside the gate that changes something.
  absl::Status CheckWritable(const CallLimits& limits) const;
  // Calls `function` for every tablet of the table, one after the other.
  absl::Status ForEachTablet(std::string_view table, const CallLimits& limits,
                             absl::FunctionRef<absl::Status(const HostedTablet&)> function);

  Database* owner = nullptr;  // whose tables observers open; for calls of its tables only
  // Holds the directory; null until Open. Declared first, because everything else uses it.
  std::unique_ptr<GuardedFileSystem> file_system;
  // Of the options; null: there is none. For messages outside of the gate.
  std::shared_ptr<LogSink> log_sink;
  CallGate gate;
  LocationCache locations{&gate};
  RequestSlots slots;  // for messages
  RowStripes row_stripes;
  CommitOrder commit_order;  // of writes that are observed
  OptionChanges option_changes;
  // These are null once the database is closed. Use them only inside the gate.
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<LockSession> session;  // of the clients
  std::unique_ptr<SchemaStore> schemas;
  std::unique_ptr<AccessListStore> access_lists;
  std::unique_ptr<MasterRunner> masters;
  Tracer tracer;
  const pid_t process = ::getpid();  // the process that opened the database

  Mutex mutex;
  bool closed ABSL_GUARDED_BY(mutex) = false;
  absl::Status close_status ABSL_GUARDED_BY(mutex);
};

// A table, shared by all its users with the same caller name.
class TableImpl {
 public:
  TableImpl(std::shared_ptr<DatabaseImpl> d, std::shared_ptr<TableRoute> r,
            std::shared_ptr<TableMonitor> m, std::string n, std::optional<std::string> c)
      : database(std::move(d)),
        route(std::move(r)),
        name(std::move(n)),
        caller(std::move(c)),
        shared_monitor(std::move(m)),
        monitor(*shared_monitor),
        quotas(&database->environment()->quotas) {}

  // Null: the table is of a connected database (client/connected_table.h).
  static const std::shared_ptr<TableImpl>& Of(const Table& table) { return table.impl_; }
  // InvalidArgument: the table is of a connected database, which is another than the caller's.
  static absl::Status CheckEmbedded(const Table& table) {
    return table.impl_ != nullptr ? absl::OkStatus() : ConnectedTableError(table);
  }

  // Inside the gate. Call it when the route does not know `row`, or names a tablet that is not
  // served there any more. Looks the row up, and waits a little if no server has it. NotFound: the
  // table was deleted. Errors of the limits.
  [[gnu::cold]] absl::Status LookAgain(std::string_view row, MoveWait* wait,
                                       const CallLimits& limits) const;
  // Returns the route's tablets, with all tablets of `ranges` known and not superseded. `ranges`
  // must be as RowSet::Normalized() returns them. Cost: a look at each tablet of `ranges`, not at
  // every tablet of the table.
  absl::StatusOr<std::shared_ptr<const ServedTable>> Locate(absl::Span<const RowRange> ranges,
                                                            MoveWait* wait,
                                                            const CallLimits& limits) const;

  // Checks the arguments of a read: InvalidArgument, or an error of the limits.
  absl::Status CheckRead(const Filter& filter, const ReadOptions& options,
                         const CallLimits& limits) const;
  // Inside the gate. CheckRead, and then DataPath::BeginRead for a version of the tablet that the
  // caller has pinned. `*superseded`: the tablet is not served there any more; look it up again.
  absl::Status BeginRead(const ServedTablet& tablet, const TabletVersion& version,
                         const Filter& filter, const ReadOptions& options, const CallLimits& limits,
                         ReadSpec* spec, bool* superseded) const;
  [[gnu::cold]] absl::Status DeletedError() const;

  // Inside the gate. The quotas of rates that calls in place keep within; null: there are none. A
  // server checks what reaches it by messages.
  QuotaControl* rates() const {
    if (!quotas->limits_rates()) [[likely]]
      return nullptr;
    return database->locations.is_remote() ? nullptr : quotas;
  }
  // What a call on the table takes of them.
  QuotaControl::Demand DemandOf(uint64_t requests, uint64_t bytes) const {
    return {.table_id = route->table_id(), .caller = caller, .requests = requests, .bytes = bytes};
  }
  // The bytes of a row that is returned, as Quota::bytes_per_second counts them.
  [[gnu::cold]] static uint64_t BytesOf(const Row& row);

  // Table::ReadRow, without counting the call.
  absl::StatusOr<Row> ReadRow(std::string_view row, const Filter& filter,
                              const ReadOptions& options) const;

  // Table::Apply and ApplyBatch: sets a status for each mutation. `sample` is null unless the call
  // is measured.
  void Apply(absl::Span<const RowMutation> mutations, const WriteOptions& options,
             CallSample* sample, absl::Span<absl::Status> statuses) const;

  // The same, inside the gate, for mutations that are checked except for those with a status that
  // is an error. `unchanged_since`: for a single mutation (WriteRequest::unchanged_since).
  void ApplyByTablets(absl::Span<const RowMutation> mutations, Durability durability,
                      SequenceNumber unchanged_since, const CallLimits& limits, CallSample* sample,
                      absl::Span<absl::Status> statuses) const;
  // Table::ReadFilteredRows, or its error, with the writes of a transaction.
  static RowReader ReadRows(const std::shared_ptr<TableImpl>& table,
                            absl::StatusOr<std::vector<RowRange>> ranges, const Filter& filter,
                            const ReadOptions& options, std::shared_ptr<const OwnWrites> own);
  // A stream that has failed.
  [[gnu::cold]] static RowReader FailedRows(const absl::Status& error);
  [[gnu::cold]] static absl::Status DurabilityError(Durability durability);

  [[gnu::cold]] static absl::Status ConnectedTableError(const Table& table);

  Table* handle = nullptr;  // which has this
  const std::shared_ptr<DatabaseImpl> database;
  const std::shared_ptr<TableRoute> route;
  const std::string name;
  const std::optional<std::string> caller;             // none: the program itself
  const std::shared_ptr<TableMonitor> shared_monitor;  // of the table, for all callers
  TableMonitor& monitor;
  QuotaControl* const quotas;  // only inside the gate
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_DATABASE_IMPL_H_
