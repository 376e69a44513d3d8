// The master's changes of tablets: splits, moves and merges (sections 5.2 and 5.4 of the paper).
// What is to be done a server does (cluster/server_host.h); the master finds the server, and goes
// on when a tablet has become another one, or is another server's, by the time the server looks.
#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "master/master.h"
#include "master/split_rows.h"

namespace bigtable {
namespace {

// The server does not have the tablet any more, or was lost: it is to be looked for again.
bool IsElsewhere(const absl::Status& status, const ServerHost& host) {
  return absl::IsNotFound(status) || (!status.ok() && !host.server()->serving());
}

}  // namespace

absl::StatusOr<HostedTablet> Master::AwaitTablet(uint64_t table_id, std::string_view row,
                                                 const CallLimits& limits) {
  while (true) {
    HostedTablet hosted = cluster_->servers()->FindTablet(table_id, row);
    if (hosted && hosted.host->server()->serving()) return hosted;
    BT_RETURN_IF_ERROR(WaitForTablet(table_id, row, limits));
  }
}

absl::Status Master::CheckThere(uint64_t table_id) const {
  MutexLock lock(&mutex_);
  const bool is_there = std::any_of(tables_.begin(), tables_.end(), [&](const auto& entry) {
    return entry.second.table_id == table_id;
  });
  return is_there ? absl::OkStatus() : absl::NotFoundError("the table was deleted");
}

absl::Status Master::WaitALittle(const CallLimits& limits) {
  BT_RETURN_IF_ERROR(limits.Check());
  BT_RETURN_IF_ERROR(Step());
  if (IsStopping()) return absl::FailedPreconditionError("the database is being closed");
  cluster_->environment()->background.WaitForProgress(absl::Milliseconds(1));
  return absl::OkStatus();
}

absl::Status Master::WaitForTablet(uint64_t table_id, std::string_view row,
                                   const CallLimits& limits) {
  bool is_over;
  const absl::Status why = cluster_->environment()->unserved.Why(table_id, row, &is_over);
  if (is_over) return why;
  BT_RETURN_IF_ERROR(cluster_->environment()->unserved.Explain(WaitALittle(limits), table_id, row));
  return CheckThere(table_id);
}

absl::StatusOr<std::vector<HostedTablet>> Master::AwaitTablets(uint64_t table_id,
                                                               const CallLimits& limits) {
  while (true) {
    std::vector<HostedTablet> tablets = cluster_->servers()->TabletsOf(table_id);
    std::optional<std::string> next = "";  // where the next tablet begins
    for (const HostedTablet& hosted : tablets) {
      if (!next.has_value() || hosted.tablet->rows().begin() != *next) break;
      next = hosted.tablet->rows().end();
    }
    if (!next.has_value()) return tablets;
    BT_RETURN_IF_ERROR(WaitForTablet(table_id, *next, limits));
  }
}

std::optional<int> Master::NumberOf(const ServerHost& host) const {
  for (int number = 0; const std::shared_ptr<ServerHost>& other : cluster_->servers()->Users()) {
    if (other.get() == &host) return number;
    ++number;
  }
  return std::nullopt;
}

// --- Splits ---

absl::Status Master::SplitTablet(std::string_view table, std::string_view row,
                                 const CallLimits& caller_limits) {
  const CallLimits limits = WithEnd(caller_limits);
  BT_RETURN_IF_ERROR(CheckSplitRow(row));
  while (true) {
    BT_ASSIGN_OR_RETURN(const uint64_t table_id, FindTableId(table));
    BT_ASSIGN_OR_RETURN(const HostedTablet hosted, AwaitTablet(table_id, row, limits));
    BT_RETURN_IF_ERROR(Step());
    const absl::Status split = hosted.host->Split(lock_->epoch(), table_id, row, limits);
    if (IsElsewhere(split, *hosted.host)) {
      BT_RETURN_IF_ERROR(WaitALittle(limits));
      continue;
    }
    if (absl::IsAlreadyExists(split)) {
      return absl::AlreadyExistsError(
          Cat("table ", table, " has a tablet that begins with ", Quoted(row), " already"));
    }
    return split;
  }
}

// --- Moves ---

absl::Status Master::MoveTablet(std::string_view table, std::string_view row, int server,
                                const CallLimits& caller_limits) {
  const CallLimits limits = WithEnd(caller_limits);
  while (true) {
    const std::vector<std::shared_ptr<ServerHost>> hosts = cluster_->servers()->Users();
    if (server < 0 || static_cast<size_t>(server) >= hosts.size()) {
      return absl::InvalidArgumentError(
          Cat("the number of a server must be from 0 to ", hosts.size() - 1, ", and is ", server));
    }
    const std::shared_ptr<ServerHost>& to = hosts[static_cast<size_t>(server)];
    BT_ASSIGN_OR_RETURN(const uint64_t table_id, FindTableId(table));
    BT_ASSIGN_OR_RETURN(const HostedTablet hosted, AwaitTablet(table_id, row, limits));
    if (hosted.host == to) return absl::OkStatus();
    const absl::Status moved = Move(table, hosted, to.get(), limits);
    if (!IsElsewhere(moved, *hosted.host)) return moved;
    BT_RETURN_IF_ERROR(WaitALittle(limits));
  }
}

absl::Status Master::Move(std::string_view table, const HostedTablet& from, ServerHost* to,
                          const CallLimits& limits) {
  BT_RETURN_IF_ERROR(to->server()->error());
  const TabletId id = from.tablet->id();
  BT_RETURN_IF_ERROR(Step());
  {
    MutexLock lock(&mutex_);
    if (!moving_.insert(id).second) return absl::NotFoundError("it is moving already");
  }
  absl::Status status = from.host->Unload(lock_->epoch(), id, limits);
  const bool unloaded = status.ok();
  if (unloaded) {
    // With the schema's mutex, so that the schema is the one that it has now.
    MutexLock schema_lock(&schema_mutex_);
    const absl::StatusOr<TableLayout> layout = FindTable(table);
    status = layout.status();
    if (status.ok() && layout->table_id != id.table_id) {
      status = absl::NotFoundError(Cat("table ", table, " was deleted"));
    }
    if (status.ok()) status = Step();
    if (status.ok()) {
      status = to->Load(lock_->epoch(), *layout, id, {});
      if (!status.ok()) {
        // Then back to where it was, or else wherever it can be.
        const absl::Status back =
            from.host->Load(lock_->epoch(), *layout, id, {}, ServerHost::Else::kNobodyCan);
        if (!back.ok()) {
          is_assigned_ = false;
          cluster_->environment()->unserved.NoteFailure(id, table, from.tablet->rows().begin(),
                                                        back);
        }
      }
    } else {
      is_assigned_ = false;
    }
  }
  {
    MutexLock lock(&mutex_);
    moving_.erase(id);
  }
  Wake();  // for who has found it moving
  if (unloaded && !status.ok() && !absl::IsNotFound(status)) {
    return absl::UnavailableError(
        Cat("the tablet could not be served by another server: ", ToStd(status.message())));
  }
  if (status.ok()) {
    info_log_->Info("moved a tablet of table ", table, " from server ", from.host->server()->name(),
                    " to ", to->server()->name());
    if (ListenerQueue* const events = cluster_->environment()->events.get()) {
      events->Push(&EventListener::OnTabletMoved, {.time = absl::Now(),
                                                   .table = std::string(table),
                                                   .row = from.tablet->rows().begin(),
                                                   .server = to->server()->name(),
                                                   .previous_server = from.host->server()->name()});
    }
  }
  return status;
}

// --- Merges ---

absl::Status Master::MergeTablets(std::string_view table, std::string_view row,
                                  const CallLimits& caller_limits) {
  const CallLimits limits = WithEnd(caller_limits);
  while (true) {
    BT_ASSIGN_OR_RETURN(const uint64_t table_id, FindTableId(table));
    BT_ASSIGN_OR_RETURN(const std::vector<HostedTablet> tablets, AwaitTablets(table_id, limits));
    const auto right = std::find_if(
        tablets.begin(), tablets.end(),
        [&](const HostedTablet& hosted) { return hosted.tablet->rows().begin() == row; });
    if (right == tablets.begin() || right == tablets.end()) {
      return absl::NotFoundError(
          Cat("table ", table, " has no tablet, but its first, that begins with ", Quoted(row)));
    }
    const HostedTablet& left = *std::prev(right);
    if (left.host != right->host) {
      if (const std::optional<int> number = NumberOf(*right->host)) {
        BT_RETURN_IF_ERROR(MoveTablet(table, left.tablet->rows().begin(), *number, caller_limits));
      }
      continue;
    }
    BT_RETURN_IF_ERROR(Step());
    const absl::Status merged =
        left.host->Merge(lock_->epoch(), left.tablet->id(), right->tablet->id(), limits);
    if (!IsElsewhere(merged, *left.host)) return merged;
    BT_RETURN_IF_ERROR(WaitALittle(limits));
  }
}

// --- For those who look ---

absl::StatusOr<std::vector<TabletInfo>> Master::Tablets(std::string_view table) {
  BT_ASSIGN_OR_RETURN(const uint64_t table_id, FindTableId(table));
  BT_ASSIGN_OR_RETURN(const std::vector<HostedTablet> tablets, AwaitTablets(table_id, WithEnd({})));
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
