// What is behind a Database and its Tables. Readers, scanners and tables share it, so that it
// outlives the Database object; after Close only the gate answers.
#ifndef BIGTABLE_CLIENT_DATABASE_IMPL_H_
#define BIGTABLE_CLIENT_DATABASE_IMPL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/snapshot.h"
#include "bigtable/table.h"

#include "base/call_gate.h"
#include "base/call_limits.h"
#include "base/mutex.h"
#include "master/master.h"
#include "monitoring/call_counters.h"
#include "monitoring/call_timer.h"
#include "monitoring/tracer.h"
#include "tablet/cell_cursor.h"

namespace bigtable {

// A snapshot, which releases itself.
class SnapshotImpl final : public Snapshot {
 public:
  SnapshotImpl(std::shared_ptr<SnapshotList> list, SequenceNumber sequence)
      : Snapshot(sequence), list_(std::move(list)) {}
  ~SnapshotImpl() override { list_->Release(sequence()); }

  bool IsOf(const SnapshotList* list) const { return list_.get() == list; }

 private:
  const std::shared_ptr<SnapshotList> list_;
};

class DatabaseImpl {
 public:
  explicit DatabaseImpl(const DatabaseOptions& options)
      : tracer(options.trace_sink, options.trace_one_of) {}

  static absl::Status ClosedError() {
    return absl::FailedPreconditionError("the database is closed");
  }

  CallGate gate;
  // Null once closed. Used only inside the gate.
  std::unique_ptr<Master> master;
  Tracer tracer;

  Mutex mutex;
  bool closed ABSL_GUARDED_BY(mutex) = false;
  absl::Status close_status ABSL_GUARDED_BY(mutex);
};

// A table as its users share it.
class TableImpl {
 public:
  TableImpl(std::shared_ptr<DatabaseImpl> d, std::shared_ptr<const TableRoute> r, std::string n)
      : database(std::move(d)),
        route(std::move(r)),
        name(std::move(n)),
        monitor(&database->tracer, name) {}

  // Inside the gate. Checks what a read is given, pins the tablet's version and fixes the moment,
  // which is good for this tablet alone unless it is a snapshot's. `*moved`: the tablet is not what
  // the route says by now; look again.
  absl::Status BeginRead(const ServedTablet& tablet, const Filter& filter,
                         const ReadOptions& options, Pin<TabletVersion>* version, ReadSpec* spec,
                         bool* moved) const;
  absl::Status DeletedError() const;

  // Table::Apply and ApplyBatch: a status for each mutation. `sample` is null unless the call is
  // measured.
  void Apply(absl::Span<const RowMutation> mutations, const WriteOptions& options,
             CallSample* sample, absl::Span<absl::Status> statuses) const;

  void ApplyMany(absl::Span<const RowMutation> mutations, Durability durability,
                 const CallLimits& limits, CallSample* sample,
                 absl::Span<absl::Status> statuses) const;

  const std::shared_ptr<DatabaseImpl> database;
  const std::shared_ptr<const TableRoute> route;
  const std::string name;
  TableMonitor monitor;
};

// Of Call-, Read- or WriteOptions.
template <typename Options>
CallLimits LimitsOf(const Options& options) {
  return {options.deadline, options.cancellation};
}

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_DATABASE_IMPL_H_
