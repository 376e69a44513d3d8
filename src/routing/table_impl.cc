#include "routing/table_impl.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"

#include "backend/option_limits.h"
#include "backend/read_checks.h"
#include "backend/write_checks.h"
#include "base/call_gate.h"
#include "base/shortcuts.h"
#include "base/status.h"
#include "blocks/overlapped_reads.h"
#include "master/master.h"
#include "read/filter_node.h"
#include "routing/remote_calls.h"
#include "routing/row_reader_impl.h"
#include "routing/scanner_impl.h"
#include "routing/snapshot_impl.h"
#include "rows/resume_token.h"
#include "rows/row_sink.h"
#include "schema/mutation_format.h"
#include "serving/row_read.h"
#include "transfer/ingest_files.h"

namespace bigtable {

uint64_t TableImpl::BytesOf(const Row& row) {
  uint64_t bytes = row.key().size();
  for (const Cell& cell : row.cells()) bytes += cell.qualifier.size() + cell.value.size();
  return bytes;
}

absl::Status TableImpl::DeletedError() const {
  return absl::NotFoundError(Cat("table ", name(), " was deleted"));
}

absl::Status TableImpl::Relocate(std::string_view row, MoveWait* wait,
                                 const CallLimits& limits) const {
  const UnservedTablets& unserved = *database->parts.unserved;
  const auto explained = [&](const absl::Status& ended) {
    return wait->has_waited() ? unserved.Explain(ended, route->table_id(), row) : ended;
  };
  if (const absl::Status ended = limits.Check(); !ended.ok()) return explained(ended);
  // The thread that closes the database waits for this call.
  if (database->gate.closed()) return database->ClosedError();
  const absl::Status found = database->locations.LookUp(route.get(), row, limits);
  // With messages, the location from METADATA may be wrong, and no server has confirmed it yet.
  if (found.ok()) return database->locations.is_remote() ? wait->Wait(limits) : found;
  if (absl::IsDeadlineExceeded(found) || absl::IsCancelled(found)) return explained(found);
  BT_ASSIGN_OR_RETURN(const bool is_there,
                      database->schemas->Has(name(), route->table_id(), limits));
  if (!is_there) return DeletedError();
  if (!absl::IsNotFound(found) && !absl::IsUnavailable(found)) return found;
  bool is_over;
  const absl::Status why = unserved.Why(route->table_id(), row, &is_over);
  return is_over ? why : unserved.Explain(wait->Wait(limits), route->table_id(), row);
}

absl::StatusOr<std::shared_ptr<const ServedTable>> TableImpl::Locate(
    absl::Span<const RowRange> ranges, MoveWait* wait, const CallLimits& limits) const {
  while (true) {
    std::shared_ptr<const ServedTable> table = route->Share();
    const std::optional<std::string_view> missing = table->FindMissing(ranges);
    if (!missing.has_value()) return table;
    BT_RETURN_IF_ERROR(Relocate(*missing, wait, limits));
  }
}

absl::Status TableImpl::CheckRead(const Filter& filter, const ReadOptions& options,
                                  const CallLimits& limits) const {
  BT_RETURN_IF_ERROR(CheckFilterAndLimits(filter, options));
  BT_RETURN_IF_ERROR(limits.Check());
  if (options.snapshot == nullptr) return absl::OkStatus();
  const auto* snapshot = static_cast<const SnapshotImpl*>(options.snapshot.get());
  if (snapshot->IsOf(database->parts.snapshots.get())) return absl::OkStatus();
  return absl::InvalidArgumentError("the snapshot is of another database");
}

absl::Status TableImpl::BeginRead(const ServedTablet& tablet, const TabletVersion& version,
                                  const Filter& filter, const ReadOptions& options,
                                  const CallLimits& limits, ReadSpec* spec,
                                  bool* superseded) const {
  BT_RETURN_IF_ERROR(CheckRead(filter, options, limits));
  DataPath::ReadPoint point;
  if (options.snapshot != nullptr) {
    point = SnapshotImpl::ReadPointOf(*options.snapshot);
    BT_RETURN_IF_ERROR(tablet.path->AwaitVisible(*point.sequence, limits));
  }
  *superseded = !tablet.path->BeginRead(*tablet.tablet, version, point, spec);
  if (*superseded && tablet.tablet->flags().removed()) return DeletedError();
  spec->filter = FilterNode::Of(filter);
  spec->settings = {.verify_checksums = options.verify_checksums, .fill_cache = options.fill_cache};
  spec->reverse = options.reverse;
  spec->limits = limits;
  return absl::OkStatus();
}

void TableImpl::ReportUnchecked(std::string_view stream, const absl::Status& status) const {
  const CallGate::Pass pass(&database->gate);
  if (!pass) return;
  database->parts.info_log->Error(
      "a ", stream, " of table ", name(),
      " ended early, and the program did not check its status: ", ToStd(status.ToString()));
}

// --- Writes ---

namespace {

// This tablet alone serves the call.
void RecordTablet(const ServedTablet& served, CallSample* sample) {
  if (sample == nullptr) [[likely]]
    return;
  sample->tablet = Ref<TabletCounters>(served.tablet->counters());
}

// The whole call is admitted, or all of its mutations get the error, except for those that have
// one.
bool TakeOfQuotas(const TableImpl& table, QuotaControl* quotas,
                  absl::Span<const RowMutation> mutations, absl::Span<absl::Status> statuses) {
  QuotaControl::Demand demand = table.DemandOf(0, 0);
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (!statuses[i].ok()) continue;
    ++demand.requests;
    demand.bytes += mutations[i].byte_size();
  }
  const absl::Status taken = quotas->Take(absl::MakeConstSpan(&demand, 1));
  if (taken.ok()) return true;
  for (absl::Status& status : statuses) status.Update(taken);
  return false;
}

}  // namespace

void TableImpl::ApplyUnobserved(absl::Span<const RowMutation> mutations,
                                const WriteOptions& options, CallSample* sample,
                                absl::Span<absl::Status> statuses) const {
  const auto refuse = [&](const absl::Status& status) {
    std::fill(statuses.begin(), statuses.end(), status);
  };
  const CallGate::Pass pass(&database->gate);
  if (!pass) return refuse(database->ClosedError());
  if (database->parts.read_only) {
    return refuse(absl::FailedPreconditionError("the database was opened read-only"));
  }
  const CallLimits limits = LimitsOf(options);
  if (const absl::Status status = limits.Check(); !status.ok()) return refuse(status);
  const Durability durability = options.durability.value_or(database->parts.live->durability);
  if (durability > Durability::kSync) [[unlikely]] {
    return refuse(DurabilityError(durability));
  }
  bool is_any_valid = false;
  for (size_t i = 0; i < mutations.size(); ++i) {
    statuses[i] = mutations[i].status();
    is_any_valid |= statuses[i].ok();
  }
  if (!is_any_valid) return;
  if (QuotaControl* const quota = rates(); quota != nullptr) [[unlikely]] {
    if (!TakeOfQuotas(*this, quota, mutations, statuses)) return;
  }

  if (mutations.size() == 1 && Shortcuts().Has(Shortcut::kOneMutation)) [[likely]] {
    const ServedTable& table = *route->Get();
    const ServedTablet& served = table.tablets()[table.Find(mutations[0].row())];
    if (served.tablet != nullptr) [[likely]] {
      RecordTablet(served, sample);
      const EncodedMutation encoded = EncodedMutation::Of(mutations[0]);
      WriteRequest write{.tablet = served.tablet.get(),
                         .mutations = {&encoded, 1},
                         .statuses = statuses,
                         .durability = durability,
                         .limits = limits,
                         .caller = caller,
                         .sample = sample};
      if (served.path->Apply(&write)) [[likely]]
        return;
    }
  }
  ApplyByTablets(mutations, durability, kUnconditional, limits, sample, statuses);
}

// Applies the mutations of each tablet together and in their order, in place or by message.
void TableImpl::ApplyByTablets(absl::Span<const RowMutation> mutations, Durability durability,
                               SequenceNumber unchanged_since, const CallLimits& limits,
                               CallSample* sample, absl::Span<absl::Status> statuses) const {
  std::vector<size_t> left;
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (statuses[i].ok()) left.push_back(i);
  }
  std::vector<std::pair<size_t, size_t>> positions;  // tablet, mutation
  std::vector<EncodedMutation> encoded;
  std::vector<absl::Status> outcomes;
  std::optional<RemoteWrites> remote;
  bool has_looked = false;
  for (MoveWait wait;; has_looked = true) {
    const ServedTable& table = *route->Get();
    positions.clear();
    for (const size_t i : left) positions.emplace_back(table.Find(mutations[i].row()), i);
    std::sort(positions.begin(), positions.end());
    const bool is_one =
        left.size() == mutations.size() && positions.front().first == positions.back().first;
    if (is_one && table.tablets()[positions.front().first].tablet != nullptr) {
      RecordTablet(table.tablets()[positions.front().first], sample);
    }
    left.clear();
    for (size_t begin = 0, end; begin < positions.size(); begin = end) {
      const size_t tablet = positions[begin].first;
      encoded.clear();
      for (end = begin; end < positions.size() && positions[end].first == tablet; ++end) {
        encoded.push_back(EncodedMutation::Of(mutations[positions[end].second]));
      }
      outcomes.assign(end - begin, absl::OkStatus());
      const ServedTablet& served = table.tablets()[tablet];
      bool is_applied = false;
      if (served.tablet != nullptr) {
        WriteRequest write{.tablet = served.tablet.get(),
                           .mutations = encoded,
                           .statuses = absl::MakeSpan(outcomes),
                           .unchanged_since = unchanged_since,
                           .durability = durability,
                           .limits = limits,
                           .caller = caller,
                           .sample = sample};
        is_applied = served.path->Apply(&write);
      } else if (served.remote != nullptr) {
        if (!remote.has_value()) remote.emplace(this, durability, &limits, unchanged_since);
        is_applied = remote->Apply(*served.remote, encoded, has_looked, absl::MakeSpan(outcomes));
      }
      for (size_t i = begin; i < end; ++i) {
        if (is_applied) {
          statuses[positions[i].second] = outcomes[i - begin];
        } else {
          left.push_back(positions[i].second);
        }
      }
    }
    if (left.empty()) return;
    const absl::Status looked = Relocate(mutations[left.front()].row(), &wait, limits);
    if (looked.ok()) continue;
    for (const size_t i : left) statuses[i] = looked;
    return;
  }
}

// --- Reads ---

namespace {

// The body of TableImpl::ReadRow, which does the counting. `sample` is mostly null. Inlined by
// force: the call would cost more than the counting.
[[gnu::always_inline]] inline absl::StatusOr<Row> ReadOneRow(
    const TableImpl& table, std::string_view row, const Filter& filter, const ReadOptions& options,
    OverlappedReads* overlapped, CallSample* sample) {
  const CallGate::Pass pass(&table.database->gate);
  if (!pass) return table.database->ClosedError();
  BT_RETURN_IF_ERROR(CheckRowKey(row));
  RowRead read;  // and not an initializer list, for which all of it would be cleared first
  read.row = row;
  read.spec.filter = FilterNode::Of(filter);
  read.spec.settings.verify_checksums = options.verify_checksums;
  read.spec.settings.fill_cache = options.fill_cache;
  read.spec.settings.overlapped = overlapped;
  read.spec.limits = LimitsOf(options);
  read.caller = table.caller;
  read.sample = sample;
  BT_RETURN_IF_ERROR(table.CheckRead(filter, options, read.spec.limits));
  if (options.cell_limit > 0) [[unlikely]]
    read.most_cells = static_cast<size_t>(options.cell_limit);
  QuotaControl* const quotas = table.rates();
  if (quotas != nullptr) [[unlikely]]
    BT_RETURN_IF_ERROR(quotas->Begin(table.DemandOf(1, 0)));
  if (options.snapshot != nullptr) read.point = SnapshotImpl::ReadPointOf(*options.snapshot);
  Row result;
  RowSink sink(&result, row);
  for (MoveWait wait;;) {
    const ServedTable& tablets = *table.route->Get();
    const ServedTablet& served = tablets.tablets()[tablets.Find(row)];
    if (served.tablet != nullptr) [[likely]] {
      bool superseded;
      BT_RETURN_IF_ERROR(
          bigtable::ReadRow(*served.path, *served.tablet, &read, &sink, &superseded));
      if (!superseded) [[likely]] {
        if (quotas != nullptr) [[unlikely]]
          quotas->Charge(table.DemandOf(0, TableImpl::BytesOf(result)));
        return result;
      }
      if (served.tablet->flags().removed()) return table.DeletedError();
    } else if (table.database->locations.is_remote()) {
      return ReadRowRemotely(table, row, filter, options, read.spec.limits, nullptr);
    }
    BT_RETURN_IF_ERROR(table.Relocate(row, &wait, read.spec.limits));
  }
}

}  // namespace

absl::StatusOr<Row> TableImpl::ReadRowUncounted(std::string_view row, const Filter& filter,
                                                const ReadOptions& options) const {
  return ReadOneRow(*this, row, filter, options, nullptr, nullptr);
}

absl::StatusOr<Row> TableImpl::ReadRow(std::string_view row, const Filter& filter,
                                       const ReadOptions& options) {
  return ReadCounted(row, filter, options, nullptr);
}

absl::StatusOr<Row> TableImpl::ReadCounted(std::string_view row, const Filter& filter,
                                           const ReadOptions& options,
                                           OverlappedReads* overlapped) {
  CallTimer timer(&monitor, Call::kReadRow, [&](RequestTrace* trace) { trace->row = row; });
  CallSample* const sample = timer.sample();
  absl::StatusOr<Row> result = ReadOneRow(*this, row, filter, options, overlapped, sample);
  if (!result.ok()) [[unlikely]] {
    timer.Failed(result.status());
  } else if (sample != nullptr && sample->trace != nullptr) [[unlikely]] {
    sample->trace->rows = result->empty() ? 0 : 1;
    sample->trace->cells = result->cells().size();
  }
  return result;
}

void TableImpl::RequestRows(absl::Span<const std::string_view> rows,
                            const RowRequests& requests) const {
  const CallGate::Pass pass(&database->gate);
  if (!pass) return;
  const ServedTable& tablets = *route->Get();
  const Tablet* tablet = nullptr;
  Pin<TabletVersion> version;
  std::optional<RowRequests::OfTablet> of_tablet;
  for (const std::string_view row : rows) {
    const Tablet* const of_row = tablets.tablets()[tablets.Find(row)].tablet.get();
    // With a scan cache the row may be there, and its blocks not needed.
    if (of_row == nullptr || of_row->environment()->scan_cache != nullptr) continue;
    if (of_row != tablet) {
      of_tablet.reset();  // before the version that it uses
      tablet = of_row;
      version = tablet->Version();
      of_tablet.emplace(requests, *version);
    }
    of_tablet->Request(row);
  }
}

bool TableImpl::MayRefuse() const {
  const CallGate::Pass pass(&database->gate);
  return !pass || caller.has_value() || rates() != nullptr;
}

std::vector<absl::StatusOr<Row>> TableImpl::GetRows(absl::Span<const std::string_view> rows,
                                                    const Filter& filter,
                                                    const ReadOptions& options) {
  const CallLimits limits = LimitsOf(options);
  std::optional<CallGate::LongPass> pass;  // the reads end before the database is closed
  std::optional<OverlappedReads> overlapped;
  std::optional<RowRequests> requests;
  if (rows.size() > 1 && Shortcuts().Has(Shortcut::kRequests) &&
      CheckFilterAndLimits(filter, options).ok()) {
    pass.emplace(&database->gate);
    if (*pass) {
      overlapped.emplace(database->file_system.get(), database->parts.budget);
      requests.emplace(FilterNode::Of(filter), &limits, &*overlapped);
    }
  }
  // Nothing is requested for calls that are refused. Where quotas or access lists may do that, the
  // first row shows it.
  const size_t first = MayRefuse() ? 1 : 0;
  size_t requested = first;  // rows before this one
  std::vector<absl::StatusOr<Row>> results;
  results.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t end = std::min(i + RowRequests::kAhead, rows.size());
    const bool goes_on = i >= first && (i == 0 || results.back().ok());
    // Some at a time: each time costs as much as a request.
    constexpr size_t kFewest = 16;
    const bool is_due = end == rows.size() || end >= requested + kFewest;
    if (requests.has_value() && goes_on && requested < end && is_due) {
      RequestRows(rows.subspan(requested, end - requested), *requests);
      overlapped->Submit();
      requested = end;
    }
    results.push_back(
        ReadCounted(rows[i], filter, options, overlapped.has_value() ? &*overlapped : nullptr));
  }
  return results;
}

TableImpl::AsyncWay TableImpl::AsyncWayOf(std::string_view row) const {
  const ServedTable& tablets = *route->Get();
  const Tablet* const tablet = tablets.tablets()[tablets.Find(row)].tablet.get();
  if (tablet == nullptr) return AsyncWay::kElsewhere;
  static constexpr CallLimits kNoLimits;
  const RowRequests requests(nullptr, &kNoLimits, nullptr);
  const Pin<TabletVersion> version = tablet->Version();
  switch (RowRequests::OfTablet(requests, *version).WaitsOf(row)) {
    case ReadSources::Waits::kNothing:
      return AsyncWay::kAtOnce;
    case ReadSources::Waits::kRequests:
      if (MayRefuse() || tablet->environment()->scan_cache != nullptr) break;
      return AsyncWay::kOverlapped;
    case ReadSources::Waits::kOthers:
      break;
  }
  return AsyncWay::kAlone;
}

absl::Status TableImpl::AddAsync(AsyncRead&& read, AsyncWay way) const {
  constexpr uint64_t kPartOfBudget = 16;
  const CallGate::Pass pass(&database->gate);
  if (!pass) return database->ClosedError();
  const uint64_t most_bytes = database->parts.budget->limit() / kPartOfBudget;
  if (way == AsyncWay::kOverlapped)
    return database->async_overlapped.Add(std::move(read), most_bytes);
  AsyncPool& pool = way == AsyncWay::kAlone ? database->async_alone : database->async_elsewhere;
  return pool.Add(std::move(read), most_bytes);
}

uint64_t AsyncRead::Read(OverlappedReads* overlapped) {
  if (!result.has_value()) result = table->ReadCounted(row, filter, options, overlapped);
  return result->ok() ? TableImpl::BytesOf(**result) : 0;
}

void TableImpl::RequestAsync(const AsyncRead& read, std::optional<OverlappedReads>* overlapped,
                             OverlappedReads::Tickets* blocks) const {
  if (!Shortcuts().Has(Shortcut::kRequests) || MayRefuse() ||
      !CheckFilterAndLimits(read.filter, read.options).ok()) {
    return;
  }
  if (!overlapped->has_value()) {
    const CallGate::Pass pass(&database->gate);
    if (!pass) return;
    overlapped->emplace(database->file_system.get(), database->parts.budget);
  }
  const CallLimits limits = LimitsOf(read.options);
  const std::string_view row = read.row;
  (*overlapped)->CollectInto(blocks);
  RequestRows({&row, 1}, RowRequests(FilterNode::Of(read.filter), &limits, &**overlapped));
  (*overlapped)->CollectInto(nullptr);
}

void TableImpl::ReadRowAsync(std::string row, Filter filter, ReadOptions options, RowDone done) {
  AsyncWay way = AsyncWay::kAtOnce;
  if (const CallGate::Pass pass(&database->gate); pass) way = AsyncWayOf(row);
  if (way == AsyncWay::kAtOnce) return done(ReadRow(row, filter, options));
  AsyncRead read{shared_from_this(), std::move(row), std::move(filter), std::move(options),
                 std::move(done)};
  const absl::Status added = AddAsync(std::move(read), way);
  if (added.ok()) return;
  // It was not taken then. Without a thread that can be started, this one waits.
  // NOLINTNEXTLINE(bugprone-use-after-move)
  read.done(absl::IsUnavailable(added) ? ReadRow(read.row, read.filter, read.options) : added);
}

std::unique_ptr<RowSource> TableImpl::ReadRows(const RowSet& rows, const Filter& filter,
                                               const ReadOptions& options) {
  return std::make_unique<RowReaderImpl>(shared_from_this(), rows.Normalized(), filter, options);
}

std::unique_ptr<RowSource> TableImpl::ResumeRows(std::string_view token, const Filter& filter,
                                                 const ReadOptions& options) {
  return std::make_unique<RowReaderImpl>(
      shared_from_this(), RangesOfToken(token, route->table_id(), name(), options.reverse), filter,
      options);
}

std::unique_ptr<ScannerBackend> TableImpl::NewScanner(ReadOptions options) {
  return std::make_unique<ScannerImpl>(shared_from_this(), std::move(options));
}

namespace {

// The first possible row that is not before the bound of a range, since tablets can only begin with
// such rows. Nothing if all are before it.
std::optional<std::string> FirstRowFrom(std::string_view bound) {
  if (bound.size() <= RowMutation::kMaxRowSize) return std::string(bound);
  return RowRange::Prefix(bound.substr(0, RowMutation::kMaxRowSize)).end();
}

// The same rows between possible rows.
RowRange BetweenRows(const RowRange& rows) {
  const std::optional<std::string> begin = FirstRowFrom(rows.begin());
  if (!begin.has_value()) return RowRange::RightOpen("", "");
  std::optional<std::string> end;
  if (rows.end().has_value()) end = FirstRowFrom(*rows.end());
  return end.has_value() ? RowRange::RightOpen(*begin, *end) : RowRange::StartingAt(*begin);
}

}  // namespace

absl::Status TableImpl::DropRowRange(const RowRange& range, const CallOptions& options) {
  const CallLimits limits = LimitsOf(options);
  const CallGate::LongPass pass(&database->gate);
  if (!pass) return database->ClosedError();
  BT_RETURN_IF_ERROR(database->CheckWritable(limits));
  const RowRange rows = BetweenRows(range);
  if (rows.empty()) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, database->masters->Get(limits));
  return master->tablets()->DropRows(route->table_id(), rows, caller, limits);
}

absl::StatusOr<IngestSummary> TableImpl::Ingest(absl::Span<const std::string> files,
                                                const IngestOptions& options) {
  CallLimits limits = LimitsOf(options);
  const CallGate::LongPass pass(&database->gate);
  if (!pass) return database->ClosedError();
  BT_RETURN_IF_ERROR(database->CheckWritable(limits));
  // Copies of files end when the database is closed.
  const std::atomic<bool>& is_closing = database->parts.closing->is_closing;
  limits.given_up = &is_closing;
  const auto layout = [&]() -> absl::StatusOr<TableLayout> {
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, database->masters->Get(limits));
    BT_ASSIGN_OR_RETURN(TableLayout now, master->tablets()->LayoutOf(route->table_id(), name()));
    BT_RETURN_IF_ERROR(master->tablets()->CheckMayWrite(now, caller, limits));
    return now;
  };
  const auto add = [&](const IngestRequest& request, bool* may_be_named) -> absl::Status {
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<Master> master, database->masters->Get(limits));
    return master->tablets()->Ingest(request, may_be_named);
  };
  const DatabaseImpl::Parts& parts = database->parts;
  absl::StatusOr<IngestSummary> ingested = IngestFiles({.storage = parts.storage,
                                                        .live = parts.live,
                                                        .budget = parts.budget,
                                                        .quotas = parts.quotas,
                                                        .info_log = parts.info_log,
                                                        .layout = layout,
                                                        .add = add},
                                                       files, options, limits);
  if (!ingested.ok() && is_closing) return database->ClosedError();
  return ingested;
}

}  // namespace bigtable
