#include "transaction/transaction_impl.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/macros.h"

#include "backend/option_limits.h"
#include "base/info_log.h"
#include "base/status.h"
#include "base/strings.h"
#include "read/cell_cursor.h"
#include "read/filter_evaluator.h"
#include "read/row_probe.h"
#include "routing/row_reader_impl.h"
#include "rows/row_sink.h"
#include "rpc/row_conflict.h"
#include "schema/mutation_check.h"
#include "schema/mutation_format.h"
#include "transaction/observed_apply.h"

namespace bigtable {

TransactionImpl::TransactionImpl(std::shared_ptr<TransactionDomain> domain,
                                 std::shared_ptr<const Snapshot> snapshot, const CallLimits& limits)
    : domain_(std::move(domain)), limits_(limits), snapshot_(std::move(snapshot)) {
  if (snapshot_ != nullptr) MakeOwn();
}

void TransactionImpl::MakeOwn() {
  // Later calls may come after Close.
  if (clock_ == nullptr) clock_ = database()->parts.clock;
  own_ = std::make_shared<OwnWrites>(snapshot_->sequence(), clock_);
  const std::string_view bytes = batch_.bytes_;
  for (const WriteBatch::Mutation& mutation : batch_.mutations_) {
    const size_t operations = mutation.begin + mutation.row_size;
    own_->Add(TableImpl::Of(*mutation.table)->route->table_id(),
              {.row = bytes.substr(mutation.begin, mutation.row_size),
               .operations = bytes.substr(operations, mutation.end - operations)});
  }
}

OwnWrites* TransactionImpl::ChangeOwn() {
  ABSL_ASSERT(own_ != nullptr && "there is a snapshot, over which own writes are seen");
  if (own_.use_count() > 1) own_ = std::make_shared<OwnWrites>(*own_);
  return own_.get();
}

void TransactionImpl::End() {
  has_ended_ = true;
  snapshot_ = nullptr;
  own_ = nullptr;
  batch_.Clear();
  reads_.clear();
  calls_.clear();
}

absl::Status TransactionImpl::Check(const TableImpl& table) const {
  if (has_ended_) return absl::FailedPreconditionError("the transaction has ended");
  if (table.database == domain_->database) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("table ", table.name(), " is of another database"));
}

absl::Status TransactionImpl::BeginRead(const TableImpl& table, const ReadOptions& options) {
  BT_RETURN_IF_ERROR(Check(table));
  if (options.snapshot != nullptr) {
    return absl::InvalidArgumentError(
        "a read of a transaction has the transaction's snapshot; ReadOptions::snapshot must be "
        "null");
  }
  if (snapshot_ == nullptr) {
    const CallGate::LongPass pass(&database()->gate);
    if (!pass) return database()->ClosedError();
    BT_ASSIGN_OR_RETURN(snapshot_, domain_->TakeOwnSnapshot(LimitsOf(options)));
    MakeOwn();
  }
  // What is read of such a table has changed since, so it could not be committed.
  if (snapshot_->sequence() >= table.route->table_id()) return absl::OkStatus();
  return ConflictError(
      Cat("table ", table.name(), " was created or restored after the transaction has begun"));
}

void TransactionImpl::RecordRead(const TableImpl& table, RowRange rows) {
  ABSL_ASSERT(snapshot_ != nullptr && "a read has begun");
  // A loop that reads one row again and again.
  if (!reads_.empty() && reads_.back().table == &table && reads_.back().rows == rows) return;
  reads_.push_back({&table, std::move(rows), snapshot_->sequence()});
}

absl::StatusOr<Row> TransactionImpl::ReadRow(const TableImpl& table, std::string_view row,
                                             const Filter& filter, const ReadOptions& options) {
  BT_RETURN_IF_ERROR(BeginRead(table, options));
  ReadOptions at_snapshot = options;
  at_snapshot.snapshot = snapshot_;
  const bool is_own = own_->Has(table.route->table_id(), row);
  absl::StatusOr<Row> found = is_own ? ReadOverlaid(table, row, filter, at_snapshot)
                                     : table.ReadRowUncounted(row, filter, at_snapshot);
  if (found.ok()) RecordRead(table, RowRange::Single(row));
  return found;
}

// As bigtable::ReadRow, without the scan cache, which has no own writes.
absl::StatusOr<Row> TransactionImpl::ReadOverlaid(const TableImpl& table, std::string_view row,
                                                  const Filter& filter,
                                                  const ReadOptions& options) {
  const CallGate::Pass pass(&database()->gate);
  if (!pass) return database()->ClosedError();
  const CallLimits limits = LimitsOf(options);
  QuotaControl* const quotas = table.rates();
  if (quotas != nullptr) BT_RETURN_IF_ERROR(quotas->Begin(table.DemandOf(1, 0)));
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
        BT_RETURN_IF_ERROR(
            served.path->CheckRead(version->layout(), spec.filter, table.caller, limits));
        Pin<TabletVersion> overlaid = own_->Over(*served.tablet, *version, RowRange::Single(row));
        if (!overlaid) overlaid = version.Clone();
        FilterEvaluator evaluator(spec);
        BT_RETURN_IF_ERROR(evaluator.Begin(version->budget()));
        CellCursor cells(overlaid.get(), spec);
        cells.ReadRow(RowProbe(*overlaid, row, spec.filter == nullptr));
        Row result;
        RowSink sink(&result, row);
        MergedRow source(&cells);
        const size_t most =
            options.cell_limit > 0 ? static_cast<size_t>(options.cell_limit) : SIZE_MAX;
        BT_RETURN_IF_ERROR(evaluator.ReadRow(&source, most, sink.Begin(std::move(overlaid))));
        sink.Finish();
        if (quotas != nullptr) quotas->Charge(table.DemandOf(0, TableImpl::BytesOf(result)));
        return result;
      }
    }
    BT_RETURN_IF_ERROR(table.Relocate(row, &wait, limits));
  }
}

std::unique_ptr<RowSource> TransactionImpl::ReadRows(TableImpl* table, const RowSet& rows,
                                                     const Filter& filter,
                                                     const ReadOptions& options) {
  const std::shared_ptr<TableImpl> shared = table->shared_from_this();
  if (absl::Status status = BeginRead(*table, options); !status.ok()) {
    return std::make_unique<RowReaderImpl>(shared, std::move(status), filter, options);
  }
  ReadOptions at_snapshot = options;
  at_snapshot.snapshot = snapshot_;
  std::vector<RowRange> ranges = rows.Normalized();
  for (const RowRange& range : ranges) RecordRead(*table, range);
  return std::make_unique<RowReaderImpl>(shared, std::move(ranges), filter, at_snapshot,
                                         own_->empty() ? nullptr : own_);
}

absl::StatusOr<Row> TransactionImpl::ReadRowWith(const TableImpl& table, std::string_view row,
                                                 const std::vector<const RowMutation*>& mutations,
                                                 const Filter& filter, const ReadOptions& options) {
  BT_RETURN_IF_ERROR(BeginRead(table, options));
  ReadOptions at_snapshot = options;
  at_snapshot.snapshot = snapshot_;
  const uint64_t table_id = table.route->table_id();
  OwnWrites* const own = ChangeOwn();
  const size_t size = own->SizeOf(table_id, row);
  for (const RowMutation* mutation : mutations) {
    own->Add(table_id, EncodedMutation::Of(*mutation));
  }
  absl::StatusOr<Row> found = ReadOverlaid(table, row, filter, at_snapshot);
  own->Truncate(table_id, row, size);
  if (found.ok()) RecordRead(table, RowRange::Single(row));
  return found;
}

absl::Status TransactionImpl::Apply(Table* table, const RowMutation& mutation) {
  const TableImpl& impl = *TableImpl::Of(*table);
  BT_RETURN_IF_ERROR(Check(impl));
  BT_RETURN_IF_ERROR(mutation.status());
  if (!impl.route->is_observed()) [[likely]]
    return Add(table, mutation, 0);
  const size_t mutations = batch_.mutation_count();
  const size_t calls = calls_.size();
  const absl::Status status = ObservedApply(this).Run(table, mutation);
  if (status.ok()) return status;
  batch_.Truncate(mutations);
  calls_.resize(calls);
  if (own_ != nullptr) MakeOwn();
  return status;
}

absl::Status TransactionImpl::Add(Table* table, const RowMutation& mutation, uint64_t observers) {
  BT_RETURN_IF_ERROR(batch_.CanApply(mutation));
  batch_.Add(table, mutation, observers);
  if (own_ == nullptr) return absl::OkStatus();
  ChangeOwn()->Add(TableImpl::Of(*table)->route->table_id(), EncodedMutation::Of(mutation));
  return absl::OkStatus();
}

void TransactionImpl::AddEarlierRead(const TableImpl& table, std::string_view row,
                                     SequenceNumber since) {
  reads_.push_back({&table, RowRange::Single(row), since});
}

absl::Status TransactionImpl::Commit(const WriteOptions& options, const CallLimits& limits) {
  if (has_ended_) return absl::FailedPreconditionError("the transaction has ended");
  const auto commit = [&](SequenceNumber* committed) {
    return CommitBatch(options, limits, committed);
  };
  absl::Status status;
  if (calls_.empty()) [[likely]] {
    status = commit(nullptr);
  } else {
    if (CommitOrder::IsCalling()) {
      return absl::FailedPreconditionError(
          "MutationObserver::After must not commit writes to tables with observers");
    }
    BT_ASSIGN_OR_RETURN(const SequenceNumber last, LastSequence());
    const auto report = [&](const absl::Status& thrown) {
      InfoLog(database()->log_sink).Error(ToStd(thrown.message()), "; the write is committed");
    };
    status = domain_->commit_order.Run(last, std::move(calls_), limits, commit, report);
  }
  if (IsNotObserved(status)) [[unlikely]] {
    for (const WriteBatch::Mutation& mutation : batch_.mutations_) {
      TableImpl::Of(*mutation.table)->route->SetObserved(true);
    }
    status = ConflictError();
  }
  End();
  return status;
}

absl::StatusOr<SequenceNumber> TransactionImpl::LastSequence() const {
  const CallGate::LongPass pass(&database()->gate);
  if (!pass) return database()->ClosedError();
  return database()->parts.sequences->last();
}

absl::Status TransactionImpl::CommitBatch(const WriteOptions& options, const CallLimits& limits,
                                          SequenceNumber* committed) {
  return BatchCall::Apply(database(), batch_, options, limits, nullptr, &reads_, committed,
                          is_paid_);
}

}  // namespace bigtable
