#include "master/tablet_changes.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"

#include "admission/write_controller.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "master/split_rows.h"
#include "metadata/metadata_format.h"
#include "read/row_ranges.h"

namespace bigtable {
namespace {

// The server does not have the tablet any more, or was lost: look the tablet up again.
bool IsElsewhere(const absl::Status& status, const ServerHost& host) {
  return absl::IsNotFound(status) || (!status.ok() && !host.server()->state().serving());
}

}  // namespace

absl::StatusOr<HostedTablet> TabletChanges::AwaitTablet(uint64_t table_id, std::string_view row,
                                                        const CallLimits& limits) {
  while (true) {
    HostedTablet hosted = context_->servers->FindTablet(table_id, row);
    if (hosted && hosted.host->server()->state().serving()) return hosted;
    BT_RETURN_IF_ERROR(WaitForTablet(table_id, row, limits));
  }
}

absl::Status TabletChanges::WaitALittle(const CallLimits& limits) {
  BT_RETURN_IF_ERROR(limits.Check());
  BT_RETURN_IF_ERROR(context_->Step());
  if (context_->IsStopping()) return absl::FailedPreconditionError("the database is being closed");
  context_->background->WaitForProgress(absl::Milliseconds(1));
  return absl::OkStatus();
}

absl::Status TabletChanges::WaitForTablet(uint64_t table_id, std::string_view row,
                                          const CallLimits& limits) {
  bool is_over;
  const absl::Status why = context_->unserved->Why(table_id, row, &is_over);
  if (is_over) return why;
  BT_RETURN_IF_ERROR(context_->unserved->Explain(WaitALittle(limits), table_id, row));
  return catalogue_->Check(table_id);
}

absl::StatusOr<std::vector<HostedTablet>> TabletChanges::AwaitTablets(uint64_t table_id,
                                                                      const CallLimits& limits) {
  while (true) {
    std::vector<HostedTablet> tablets = context_->servers->TabletsOf(table_id);
    std::optional<std::string> next = "";  // where the next tablet begins
    for (const HostedTablet& hosted : tablets) {
      if (!next.has_value() || hosted.tablet->rows().begin() != *next) break;
      next = hosted.tablet->rows().end();
    }
    if (!next.has_value()) return tablets;
    BT_RETURN_IF_ERROR(WaitForTablet(table_id, *next, limits));
  }
}

std::optional<int> TabletChanges::NumberOf(const ServerHost& host) const {
  for (int number = 0; const std::shared_ptr<ServerHost>& other : context_->servers->Users()) {
    if (other.get() == &host) return number;
    ++number;
  }
  return std::nullopt;
}

// --- Splits ---

absl::Status TabletChanges::SplitTablet(std::string_view table, std::string_view row,
                                        const CallLimits& caller_limits) {
  const CallLimits limits = context_->WithEnd(caller_limits);
  BT_RETURN_IF_ERROR(CheckSplitRow(row));
  while (true) {
    BT_ASSIGN_OR_RETURN(const uint64_t table_id, catalogue_->FindId(table));
    BT_ASSIGN_OR_RETURN(const HostedTablet hosted, AwaitTablet(table_id, row, limits));
    BT_RETURN_IF_ERROR(context_->AwaitChanges(limits));
    BT_RETURN_IF_ERROR(context_->Step());
    const absl::Status split = hosted.host->Split(context_->epoch(), table_id, row, limits);
    if (IsElsewhere(split, *hosted.host)) {
      BT_RETURN_IF_ERROR(WaitALittle(limits));
      continue;
    }
    if (absl::IsAlreadyExists(split)) {
      drop_splits_.Keep(table_id, row);
      return absl::AlreadyExistsError(
          Cat("table ", table, " has a tablet that begins with ", Quoted(row), " already"));
    }
    return split;
  }
}

absl::Status TabletChanges::SplitMetadataTablet(ServerHost* host, std::string_view row,
                                                const CallLimits& limits) {
  BT_RETURN_IF_ERROR(context_->Step());
  return host->Split(context_->epoch(), kMetadataTableId, row, context_->WithEnd(limits));
}

// --- Moves ---

absl::Status TabletChanges::MoveTablet(std::string_view table, std::string_view row, int server,
                                       const CallLimits& caller_limits) {
  const CallLimits limits = context_->WithEnd(caller_limits);
  while (true) {
    const std::vector<std::shared_ptr<ServerHost>> hosts = context_->servers->Users();
    if (server < 0 || static_cast<size_t>(server) >= hosts.size()) {
      return absl::InvalidArgumentError(
          Cat("the number of a server must be from 0 to ", hosts.size() - 1, ", and is ", server));
    }
    const std::shared_ptr<ServerHost>& to = hosts[static_cast<size_t>(server)];
    BT_ASSIGN_OR_RETURN(const uint64_t table_id, catalogue_->FindId(table));
    BT_ASSIGN_OR_RETURN(const HostedTablet hosted, AwaitTablet(table_id, row, limits));
    if (hosted.host == to) return absl::OkStatus();
    const absl::Status moved = Move(table, hosted, to.get(), limits);
    if (!IsElsewhere(moved, *hosted.host)) return moved;
    BT_RETURN_IF_ERROR(WaitALittle(limits));
  }
}

absl::Status TabletChanges::Move(std::string_view table, const HostedTablet& from, ServerHost* to,
                                 const CallLimits& limits) {
  BT_RETURN_IF_ERROR(to->server()->write_error().status());
  // Once the tablet has left its server, the other one must load it.
  BT_RETURN_IF_ERROR(to->AwaitTurn(limits));
  BT_RETURN_IF_ERROR(context_->AwaitChanges(limits));
  const TabletId id = from.tablet->id();
  BT_RETURN_IF_ERROR(context_->Step());
  if (!assignment_->BeginMove(id)) return absl::NotFoundError("it is moving already");
  const ServerSet::Moving moving(context_->servers, from.tablet);
  absl::Status status = from.host->Unload(context_->epoch(), id, limits);
  const bool unloaded = status.ok();
  if (unloaded) status = LoadMoved(table, from, to);
  assignment_->EndMove(id);
  context_->wake();  // for callers that found it moving
  if (unloaded && !status.ok() && !absl::IsNotFound(status)) {
    return absl::UnavailableError(
        Cat("the tablet could not be served by another server: ", ToStd(status.message())));
  }
  if (status.ok()) NotifyMoved(table, from, *to);
  return status;
}

absl::Status TabletChanges::LoadMoved(std::string_view table, const HostedTablet& from,
                                      ServerHost* to) {
  const TabletId id = from.tablet->id();
  // Holds the mutex so that the schema is the current one.
  MutexLock lock(&catalogue_->change_mutex());
  const absl::StatusOr<TableLayout> layout = catalogue_->Find(table);
  absl::Status status = layout.status();
  if (status.ok() && layout->table_id != id.table_id) {
    status = absl::NotFoundError(Cat("table ", table, " was deleted"));
  }
  if (status.ok()) status = context_->Step();
  if (!status.ok()) {
    assignment_->MarkUnassigned();
    return status;
  }
  status = to->Load(context_->epoch(), *layout, id, {});
  if (status.ok()) return status;
  // Return the tablet to its old server, or else leave it to the next assignment.
  const absl::Status back = from.host->Load(context_->epoch(), *layout, id, {},
                                            ServerHost::IfRefusingWrites::kServeReads);
  if (!back.ok()) {
    assignment_->MarkUnassigned();
    context_->RecordFailedLoad(id, table, from.tablet->rows().begin(), back);
  }
  return status;
}

void TabletChanges::NotifyMoved(std::string_view table, const HostedTablet& from,
                                const ServerHost& to) {
  const std::string& before = from.host->server()->name();
  const std::string& now = to.server()->name();
  context_->info_log->Info("moved a tablet of table ", table, " from server ", before, " to ", now);
  if (ListenerQueue* const events = context_->events) {
    events->Push(&EventListener::OnTabletMoved, {.time = absl::Now(),
                                                 .table = std::string(table),
                                                 .row = from.tablet->rows().begin(),
                                                 .server = now,
                                                 .previous_server = before});
  }
}

// --- Merges ---

absl::Status TabletChanges::MergeTablets(std::string_view table, std::string_view row,
                                         const CallLimits& caller_limits,
                                         BackgroundWork::IfStopped if_stopped) {
  const CallLimits limits = context_->WithEnd(caller_limits);
  while (true) {
    BT_ASSIGN_OR_RETURN(const uint64_t table_id, catalogue_->FindId(table));
    BT_ASSIGN_OR_RETURN(const std::vector<HostedTablet> tablets, AwaitTablets(table_id, limits));
    const auto right = std::find_if(
        tablets.begin(), tablets.end(),
        [&](const HostedTablet& hosted) { return hosted.tablet->rows().begin() == row; });
    if (right == tablets.begin() || right == tablets.end()) {
      return absl::NotFoundError(
          Cat("table ", table, " has no tablet after the first that begins with ", Quoted(row)));
    }
    const HostedTablet& left = *std::prev(right);
    if (left.host != right->host) {
      if (const std::optional<int> number = NumberOf(*right->host)) {
        BT_RETURN_IF_ERROR(MoveTablet(table, left.tablet->rows().begin(), *number, caller_limits));
      }
      continue;
    }
    BT_RETURN_IF_ERROR(context_->AwaitChanges(limits));
    BT_RETURN_IF_ERROR(context_->Step());
    const absl::Status merged = left.host->Merge(context_->epoch(), left.tablet->id(),
                                                 right->tablet->id(), if_stopped, limits);
    if (!IsElsewhere(merged, *left.host)) return merged;
    BT_RETURN_IF_ERROR(WaitALittle(limits));
  }
}

// --- Dropped rows ---

absl::Status TabletChanges::DropRows(uint64_t table_id, const RowRange& rows,
                                     const std::optional<std::string>& caller,
                                     const CallLimits& caller_limits) {
  const CallLimits limits = context_->WithEnd(caller_limits);
  // The rows before it were dropped. They may be in the next tablet, if it was merged since: that
  // is split again, so that no row is dropped twice.
  std::optional<std::string> next = rows.begin();
  while (next.has_value() && (next == rows.begin() || rows.Contains(*next))) {
    BT_ASSIGN_OR_RETURN(const HostedTablet hosted, AwaitTablet(table_id, *next, limits));
    BT_RETURN_IF_ERROR(
        hosted.host->data_path()->CheckRowDeletion(*hosted.tablet->Layout(), caller, limits));
    BT_RETURN_IF_ERROR(context_->AwaitChanges(limits));
    BT_RETURN_IF_ERROR(context_->Step());
    const absl::StatusOr<bool> dropped = DropRowsOf(hosted, RowsBetween(*next, rows.end()), limits);
    if (dropped.ok()) {
      if (*dropped) next = hosted.tablet->rows().end();
    } else if (IsElsewhere(dropped.status(), *hosted.host)) {
      BT_RETURN_IF_ERROR(WaitALittle(limits));
    } else if (!absl::IsAlreadyExists(dropped.status())) {
      return dropped.status();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TabletChanges::DropRowsOf(const HostedTablet& hosted, const RowRange& rows,
                                               const CallLimits& limits) {
  const RowRange& has = hosted.tablet->rows();
  // The parts of a tablet that was split are looked up again.
  if (has.begin() < rows.begin()) {
    BT_RETURN_IF_ERROR(SplitToDrop(hosted, rows.begin(), limits));
    return false;
  }
  if (rows.end().has_value() && (!has.end().has_value() || *has.end() > *rows.end())) {
    BT_RETURN_IF_ERROR(SplitToDrop(hosted, *rows.end(), limits));
    return false;
  }
  BT_RETURN_IF_ERROR(hosted.host->Empty(context_->epoch(), hosted.tablet->id(), has, limits));
  return true;
}

absl::Status TabletChanges::SplitToDrop(const HostedTablet& hosted, std::string_view row,
                                        const CallLimits& limits) {
  const uint64_t table_id = hosted.tablet->table_id();
  BT_RETURN_IF_ERROR(hosted.host->Split(context_->epoch(), table_id, row, limits));
  drop_splits_.Add(table_id, row);
  return absl::OkStatus();
}

// --- Ingested files ---

absl::StatusOr<TableLayout> TabletChanges::LayoutOf(uint64_t table_id,
                                                    std::string_view name) const {
  BT_ASSIGN_OR_RETURN(TableLayout layout, catalogue_->Find(name));
  if (layout.table_id == table_id) return layout;
  return absl::NotFoundError(Cat("table ", name, " was deleted"));
}

absl::Status TabletChanges::CheckMayWrite(const TableLayout& layout,
                                          const std::optional<std::string>& caller,
                                          const CallLimits& limits) const {
  return context_->servers->Users().front()->data_path()->CheckRowDeletion(layout, caller, limits);
}

absl::Status TabletChanges::Ingest(const IngestRequest& request, bool* may_be_named) {
  IngestRequest ended = request;
  ended.limits = context_->WithEnd(request.limits);
  const CallLimits& limits = ended.limits;
  *may_be_named = false;
  while (true) {
    BT_ASSIGN_OR_RETURN(std::vector<HostedTablet> tablets,
                        AwaitTablets(request.layout->table_id, limits));
    std::erase_if(tablets, [&](const HostedTablet& hosted) {
      return std::none_of(request.files.begin(), request.files.end(), [&](const auto& file) {
        return MayHaveRowsOf(file.info, hosted.tablet->rows());
      });
    });
    BT_RETURN_IF_ERROR(AwaitCompactions(tablets, limits));
    BT_RETURN_IF_ERROR(context_->Step());
    const absl::Status added = ingestion_->AddTo(tablets, ended, may_be_named);
    const bool is_elsewhere =
        std::any_of(tablets.begin(), tablets.end(),
                    [&](const HostedTablet& hosted) { return IsElsewhere(added, *hosted.host); });
    if (*may_be_named || !is_elsewhere) return added;
    BT_RETURN_IF_ERROR(WaitALittle(limits));
  }
}

absl::Status TabletChanges::AwaitCompactions(const std::vector<HostedTablet>& tablets,
                                             const CallLimits& limits) {
  constexpr absl::Duration kLongest = absl::Seconds(10);
  const SteadyTime end = SteadyTime::Now() + kLongest;
  const auto has_many = [](const HostedTablet& hosted) {
    return hosted.tablet->MostRuns() >= WriteController::kSlowRuns;
  };
  while (std::any_of(tablets.begin(), tablets.end(), has_many) && SteadyTime::Now() < end &&
         !context_->background->AreCompactionsStopped()) {
    BT_RETURN_IF_ERROR(WaitALittle(limits));
  }
  return absl::OkStatus();
}

// --- Lists ---

absl::StatusOr<std::vector<TabletInfo>> TabletChanges::Tablets(std::string_view table,
                                                               const CallLimits& limits) {
  BT_ASSIGN_OR_RETURN(const uint64_t table_id, catalogue_->FindId(table));
  BT_ASSIGN_OR_RETURN(const std::vector<HostedTablet> tablets,
                      AwaitTablets(table_id, context_->WithEnd(limits)));
  std::vector<TabletInfo> infos;
  for (const HostedTablet& hosted : tablets) {
    TabletInfo& info = infos.emplace_back();
    info.rows = hosted.tablet->rows();
    info.server = NumberOf(*hosted.host).value_or(0);
    info.disk_bytes = hosted.tablet->DiskBytes();
  }
  return infos;
}

}  // namespace bigtable
