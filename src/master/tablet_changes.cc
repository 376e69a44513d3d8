// The master's changes of tablets: splits, moves and merges (sections 5.2, 5.4 and 6 of the paper).
//
// Each goes the same way. The tablet is claimed, so that background work leaves its files alone.
// METADATA is changed first, by one mutation that decides (metadata/metadata_table.h). Then the
// server that has the tablet has others in its place, and the route says so; calls that come to the
// old one see that it has moved, and look again.
//
// A split copies nothing and waits for nothing: the halves share memtables and SSTables. A move or
// a merge writes the tablet's memtables out twice: once while writes go on, and then, with the
// tablet stopped, the little that has come meanwhile, so that nothing of the log is needed where it
// is served next. Reads go on until it is served there.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "master/master.h"
#include "master/split_rows.h"
#include "master/tablet_claim.h"
#include "tablet/halves.h"

namespace bigtable {

// --- Splits ---

absl::Status Master::SplitTablet(std::string_view table, std::string_view row,
                                 const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckSplitRow(row));
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<TableRoute> route, FindTable(table));
    const std::shared_ptr<const ServedTable> served = route->Share();
    const ServedTablet& tablet = served->tablets()[served->Find(row)];
    if (tablet.tablet->rows().begin() == row) {
      return absl::AlreadyExistsError(
          Cat("table ", table, " has a tablet that begins with ", Quoted(row), " already"));
    }
    const TabletClaim claim(&background_, {tablet}, limits);
    BT_RETURN_IF_ERROR(claim.status());
    MutexLock schema_lock(&schema_mutex_);
    if (claim.AreServed()) return Split(route.get(), tablet, row);
  }
}

absl::Status Master::Split(TableRoute* route, const ServedTablet& tablet, std::string_view row) {
  if (!tablet.server->serving()) {
    return absl::UnavailableError(Cat("server ", tablet.server->name(), " has lost its lock"));
  }
  const TabletState state = tablet.tablet->State();
  BT_RETURN_IF_ERROR(metadata_->SplitTablet(tablet.tablet->table_id(), state, row));
  const RowRange left = RowRange::RightOpen(state.rows.begin(), row);
  const RowRange right = RowRange::StartingAt(row);
  for (const auto& [id, group] : state.groups) {
    for (const TabletFile& file : group.files) {
      if (MayHaveRowsOf(file.info, left) && MayHaveRowsOf(file.info, right)) {
        shared_files_.Share(file.info.file_number);
      }
    }
  }
  tablet.server->SplitTablet(tablet.tablet, row, [&](const Tablet::Halves& halves) {
    ReplaceInRoute(route, {tablet.tablet.get()},
                   {{halves.left, tablet.server, tablet.write_controller},
                    {halves.right, tablet.server, tablet.write_controller}});
  });
  info_log_.Info("split a tablet of table ", tablet.tablet->table_id(), " at ", Quoted(row));
  return absl::OkStatus();
}

void Master::ReplaceInRoute(TableRoute* route, const std::vector<const Tablet*>& old,
                            const std::vector<ServedTablet>& tablets) {
  std::vector<ServedTablet> all;
  for (const ServedTablet& served : route->Share()->tablets()) {
    if (served.tablet.get() == old.front()) all.insert(all.end(), tablets.begin(), tablets.end());
    if (std::find(old.begin(), old.end(), served.tablet.get()) == old.end()) all.push_back(served);
  }
  std::shared_ptr<const ServedTable> before =
      route->Replace(std::make_shared<const ServedTable>(std::move(all)));
  MutexLock lock(&mutex_);
  retired_.push_back({std::move(before), gate_->advances()});
}

std::optional<int> Master::NumberOf(const TabletServer& server) const {
  for (int number = 0; const auto& user : Users()) {
    if (user->server.get() == &server) return number;
    ++number;
  }
  return std::nullopt;
}

// --- Moves ---

absl::Status Master::MoveTablet(std::string_view table, std::string_view row, int server,
                                const CallLimits& limits) {
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    const std::vector<std::shared_ptr<UserServer>> users = Users();
    if (server < 0 || static_cast<size_t>(server) >= users.size()) {
      return absl::InvalidArgumentError(
          Cat("the number of a server must be from 0 to ", users.size() - 1, ", and is ", server));
    }
    const UserServer& to = *users[static_cast<size_t>(server)];
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<TableRoute> route, FindTable(table));
    const std::shared_ptr<const ServedTable> served = route->Share();
    const ServedTablet& tablet = served->tablets()[served->Find(row)];
    if (tablet.server == to.server.get()) return absl::OkStatus();
    BT_RETURN_IF_ERROR(background_.FlushTablet(tablet.server, tablet.tablet, limits));
    const TabletClaim claim(&background_, {tablet}, limits);
    BT_RETURN_IF_ERROR(claim.status());
    MutexLock schema_lock(&schema_mutex_);
    if (claim.AreServed() && NumberOf(*to.server) == server) return Move(route.get(), tablet, to);
  }
}

absl::Status Master::Move(TableRoute* route, const ServedTablet& tablet, const UserServer& to) {
  BT_RETURN_IF_ERROR(to.server->error());
  BT_RETURN_IF_ERROR(StartServer(ServerDirectory::Kind::kUser, to.server.get()));
  BT_RETURN_IF_ERROR(StopAndFlush(tablet));
  absl::StatusOr<std::shared_ptr<Tablet>> moved =
      Tablet::Open(to.server->environment(), *tablet.tablet->Layout(), tablet.tablet->State());
  if (!moved.ok()) {
    tablet.tablet->SetStopped(false);
    return moved.status();
  }
  to.server->AdvanceVisible(tablet.server->visible());
  tablet.tablet->MarkMoved();
  tablet.server->ForgetTablet(*tablet.tablet);
  (*moved)->counters()->Inherit(*tablet.tablet->counters());
  to.server->AddTablet(*moved);
  ReplaceInRoute(route, {tablet.tablet.get()},
                 {{*moved, to.server.get(), to.write_controller.get()}});
  info_log_.Info("moved a tablet of table ", tablet.tablet->table_id(), " from server ",
                 tablet.server->name(), " to ", to.server->name());
  return absl::OkStatus();
}

absl::Status Master::StopAndFlush(const ServedTablet& tablet) {
  BT_RETURN_IF_ERROR(tablet.server->error());
  if (!tablet.server->serving()) {
    return absl::UnavailableError(Cat("server ", tablet.server->name(), " has lost its lock"));
  }
  tablet.server->StopTablet(tablet.tablet.get());
  absl::Status status = background_.FlushClaimed(tablet.server, tablet.tablet);
  if (!status.ok()) tablet.tablet->SetStopped(false);
  return status;
}

// --- Merges ---

absl::Status Master::MergeTablets(std::string_view table, std::string_view row,
                                  const CallLimits& limits) {
  while (true) {
    BT_RETURN_IF_ERROR(limits.Check());
    BT_ASSIGN_OR_RETURN(const std::shared_ptr<TableRoute> route, FindTable(table));
    const std::shared_ptr<const ServedTable> served = route->Share();
    const size_t place = served->Find(row);
    const ServedTablet& right = served->tablets()[place];
    if (place == 0 || right.tablet->rows().begin() != row) {
      return absl::NotFoundError(
          Cat("table ", table, " has no tablet, but its first, that begins with ", Quoted(row)));
    }
    const ServedTablet& left = served->tablets()[place - 1];
    if (left.server != right.server) {
      if (const std::optional<int> number = NumberOf(*right.server)) {
        BT_RETURN_IF_ERROR(MoveTablet(table, left.tablet->rows().begin(), *number, limits));
      } else {
        background_.WaitForProgress(absl::Milliseconds(1));  // it is being replaced
      }
      continue;
    }
    for (const auto& [one, other] : {std::pair(&left, &right), std::pair(&right, &left)}) {
      if (!one->tablet->ReachesInto(*other->tablet)) {
        BT_RETURN_IF_ERROR(background_.FlushTablet(one->server, one->tablet, limits));
      } else {
        BT_RETURN_IF_ERROR(background_.CompactTablet(one->server, one->tablet, limits));
      }
    }
    const TabletClaim claim(&background_, {left, right}, limits);
    BT_RETURN_IF_ERROR(claim.status());
    MutexLock schema_lock(&schema_mutex_);
    if (claim.AreServed() && !left.tablet->ReachesInto(*right.tablet) &&
        !right.tablet->ReachesInto(*left.tablet)) {
      return Merge(route.get(), left, right);
    }
  }
}

absl::Status Master::Merge(TableRoute* route, const ServedTablet& left, const ServedTablet& right) {
  BT_RETURN_IF_ERROR(StopAndFlush(left));
  absl::Status status = StopAndFlush(right);
  std::vector<uint64_t> shared;
  const TabletState state = MergedState(left.tablet->State(), right.tablet->State(), &shared);
  absl::StatusOr<std::shared_ptr<Tablet>> merged = nullptr;
  if (status.ok()) {
    merged = Tablet::Open(right.server->environment(), *right.tablet->Layout(), state);
    status = merged.status();
  }
  if (status.ok()) status = metadata_->MergeTablets(left.tablet->id(), right.tablet->id(), state);
  if (!status.ok()) {
    for (const ServedTablet& tablet : {left, right}) tablet.tablet->SetStopped(false);
    return status;
  }
  // Of the two that have named such a file one is left.
  for (const uint64_t number : shared) static_cast<void>(shared_files_.Release(number));
  for (const ServedTablet& tablet : {left, right}) {
    (*merged)->counters()->Inherit(*tablet.tablet->counters());
    tablet.tablet->MarkMoved();
    tablet.server->ForgetTablet(*tablet.tablet);
  }
  right.server->AddTablet(*merged);
  ReplaceInRoute(route, {left.tablet.get(), right.tablet.get()},
                 {{*merged, right.server, right.write_controller}});
  info_log_.Info("merged two tablets of table ", right.tablet->table_id(), " at ",
                 Quoted(right.tablet->rows().begin()));
  return absl::OkStatus();
}

// --- All tablets of a table ---

absl::StatusOr<std::vector<TabletInfo>> Master::Tablets(std::string_view table) const {
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<TableRoute> route, FindTable(table));
  std::vector<TabletInfo> tablets;
  for (const std::shared_ptr<const ServedTable> served = route->Share();
       const ServedTablet& tablet : served->tablets()) {
    TabletInfo& info = tablets.emplace_back();
    info.rows = tablet.tablet->rows();
    info.server = NumberOf(*tablet.server).value_or(0);
    info.disk_bytes = tablet.tablet->DiskBytes();
  }
  return tablets;
}

absl::Status Master::ForEachTablet(std::string_view table,
                                   absl::FunctionRef<absl::Status(const ServedTablet&)> function) {
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<TableRoute> route, FindTable(table));
  std::optional<std::string> row = "";  // up to here it is done
  while (row.has_value()) {
    const std::shared_ptr<const ServedTable> served = route->Share();
    const ServedTablet& tablet = served->tablets()[served->Find(*row)];
    BT_RETURN_IF_ERROR(function(tablet));
    if (!tablet.tablet->moved()) row = tablet.tablet->rows().end();
  }
  return absl::OkStatus();
}

absl::Status Master::FlushTable(std::string_view table, const CallLimits& limits) {
  return ForEachTablet(table, [&](const ServedTablet& tablet) {
    return background_.FlushTablet(tablet.server, tablet.tablet, limits);
  });
}

absl::Status Master::CompactTable(std::string_view table, const CallLimits& limits) {
  return ForEachTablet(table, [&](const ServedTablet& tablet) {
    return background_.CompactTablet(tablet.server, tablet.tablet, limits);
  });
}

}  // namespace bigtable
