// The master's taking over of tablets: from the servers of earlier processes, when a database is
// opened, and from a server that has lost its lock (section 5.2 of the paper).
//
// A lost server is replaced in these steps:
//  1. its file is locked and sealed: it never serves again (tabletserver/server_lock.h)
//  2. it ends: what it has begun is done, and nothing more is acknowledged. A call on its log that
//     hangs and was left behind (commitlog/commit_log.h) may go on: what it writes is not read
//  3. its tablets are opened on other servers, as METADATA has them
//  4. its log is read, once, into all of them, and they are written out
//  5. they are served; clients find them there
//  6. the server's file and log are removed
// An error in between leaves it to be done again, from step 3 on, here or when the database is
// opened next; whoever wants a tablet of the server waits.
#include <algorithm>
#include <map>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_replay.h"
#include "master/master.h"
#include "tablet/mutation_format.h"

namespace bigtable {

struct Master::Heir {
  std::shared_ptr<TableRoute> route;
  ServedTablet lost;
  ServedTablet heir;
};

// --- Logs ---

void Master::NoteRedoPoints(const TabletState& state, Reach* must_reach) {
  for (const auto& [id, group] : state.groups) {
    SequenceNumber& reach = (*must_reach)[group.redo.server];
    reach = std::max(reach, group.redo.log_synced);
  }
}

void Master::NoteSequences(const TabletState& state) {
  for (const auto& [id, group] : state.groups) {
    sequences_.AdvanceTo(std::max(group.redo.sequence, group.redo.log_synced));
    for (const TabletFile& file : group.files) sequences_.AdvanceTo(file.info.max_sequence);
  }
}

absl::Status Master::StartServer(ServerDirectory::Kind kind, TabletServer* server) {
  if (server->has_log()) return absl::OkStatus();
  const std::string name = servers_->NewName(kind, sequences_.last());
  sequences_.AdvanceTo(servers_->last_number());
  BT_RETURN_IF_ERROR(server->StartLog(name, directory_.log_of(name), lock_service_.get()));
  servers_->Add(name);
  return absl::OkStatus();
}

absl::Status Master::Replay(const std::string& dead_server, SequenceNumber must_reach,
                            SequenceNumber last, FindTabletFunction find,
                            absl::FunctionRef<absl::Status()> flush) {
  const uint64_t most_memory = options_.shared_memory_budget->limit() / 4;
  uint64_t memory = 0;
  const std::string log = directory_.log_of(dead_server);
  const auto apply = [&](const MutationRecord& record, SequenceNumber sequence) {
    const std::shared_ptr<Tablet> tablet = find(record.table_id, record.row);
    if (tablet == nullptr) return;  // the table was deleted, or it has moved
    const uint64_t before = tablet->ActiveBytes();
    tablet->Replay(record.row, record.operations, sequence, record.server_timestamp);
    memory += tablet->ActiveBytes() - before;
  };
  std::vector<MutationRecord> mutations;
  const auto replay = [&](RecordType type, SequenceNumber sequence,
                          std::string_view payload) -> absl::Status {
    mutations.resize(1);
    const bool is_sound = type == RecordType::kBatch
                              ? ParseBatchRecord(payload, sequence, &mutations)
                              : ParseMutationRecord(payload, &mutations.front());
    if (!is_sound) {
      return absl::DataLossError(
          Cat(log, ": the record with sequence number ", sequence, " is no mutation"));
    }
    if (sequence > last) return absl::OkStatus();
    sequences_.AdvanceTo(sequence);
    const SequenceNumber before = sequence - mutations.size();
    for (size_t i = 0; i < mutations.size(); ++i) apply(mutations[i], before + 1 + i);
    // What is written out has the whole of a batch.
    if (memory <= most_memory || options_.read_only) return absl::OkStatus();
    memory = 0;
    return flush();
  };
  ReplayOptions replay_options;
  replay_options.must_reach = must_reach;
  replay_options.must_exist = servers_->HasFile(dead_server);
  replay_options.read_mode = options_.read_mode;
  BT_ASSIGN_OR_RETURN(const LogEnd end, ReplayLog(file_system_, log, replay_options, replay));
  sequences_.AdvanceTo(end.last_sequence);
  info_log_.Info("recovered ", end.records, " records of server ", dead_server);
  return absl::OkStatus();
}

// --- At opening ---

absl::Status Master::TakeOver(ServerDirectory::Kind kind, const std::vector<TabletServer*>& servers,
                              const Reach& must_reach) {
  const std::vector<std::string> dead = servers_->Servers(kind);
  const auto find = [&](uint64_t table_id, std::string_view row) -> std::shared_ptr<Tablet> {
    for (const TabletServer* server : servers) {
      if (auto tablet = server->FindTablet(table_id, row)) return tablet;
    }
    return nullptr;
  };
  const auto flush = [&]() -> absl::Status {
    for (TabletServer* server : servers) {
      server->SetVisible(sequences_.last());
      BT_RETURN_IF_ERROR(FlushAll(server));
    }
    return absl::OkStatus();
  };
  for (const std::string& name : dead) {
    if (!options_.read_only) BT_RETURN_IF_ERROR(servers_->Seal(name));
    const auto reach = must_reach.find(name);
    BT_RETURN_IF_ERROR(
        Replay(name, reach == must_reach.end() ? 0 : reach->second, kMaxSequence, find, flush));
  }
  for (TabletServer* server : servers) server->SetVisible(sequences_.last());
  if (options_.read_only) return absl::OkStatus();
  for (TabletServer* server : servers) {
    BT_RETURN_IF_ERROR(FlushAll(server));
    if (!server->Tablets().empty()) BT_RETURN_IF_ERROR(StartServer(kind, server));
  }
  for (const std::string& name : dead) BT_RETURN_IF_ERROR(servers_->Remove(name));
  return absl::OkStatus();
}

absl::Status Master::FlushAll(TabletServer* server) {
  server->FreezeEverything();
  return background_.FlushNow(server);
}

// --- Of a server that is lost ---

void Master::SealLostServers() {
  for (TabletServer* server : UserServers()) {
    if (server->serving()) continue;
    if (const absl::Status sealed = servers_->Seal(server->name()); sealed.ok()) {
      server->MarkEnded();
    } else {
      // It may have the lock again.
      info_log_.Warning("server ", server->name(),
                        " has lost its lock and is not replaced: ", ToStd(sealed.message()));
    }
  }
}

void Master::ReplaceLostServers() {
  SealLostServers();
  MutexLock schema_lock(&schema_mutex_);
  for (const std::shared_ptr<UserServer>& user : Users()) {
    if (!user->server->ended()) continue;
    user->server->WaitForEnd();
    const std::shared_ptr<UserServer> successor = MakeUserServer();
    {
      MutexLock lock(&servers_mutex_);
      std::replace(user_servers_.begin(), user_servers_.end(), user, successor);
      dead_servers_.push_back(user);
    }
    options_.shared_memory_budget->RemoveHolder(user->write_controller.get());
    options_.shared_memory_budget->AddHolder(successor->write_controller.get());
    background_.SetServers(AllServers());
    lost_servers_.push_back(user);
  }
  while (!lost_servers_.empty()) {
    if (const absl::Status status = ReplaceServer(*lost_servers_.front()); !status.ok()) {
      info_log_.Error("the tablets of server ", lost_servers_.front()->server->name(),
                      " cannot be served by others yet: ", ToStd(status.message()));
      return;  // tried again before long
    }
    lost_servers_.erase(lost_servers_.begin());
  }
}

std::vector<TabletServer*> Master::ServersEver() const {
  std::vector<TabletServer*> servers = UserServers();
  MutexLock lock(&servers_mutex_);
  for (const auto& dead : dead_servers_) servers.push_back(dead->server.get());
  return servers;
}

absl::StatusOr<std::vector<Master::Heir>> Master::OpenHeirs(const UserServer& lost,
                                                            SequenceNumber* must_reach) {
  std::vector<std::shared_ptr<TableRoute>> routes;
  {
    MutexLock lock(&mutex_);
    for (const auto& [name, route] : tables_) routes.push_back(route);
  }
  const std::vector<std::shared_ptr<UserServer>> users = Users();
  std::vector<uint64_t> loads;
  for (const auto& user : users) loads.push_back(LoadOf(*user->server));
  Reach reach;
  std::vector<Heir> heirs;
  for (const std::shared_ptr<TableRoute>& route : routes) {
    const std::shared_ptr<const ServedTable> table = route->Share();
    BT_ASSIGN_OR_RETURN(const std::vector<TabletState> states,
                        metadata_->ReadTable(table->table_id()));
    for (const TabletState& state : states) {
      NoteRedoPoints(state, &reach);
      const ServedTablet& served = table->tablets()[table->Find(state.rows.begin())];
      if (served.server != lost.server.get()) continue;
      if (!(served.tablet->rows() == state.rows)) {
        return absl::InternalError(Cat("METADATA has a tablet of table ", table->table_id(),
                                       " from ", Quoted(state.rows.begin()),
                                       " that is served as another"));
      }
      const auto least = std::min_element(loads.begin(), loads.end());
      const UserServer& user = *users[static_cast<size_t>(least - loads.begin())];
      BT_RETURN_IF_ERROR(StartServer(ServerDirectory::Kind::kUser, user.server.get()));
      BT_ASSIGN_OR_RETURN(
          std::shared_ptr<Tablet> tablet,
          Tablet::Open(user.server->environment(), *served.tablet->Layout(), state));
      *least += LoadOf(*tablet);
      heirs.push_back(
          {route, served, {std::move(tablet), user.server.get(), user.write_controller.get()}});
    }
  }
  *must_reach = reach[lost.server->name()];
  return heirs;
}

absl::Status Master::ReplaceServer(const UserServer& lost) {
  const absl::Time start = absl::Now();
  const std::string& name = lost.server->name();
  // No work on them is begun any more, and what is under way ends. They are not claimed: whoever
  // has claimed one may wait for the schema's mutex.
  for (const std::shared_ptr<Tablet>& tablet : lost.server->Tablets()) {
    tablet->SetStopped(true);
    background_.WaitForTablet(tablet.get());
  }
  SequenceNumber must_reach = 0;
  BT_ASSIGN_OR_RETURN(const std::vector<Heir> heirs, OpenHeirs(lost, &must_reach));
  std::map<TabletId, std::shared_ptr<Tablet>> by_id;
  for (const Heir& heir : heirs) by_id[heir.heir.tablet->id()] = heir.heir.tablet;
  const auto find = [&](uint64_t table_id, std::string_view row) -> std::shared_ptr<Tablet> {
    const auto found = by_id.upper_bound({table_id, std::string(row)});
    if (found == by_id.end() || found->first.table_id != table_id) return nullptr;
    return found->second->rows().Contains(row) ? found->second : nullptr;
  };
  // What it had not acknowledged nobody has seen, and nobody shall.
  const SequenceNumber last = lost.server->visible();
  const auto flush = [&]() -> absl::Status {
    for (const Heir& heir : heirs) {
      Tablet& tablet = *heir.heir.tablet;
      for (size_t group = 0; group < tablet.active_groups(); ++group) tablet.Freeze(group, last);
      BT_RETURN_IF_ERROR(background_.FlushClaimed(heir.heir.server, heir.heir.tablet));
    }
    return absl::OkStatus();
  };
  if (!heirs.empty()) {
    BT_RETURN_IF_ERROR(Replay(name, must_reach, last, find, flush));
    BT_RETURN_IF_ERROR(flush());
  }
  for (const Heir& heir : heirs) {
    heir.heir.server->AdvanceVisible(last);
    heir.heir.tablet->counters()->Inherit(*heir.lost.tablet->counters());
    heir.lost.tablet->MarkMoved();
    lost.server->ForgetTablet(*heir.lost.tablet);
    heir.heir.server->AddTablet(heir.heir.tablet);
    ReplaceInRoute(heir.route.get(), {heir.lost.tablet.get()}, {heir.heir});
  }
  background_.Wake();  // for who waits for one of them
  lost.server->DropLog();
  info_log_.Info("server ", name, " was lost; others have its ", heirs.size(), " tablets after ",
                 absl::FormatDuration(absl::Now() - start));
  return servers_->Remove(name);
}

}  // namespace bigtable
