// The master's assignment of tablets that no server has: all of them, when a database is opened,
// and those of a server that has lost its lock (sections 5.2 and 6 of the paper).
//
// A lost server is replaced in these steps:
//  1. its file is locked and sealed: it never serves again (ServerSet::FenceLost)
//  2. it ends: what it has begun is done, and nothing more is acknowledged. What was is noted in
//     its file. A call on its log that hangs and was left behind (commitlog/commit_log.h) may go
//     on: what it writes is not read
//  3. its log is read, once, and sorted (cluster/dead_log.h)
//  4. its tablets are loaded by other servers, as METADATA and the sorted log have them, and are
//     served as soon as what came from the log is written out
//  5. the server's file and log are removed
// An error, or the master's death, leaves it to be done again from there on, by this master or
// another one; whoever wants a tablet of the server waits.
#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "absl/time/clock.h"

#include "base/start_thread.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "commitlog/log_directory.h"
#include "master/master.h"

namespace bigtable {

absl::Status Master::AssignUsers() {
  is_assigned_ = false;
  const absl::Status assigned = Assign(ServerRole::kUser);
  is_assigned_ = assigned.ok();
  cluster_->environment()->unserved.NoteAssignment(assigned);
  return assigned;
}

absl::Status Master::Assign(ServerRole role) {
  const SteadyTime start = SteadyTime::Now();
  // Before anybody asks which tablets are served: what a server that has ended had is in its log,
  // which is read only once the server is none of the present ones. An earlier master may be at it.
  ServerDirectory servers(cluster_->environment()->file_system, lock_->session(),
                          cluster_->environment()->directory);
  for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->OfRole(role)) {
    if (!host->server()->ended()) continue;
    BT_RETURN_IF_ERROR(Step());
    host->End();
    BT_RETURN_IF_ERROR(
        servers.NoteLast(host->server()->name(), host->server()->last_acknowledged()));
    cluster_->servers()->Replace(host, lock_->epoch());
  }
  // The dead before the missing: the tablets of a server that is none of the present ones by now
  // are missing then, so that its log is not removed without them.
  BT_RETURN_IF_ERROR(servers.Load());
  std::vector<std::string> dead = servers.Servers(role);
  std::erase_if(dead, [&](const std::string& name) {
    return cluster_->environment()->server_names.IsLive(name);
  });
  Reach must_reach;
  BT_ASSIGN_OR_RETURN(const std::vector<Unassigned> tablets, FindUnassigned(role, &must_reach));
  std::vector<std::unique_ptr<DeadLog>> logs;
  for (const std::string& name : dead) {
    BT_RETURN_IF_ERROR(Step());
    if (!read_only_) BT_RETURN_IF_ERROR(servers.Fence(name));
    BT_ASSIGN_OR_RETURN(const ServerDirectory::Needed needed, servers.NeededOf(name));
    if (!needed.is_needed) continue;
    BT_ASSIGN_OR_RETURN(std::unique_ptr<DeadLog> log,
                        ReadLog(name, servers.HasFile(name), needed.last, must_reach));
    // Tablets are written out one after the other: without this, power loss in between could leave
    // a later mutation without an earlier one.
    if (!read_only_ && !tablets.empty()) {
      BT_RETURN_IF_ERROR(SyncLog(cluster_->environment()->file_system,
                                 cluster_->environment()->directory.log_of(name)));
    }
    logs.push_back(std::move(log));
  }
  std::vector<DeadLog*> views;
  for (const auto& log : logs) views.push_back(log.get());
  if (!tablets.empty()) {
    BT_ASSIGN_OR_RETURN(std::vector<Share> shares, Distribute(role, tablets));
    BT_RETURN_IF_ERROR(LoadAll(std::move(shares), views));
  }
  logs.clear();
  if (!read_only_) {
    if (!dead.empty()) BT_RETURN_IF_ERROR(cluster_->servers()->AttestCommitsOf(role));
    for (const std::string& name : dead) {
      BT_RETURN_IF_ERROR(Step());
      const std::shared_ptr<ServerHost> host = cluster_->servers()->FindEver(name);
      if (host != nullptr) host->server()->DropLog();
      BT_RETURN_IF_ERROR(servers.Remove(name));
      info_log_->Info("others have the tablets of server ", name);
      // Those of earlier processes are none that a listener has heard of.
      if (ListenerQueue* const events = cluster_->environment()->events.get();
          events != nullptr && host != nullptr) {
        events->Push(&EventListener::OnServerReplaced, {absl::Now(), name});
      }
    }
  }
  if (!tablets.empty()) {
    info_log_->Info("assigned ", tablets.size(), " tablets to servers of role ", NameOfRole(role),
                    " in ", absl::FormatDuration(SteadyTime::Now() - start));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Master::Unassigned>> Master::FindUnassigned(ServerRole role,
                                                                       Reach* must_reach) {
  std::vector<const TableLayout*> layouts = {&metadata_layout_};
  if (role == ServerRole::kUser) {
    MutexLock lock(&mutex_);
    layouts.clear();  // they stay as long as the schema's mutex is held
    for (const auto& [name, layout] : tables_) layouts.push_back(&layout);
  }
  std::vector<Unassigned> tablets;
  for (const TableLayout* layout : layouts) {
    BT_ASSIGN_OR_RETURN(const std::vector<TabletState> states, ReadTablets(role, *layout));
    for (const TabletState& state : states) {
      cluster_->environment()->sequences.AdvanceTo(LargestSequence(state));
      uint64_t load = 0;
      for (const auto& [id, group] : state.groups) {
        SequenceNumber& reach = (*must_reach)[group.redo.server];
        reach = std::max(reach, group.redo.log_synced);
        for (const TabletFile& file : group.files) load += file.info.size;
      }
      tablets.push_back(
          {layout, {layout->table_id, state.rows.end()}, std::string(state.rows.begin()), load});
    }
  }
  // After METADATA was read: what is split or merged meanwhile is not taken for missing.
  std::set<TabletId> served;
  for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->OfRole(role)) {
    for (const std::shared_ptr<Tablet>& tablet : host->server()->Tablets()) {
      served.insert(tablet->id());
    }
  }
  std::erase_if(tablets, [&](const Unassigned& tablet) { return served.contains(tablet.id); });
  return tablets;
}

absl::StatusOr<std::vector<TabletState>> Master::ReadTablets(ServerRole role,
                                                             const TableLayout& layout) {
  switch (role) {
    case ServerRole::kRoot:
      return std::vector{cluster_->environment()->root.state()};
    case ServerRole::kMetadata:
      BT_RETURN_IF_ERROR(cluster_->metadata()->root_rows()->SettleTable(kMetadataTableId));
      BT_RETURN_IF_ERROR(AddFirstMetadataTablet());
      return cluster_->metadata()->root_rows()->ReadTable(kMetadataTableId);
    case ServerRole::kUser:
      break;
  }
  return cluster_->metadata()->table()->ReadTable(layout.table_id);
}

// A database that was just created has a root tablet and nothing in it. Where the root tablet was
// written out, or there are tables, a row that is missing is lost.
absl::Status Master::AddFirstMetadataTablet() {
  BT_ASSIGN_OR_RETURN(const bool is_there,
                      cluster_->metadata()->root_rows()->HasTable(kMetadataTableId));
  if (is_there || !cluster_->environment()->root.state().groups.empty()) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(const std::vector<TableLayout> layouts, schemas_.ReadAll());
  if (!layouts.empty()) return absl::OkStatus();
  return cluster_->metadata()->root_rows()->AddTable(kMetadataTableId,
                                                     {RowRange::StartingAt(*RootRows().end())});
}

absl::StatusOr<std::unique_ptr<DeadLog>> Master::ReadLog(const std::string& server, bool must_exist,
                                                         SequenceNumber last,
                                                         const Reach& must_reach) {
  DeadLog::Options options;
  const auto reach = must_reach.find(server);
  if (reach != must_reach.end()) options.replay.must_reach = reach->second;
  options.replay.must_exist = must_exist;
  options.last = last;
  options.replay.read_mode = cluster_->environment()->options.read_mode;
  // Sorting holds a few pieces at a time.
  options.piece_size =
      std::clamp<uint64_t>(cluster_->environment()->options.shared_memory_budget->limit() / 8,
                           uint64_t{1} << 20, options.piece_size);
  const std::string directory = cluster_->environment()->directory.log_of(server);
  // An earlier master may still be sorting it, too.
  if (!read_only_) {
    options.sorted_directory =
        Cat(cluster_->environment()->directory.sorted_logs(), "/", server, "-", lock_->epoch());
  }
  BT_ASSIGN_OR_RETURN(
      std::unique_ptr<DeadLog> log,
      DeadLog::Sort(cluster_->environment()->file_system, server, directory, options));
  cluster_->environment()->sequences.AdvanceTo(log->last_sequence());
  info_log_->Info("sorted ", log->statistics().records_read, " records of server ", server, ", ",
                  log->statistics().segments_read, " segments, into ", log->statistics().pieces,
                  " pieces");
  return log;
}

absl::StatusOr<std::vector<Master::Share>> Master::Distribute(
    ServerRole role, const std::vector<Unassigned>& tablets) const {
  std::vector<Share> shares;
  for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->OfRole(role)) {
    // One that was lost meanwhile is not asked.
    if (host->server()->serving()) shares.push_back({host, host->load(), {}, absl::OkStatus()});
  }
  // Those that refuse writes can serve reads, if there are no others.
  const auto is_sound = [](const Share& share) { return share.host->server()->error().ok(); };
  if (std::any_of(shares.begin(), shares.end(), is_sound)) {
    std::erase_if(shares, [&](const Share& share) { return !is_sound(share); });
  }
  if (shares.empty()) return absl::UnavailableError("no server has its lock");
  for (const Unassigned& tablet : tablets) {
    const auto least =
        std::min_element(shares.begin(), shares.end(),
                         [](const Share& a, const Share& b) { return a.load < b.load; });
    least->tablets.push_back(tablet);
    least->load += tablet.load + ServerHost::kLoadOfEach;
  }
  std::erase_if(shares, [](const Share& share) { return share.tablets.empty(); });
  return shares;
}

absl::Status Master::LoadAll(std::vector<Share> shares, const std::vector<DeadLog*>& logs) {
  const auto load = [&](Share* share) {
    for (const Unassigned& tablet : share->tablets) {
      share->status.Update(LoadOne(share->host.get(), tablet, logs));
      // Otherwise those that can be served are, whatever is wrong with this one.
      if (!share->status.ok() && is_opening_) return;
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < shares.size(); ++i) {
    absl::StatusOr<std::thread> thread = StartThread([&load, share = &shares[i]] { load(share); });
    if (thread.ok()) {
      threads.push_back(*std::move(thread));
    } else {
      load(&shares[i]);  // one after the other, then
    }
  }
  load(&shares[0]);
  for (std::thread& thread : threads) thread.join();
  for (const Share& share : shares) BT_RETURN_IF_ERROR(share.status);
  return absl::OkStatus();
}

absl::Status Master::LoadOne(ServerHost* host, const Unassigned& tablet,
                             const std::vector<DeadLog*>& logs) {
  BT_RETURN_IF_ERROR(Step());
  {
    MutexLock lock(&mutex_);
    // Looked at with the mutex: a tablet that was on its way is here, or has arrived.
    if (IsServed(tablet)) return absl::OkStatus();
    // Where it is from may be a server that is lost, and then the logs are needed until it is clear
    // that it has left before.
    if (!moving_.insert(tablet.id).second) {
      return absl::UnavailableError(Cat("a tablet of table ", tablet.layout->name, " is moving"));
    }
  }
  const absl::Status loaded = LoadSomewhere(host, tablet, logs);
  {
    MutexLock lock(&mutex_);
    moving_.erase(tablet.id);
  }
  if (loaded.ok()) {
    cluster_->environment()->unserved.Forget(tablet.id);
    return loaded;
  }
  if (absl::IsNotFound(loaded)) {
    // It was merged with another one meanwhile, if that is what was not found.
    std::string server;
    const absl::Status read = host->metadata()->ReadTablet(tablet.id, &server).status();
    if (absl::IsNotFound(read)) return absl::OkStatus();
  }
  cluster_->environment()->unserved.NoteFailure(tablet.id, tablet.layout->name, tablet.begin,
                                                loaded);
  return Annotate(loaded, Cat("table ", tablet.layout->name));
}

absl::Status Master::LoadSomewhere(ServerHost* host, const Unassigned& tablet,
                                   const std::vector<DeadLog*>& logs) {
  constexpr auto kAnyway = ServerHost::Else::kNobodyCan;
  const absl::Status loaded = host->Load(lock_->epoch(), *tablet.layout, tablet.id, logs, kAnyway);
  if (loaded.ok() || absl::IsNotFound(loaded) || host->role() == ServerRole::kRoot) return loaded;
  std::string name;
  if (!host->metadata()->ReadTablet(tablet.id, &name).ok()) return loaded;
  const std::shared_ptr<ServerHost> named = cluster_->servers()->Find(name);
  if (named == nullptr || named.get() == host || !named->server()->serving()) return loaded;
  const absl::Status back = named->Load(lock_->epoch(), *tablet.layout, tablet.id, logs, kAnyway);
  return back.ok() ? back : loaded;
}

// Whatever tablet has its rows by now: one that was merged may become what it was by a split.
bool Master::IsServed(const Unassigned& tablet) const {
  return static_cast<bool>(cluster_->servers()->FindTablet(tablet.id.table_id, tablet.begin));
}

// --- Of servers that are lost ---

absl::Status Master::ReplaceLostServers(ServerRole role) {
  cluster_->servers()->FenceLost();
  if (role == ServerRole::kUser) {
    MutexLock lock(&schema_mutex_);
    return AssignIfDue(role, &is_assigned_);
  }
  MetadataPart* const part = PartOf(role);
  MutexLock lock(&part->mutex);
  return AssignIfDue(role, &part->is_assigned);
}

absl::Status Master::AssignIfDue(ServerRole role, bool* is_assigned) {
  for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->OfRole(role)) {
    if (host->server()->ended()) *is_assigned = false;
  }
  if (*is_assigned) return absl::OkStatus();
  if (!active()) return absl::UnavailableError("this master is not active");
  const absl::Status assigned = Assign(role);
  *is_assigned = assigned.ok();
  if (role == ServerRole::kUser) cluster_->environment()->unserved.NoteAssignment(assigned);
  cluster_->environment()->background.Wake();  // for who waits for a tablet
  if (!assigned.ok()) {
    info_log_->Error("tablets that are not served cannot be assigned yet: ",
                     ToStd(assigned.message()));  // tried again before long
  }
  return assigned;
}

absl::Status Master::ReplaceAll() {
  absl::Status assigned;
  for (const ServerRole role : kServerRoles) assigned.Update(ReplaceLostServers(role));
  if (assigned.ok() || read_only_) return absl::OkStatus();
  return absl::UnavailableError(
      Cat("tablets of a server that was lost are not served, which the next opening tries again: ",
          ToStd(assigned.message())));
}

}  // namespace bigtable
