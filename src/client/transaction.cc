#include "bigtable/transaction.h"

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/random/random.h"
#include "absl/time/clock.h"

#include "bigtable/database.h"
#include "bigtable/write_batch.h"

#include "base/status.h"
#include "base/strings.h"
#include "client/batch_call.h"
#include "client/database_impl.h"
#include "client/own_writes.h"
#include "client/row_sink.h"
#include "read/row_probe.h"
#include "rpc/row_conflict.h"
#include "tablet/mutation_format.h"
#include "tabletserver/row_read.h"

namespace bigtable {

absl::StatusOr<std::shared_ptr<const Snapshot>> DatabaseImpl::TakeOwnSnapshot(
    const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckWritable(limits));
  if (locations.is_remote()) {
    return absl::UnimplementedError("a transaction cannot use tablets that messages reach");
  }
  // Before the snapshot: the commit compares its number with what the servers note from here on.
  for (const auto& host : cluster->servers()->Users()) host->server()->TrackWrites();
  ClusterEnvironment& shared = *environment();
  auto snapshot = std::make_shared<const SnapshotImpl>(
      shared.snapshots, shared.snapshots->TakeOwn(&shared.sequences));
  cluster->servers()->WaitForWrites();
  return std::shared_ptr<const Snapshot>(std::move(snapshot));
}

// One thread at a time.
class TransactionImpl {
 public:
  TransactionImpl(std::shared_ptr<DatabaseImpl> database, std::shared_ptr<const Snapshot> snapshot)
      : database_(std::move(database)),
        snapshot_(std::move(snapshot)),
        own_(std::make_shared<OwnWrites>(snapshot_->sequence(),
                                         database_->environment()->options.clock)) {}

  absl::StatusOr<Row> ReadRow(const TableImpl& table, std::string_view row, const Filter& filter,
                              const ReadOptions& options);
  RowReader ReadRows(const std::shared_ptr<TableImpl>& table, const RowSet& rows,
                     const Filter& filter, const ReadOptions& options);
  absl::Status Apply(Table* table, const RowMutation& mutation);
  absl::Status Commit(const WriteOptions& options);
  void End() {
    snapshot_ = nullptr;
    own_ = nullptr;
    batch_.Clear();
    reads_.clear();
  }

 private:
  absl::Status Check(const TableImpl& table) const;
  absl::Status CheckRead(const TableImpl& table, const ReadOptions& options) const;
  absl::StatusOr<Row> ReadOverlaid(const TableImpl& table, std::string_view row,
                                   const Filter& filter, const ReadOptions& options);
  void NoteRead(const TableImpl& table, RowRange rows);

  const std::shared_ptr<DatabaseImpl> database_;
  std::shared_ptr<const Snapshot> snapshot_;  // null: the transaction has ended
  std::shared_ptr<OwnWrites> own_;
  WriteBatch batch_;
  std::vector<BatchCall::Read> reads_;
};

absl::Status TransactionImpl::Check(const TableImpl& table) const {
  if (snapshot_ == nullptr) return absl::FailedPreconditionError("the transaction has ended");
  if (table.database == database_) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("table ", table.name, " is of another database"));
}

absl::Status TransactionImpl::CheckRead(const TableImpl& table, const ReadOptions& options) const {
  BT_RETURN_IF_ERROR(Check(table));
  if (options.snapshot == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "a read of a transaction has the transaction's snapshot; ReadOptions::snapshot must be null");
}

void TransactionImpl::NoteRead(const TableImpl& table, RowRange rows) {
  // A loop that reads one row again and again.
  if (!reads_.empty() && reads_.back().table == &table && reads_.back().rows == rows) return;
  reads_.push_back({&table, std::move(rows)});
}

absl::StatusOr<Row> TransactionImpl::ReadRow(const TableImpl& table, std::string_view row,
                                             const Filter& filter, const ReadOptions& options) {
  BT_RETURN_IF_ERROR(CheckRead(table, options));
  ReadOptions at_snapshot = options;
  at_snapshot.snapshot = snapshot_;
  const bool is_own = own_->Has(table.route->table_id(), row);
  absl::StatusOr<Row> found = is_own ? ReadOverlaid(table, row, filter, at_snapshot)
                                     : table.ReadRow(row, filter, at_snapshot);
  if (found.ok()) NoteRead(table, RowRange::Single(row));
  return found;
}

// As bigtable::ReadRow, without the scan cache, which has no own writes.
absl::StatusOr<Row> TransactionImpl::ReadOverlaid(const TableImpl& table, std::string_view row,
                                                  const Filter& filter,
                                                  const ReadOptions& options) {
  const CallGate::Pass pass(&database_->gate);
  if (!pass) return database_->ClosedError();
  const CallLimits limits = LimitsOf(options);
  for (MoveWait wait;;) {
    const ServedTable& tablets = *table.route->Get();
    const ServedTablet& served = tablets.tablets()[tablets.Find(row)];
    if (served.tablet != nullptr) {
      const Pin<TabletVersion> version = served.tablet->Version();
      ReadSpec spec;
      bool superseded;
      BT_RETURN_IF_ERROR(
          table.BeginRead(served, *version, filter, options, limits, &spec, &superseded));
      if (!superseded) {
        BT_RETURN_IF_ERROR(served.path->CheckRead(version->layout(), spec.filter, table.caller));
        Pin<TabletVersion> overlaid = own_->Over(*served.tablet, *version, RowRange::Single(row));
        if (!overlaid) overlaid = version.Clone();
        CellCursor cells(overlaid.get(), spec);
        cells.ReadRow(RowProbe(*overlaid, row, spec.filter == nullptr));
        Row result;
        RowSink sink(&result, row);
        sink.Begin(std::move(overlaid));
        for (bool more = cells.Next(); more; more = cells.NextInRow()) sink.Add(cells);
        if (RowFilter::Needs(spec.filter)) sink.Apply(RowFilter(spec.filter));
        sink.Finish();
        BT_RETURN_IF_ERROR(cells.status());
        return result;
      }
    }
    BT_RETURN_IF_ERROR(table.LookAgain(row, &wait, limits));
  }
}

RowReader TransactionImpl::ReadRows(const std::shared_ptr<TableImpl>& table, const RowSet& rows,
                                    const Filter& filter, const ReadOptions& options) {
  if (absl::Status status = CheckRead(*table, options); !status.ok()) {
    return TableImpl::ReadRows(table, std::move(status), filter, options, nullptr);
  }
  ReadOptions at_snapshot = options;
  at_snapshot.snapshot = snapshot_;
  std::vector<RowRange> ranges = rows.Normalized();
  for (const RowRange& range : ranges) NoteRead(*table, range);
  return TableImpl::ReadRows(table, std::move(ranges), filter, at_snapshot,
                             own_->empty() ? nullptr : own_);
}

absl::Status TransactionImpl::Apply(Table* table, const RowMutation& mutation) {
  const TableImpl& impl = *TableImpl::Of(*table);
  BT_RETURN_IF_ERROR(Check(impl));
  BT_RETURN_IF_ERROR(mutation.status());
  BT_RETURN_IF_ERROR(batch_.CanApply(mutation));
  batch_.Apply(table, mutation);
  // A stream that reads has its own.
  if (own_.use_count() > 1) own_ = std::make_shared<OwnWrites>(*own_);
  own_->Add(impl.route->table_id(), EncodedMutation::Of(mutation));
  return absl::OkStatus();
}

absl::Status TransactionImpl::Commit(const WriteOptions& options) {
  if (snapshot_ == nullptr) return absl::FailedPreconditionError("the transaction has ended");
  absl::Status status = database_->Apply(batch_, options, nullptr, &reads_, snapshot_->sequence());
  End();
  if (!IsConflict(status)) return status;
  status = absl::AbortedError("a row that the transaction has read may have been written since");
  status.SetPayload(kConflictMark, absl::Cord());
  return status;
}

// --- Transaction ---

Transaction::Transaction(std::unique_ptr<TransactionImpl> impl) : impl_(std::move(impl)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction& Transaction::operator=(Transaction&&) noexcept = default;
Transaction::~Transaction() = default;

absl::StatusOr<Row> Transaction::ReadRow(Table* table, std::string_view row, const Filter& filter,
                                         const ReadOptions& options) {
  return impl_->ReadRow(*TableImpl::Of(*table), row, filter, options);
}

RowReader Transaction::ReadRows(Table* table, const RowSet& rows, const Filter& filter,
                                const ReadOptions& options) {
  return impl_->ReadRows(TableImpl::Of(*table), rows, filter, options);
}

absl::Status Transaction::Apply(Table* table, const RowMutation& mutation) {
  return impl_->Apply(table, mutation);
}

absl::Status Transaction::Commit(const WriteOptions& options) { return impl_->Commit(options); }
void Transaction::Rollback() { impl_->End(); }

// --- Database ---

absl::StatusOr<Transaction> Database::BeginTransaction(const CallOptions& options) {
  const CallGate::LongPass pass(&impl_->gate);
  if (!pass) return impl_->ClosedError();
  BT_ASSIGN_OR_RETURN(std::shared_ptr<const Snapshot> snapshot,
                      impl_->TakeOwnSnapshot(LimitsOf(options)));
  return Transaction(std::make_unique<TransactionImpl>(impl_, std::move(snapshot)));
}

absl::Status Database::RunTransaction(absl::FunctionRef<absl::Status(Transaction*)> function,
                                      const WriteOptions& options) {
  const CallLimits limits = LimitsOf(options);
  // From about the time of a transaction up to that of some dozens; by chance, so that those that
  // were in conflict do not meet again.
  absl::Duration longest_pause = absl::Microseconds(20);
  for (;;) {
    BT_ASSIGN_OR_RETURN(
        Transaction transaction,
        BeginTransaction({.deadline = options.deadline, .cancellation = options.cancellation}));
    absl::Status status = function(&transaction);
    if (status.ok()) status = transaction.Commit(options);
    if (!IsConflict(status)) return status;
    BT_RETURN_IF_ERROR(limits.Check("the transaction"));
    thread_local absl::InsecureBitGen random;
    absl::SleepFor(absl::Uniform(random, 0.0, 1.0) * longest_pause);
    longest_pause = std::min(2 * longest_pause, absl::Milliseconds(5));
  }
}

}  // namespace bigtable
