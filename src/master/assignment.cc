#include "master/assignment.h"

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "base/start_thread.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "commitlog/log_directory.h"
#include "recovery/batch_recovery.h"

namespace bigtable {

Mutex* Assignment::MutexOf(ServerRole role) {
  if (role == ServerRole::kUser) return &catalogue_->change_mutex();
  return &metadata_mutexes_[static_cast<size_t>(role)];
}

absl::Status Assignment::AssignMetadata(ServerRole role) {
  MutexLock lock(MutexOf(role));
  const absl::Status assigned = Assign(role);
  *IsAssigned(role) = assigned.ok();
  return assigned;
}

absl::Status Assignment::AssignUsers() {
  *IsAssigned(ServerRole::kUser) = false;
  const absl::Status assigned = Assign(ServerRole::kUser);
  *IsAssigned(ServerRole::kUser) = assigned.ok();
  context_->RecordAssignment(assigned);
  return assigned;
}

absl::Status Assignment::Assign(ServerRole role) {
  MutexOf(role)->AssertHeld();
  const SteadyTime start = SteadyTime::Now();
  ServerDirectory servers(parts_.storage->file_system, context_->lock->session(),
                          parts_.storage->directory);
  BT_RETURN_IF_ERROR(EndLost(role, &servers));
  // Reads the dead servers before the unassigned tablets. If a server ends in between, its tablets
  // are among the unassigned ones, so its log is not removed without them.
  BT_RETURN_IF_ERROR(servers.Load());
  std::vector<std::string> dead = servers.Servers(role);
  std::erase_if(dead, [&](const std::string& name) {
    return parts_.coordination->server_names.IsLive(name);
  });
  Reach must_reach;
  BT_ASSIGN_OR_RETURN(const std::vector<UnassignedTablet> tablets,
                      FindUnassigned(role, &must_reach));
  if (role == ServerRole::kUser) {
    std::set<TabletId> unserved;
    for (const UnassignedTablet& tablet : tablets) unserved.insert(tablet.id);
    context_->unserved->ForgetAllBut(unserved);
  }
  BT_ASSIGN_OR_RETURN(std::vector<std::unique_ptr<DeadLog>> logs,
                      ReadLogs(dead, !tablets.empty(), must_reach, &servers));
  // Only batches of users have parts in several logs.
  if (role == ServerRole::kUser && !tablets.empty()) {
    BT_RETURN_IF_ERROR(EndIncompleteBatches(logs, must_reach, &servers));
  }
  std::vector<DeadLog*> views;
  views.reserve(logs.size());
  for (const auto& log : logs) views.push_back(log.get());
  if (role == ServerRole::kUser && is_opening_ && !context_->read_only) LeaveOutLostNumbers();
  if (!tablets.empty()) {
    BT_ASSIGN_OR_RETURN(std::vector<ServerShare> shares, Distribute(role, tablets));
    BT_RETURN_IF_ERROR(LoadAll(std::move(shares), views));
  }
  logs.clear();
  if (!context_->read_only) {
    BT_RETURN_IF_ERROR(RemoveDead(role, dead, &servers));
  }
  if (!tablets.empty()) {
    context_->info_log->Info("assigned ", tablets.size(), " tablets to servers of role ",
                             NameOfRole(role), " in ",
                             absl::FormatDuration(SteadyTime::Now() - start));
  }
  return absl::OkStatus();
}

// Numbers that were given before may be lost: those of mutations, if the machine has lost power,
// and those that a process has taken for something that it did not write. Readers of changes keep
// positions at them (bigtable/change_stream.h). So later mutations get larger numbers than any of
// those. This is before the users' servers start: their names, which are durable, have larger
// numbers (ServerNames::Take). So the next opening leaves out others, even if nothing is written
// until then.
void Assignment::LeaveOutLostNumbers() {
  // A mutation that is not in SSTables takes some bytes of memory.
  constexpr uint64_t kMostLost = uint64_t{1} << 32;
  const auto layouts = catalogue_->All();
  if (std::any_of(layouts.begin(), layouts.end(),
                  [](const auto& layout) { return layout->changes_since != 0; })) {
    parts_.sequences->AdvanceTo(parts_.sequences->last() + kMostLost);
  }
}

// Before the servers' tablets are listed: the tablets of a server that has ended need its log,
// which is read only once the server is replaced. An earlier master may be doing the same.
absl::Status Assignment::EndLost(ServerRole role, ServerDirectory* servers) {
  for (const std::shared_ptr<ServerHost>& host : context_->servers->OfRole(role)) {
    if (!host->server()->state().ended()) continue;
    BT_RETURN_IF_ERROR(context_->Step());
    host->End();
    BT_RETURN_IF_ERROR(
        servers->Record(host->server()->name(),
                        {.is_fenced = true, .last = host->server()->writer().last_acknowledged()}));
    context_->servers->Replace(host, context_->epoch());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::unique_ptr<DeadLog>>> Assignment::ReadLogs(
    const std::vector<std::string>& dead, bool are_loaded, const Reach& must_reach,
    ServerDirectory* servers) {
  std::vector<std::unique_ptr<DeadLog>> logs;
  if (!dead.empty()) BT_RETURN_IF_ERROR(parts_.void_batches->WritePending());
  for (const std::string& name : dead) {
    BT_RETURN_IF_ERROR(context_->Step());
    if (!context_->read_only) BT_RETURN_IF_ERROR(servers->Fence(name));
    BT_ASSIGN_OR_RETURN(const ServerRecord record, servers->RecordOf(name));
    if (record.is_done) {
      // An earlier try has ended here.
      if (!context_->read_only) BT_RETURN_IF_ERROR(EndLog(name, servers));
      continue;
    }
    // Tablets are flushed one after the other. Unless the log is durable first, power loss in
    // between could keep a later mutation and lose an earlier one.
    if (!context_->read_only && are_loaded) BT_RETURN_IF_ERROR(SecureLog(name));
    BT_ASSIGN_OR_RETURN(std::unique_ptr<DeadLog> log,
                        ReadLog(name, servers->HasFile(name), record, must_reach));
    logs.push_back(std::move(log));
  }
  return logs;
}

absl::Status Assignment::SecureLog(const std::string& server) {
  const std::shared_ptr<ServerHost> host = context_->servers->FindEver(server);
  if (host == nullptr) {  // of an earlier process
    return SyncLog(parts_.storage->file_system, parts_.storage->directory.log_of(server));
  }
  absl::Status unsynced;
  BT_RETURN_IF_ERROR(host->server()->log().MakeDurable(&unsynced));
  parts_.batch_log_sync->Forget(&host->server()->state());
  if (!unsynced.ok()) {
    context_->info_log->Warning("the log of the lost server ", server,
                                " cannot be synced, and was copied: ", ToStd(unsynced.message()));
  }
  return absl::OkStatus();
}

absl::Status Assignment::EndIncompleteBatches(const std::vector<std::unique_ptr<DeadLog>>& logs,
                                              const Reach& must_reach, ServerDirectory* servers) {
  for (DeadLog* const log : SettleBatches(logs)) {
    context_->info_log->Warning("the log of server ", log->server(), " ends at sequence number ",
                                log->last(), ", before a batch that other logs do not have whole");
    const auto reach = must_reach.find(log->server());
    if (reach != must_reach.end() && log->last() < reach->second.log_synced) {
      return absl::DataLossError(
          Cat("the log of server ", log->server(), " was durable up to sequence number ",
              reach->second.log_synced,
              ", but the log of another server lacks its part of the batch after ", log->last()));
    }
  }
  for (const auto& log : logs) {
    if (context_->read_only) break;
    ServerRecord record = log->record();
    record.is_fenced = true;
    BT_RETURN_IF_ERROR(servers->Record(log->server(), record));
  }
  // The logs of the servers that live have parts, too.
  return parts_.batch_log_sync->SyncAll();
}

absl::Status Assignment::RemoveDead(ServerRole role, const std::vector<std::string>& dead,
                                    ServerDirectory* servers) {
  if (!dead.empty()) BT_RETURN_IF_ERROR(context_->servers->AttestCommitsOf(role));
  if (!dead.empty()) BT_RETURN_IF_ERROR(parts_.void_batches->WritePending());
  for (const std::string& name : dead) {
    BT_RETURN_IF_ERROR(context_->Step());
    BT_RETURN_IF_ERROR(EndLog(name, servers));
    BT_RETURN_IF_ERROR(servers->Remove(name));
    context_->info_log->Info("other servers have taken over the tablets of server ", name);
    // Listeners have never seen the servers of earlier processes.
    const std::shared_ptr<ServerHost> host = context_->servers->FindEver(name);
    if (context_->events != nullptr && host != nullptr) {
      context_->events->Push(&EventListener::OnServerReplaced, {absl::Now(), name});
    }
  }
  return absl::OkStatus();
}

absl::Status Assignment::EndLog(const std::string& server, ServerDirectory* servers) {
  const std::shared_ptr<ServerHost> host = context_->servers->FindEver(server);
  if (host == nullptr) return absl::OkStatus();  // of an earlier process
  BT_RETURN_IF_ERROR(servers->RecordDone(server));
  host->server()->log().Drop();
  parts_.batch_log_sync->Forget(&host->server()->state());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<UnassignedTablet>> Assignment::FindUnassigned(ServerRole role,
                                                                         Reach* must_reach) {
  std::vector<std::shared_ptr<const TableLayout>> layouts = {metadata_layout_};
  if (role == ServerRole::kUser) layouts = catalogue_->All();
  std::vector<UnassignedTablet> tablets;
  for (const std::shared_ptr<const TableLayout>& layout : layouts) {
    BT_ASSIGN_OR_RETURN(const std::vector<TabletState> states, ReadTablets(role, *layout));
    for (const TabletState& state : states) {
      parts_.sequences->AdvanceTo(LargestSequence(state));
      uint64_t load = 0;
      for (const auto& [id, group] : state.groups) {
        RedoneThrough& reach = (*must_reach)[group.redo.server];
        reach.log_synced = std::max(reach.log_synced, group.redo.log_synced);
        reach.flushed = std::max(reach.flushed, group.redo.sequence);
        for (const TabletFile& file : group.files) load += file.bytes();
      }
      tablets.push_back(
          {layout, {layout->table_id, state.rows.end()}, std::string(state.rows.begin()), load});
    }
  }
  // After METADATA was read, so that tablets split or merged meanwhile do not count as unassigned.
  std::set<TabletId> served;
  for (const std::shared_ptr<ServerHost>& host : context_->servers->OfRole(role)) {
    for (const std::shared_ptr<Tablet>& tablet : host->server()->tablets().All()) {
      served.insert(tablet->id());
    }
  }
  std::erase_if(tablets,
                [&](const UnassignedTablet& tablet) { return served.contains(tablet.id); });
  return tablets;
}

absl::StatusOr<std::vector<TabletState>> Assignment::ReadTablets(ServerRole role,
                                                                 const TableLayout& layout) {
  switch (role) {
    case ServerRole::kRoot:
      return std::vector{parts_.coordination->root.state()};
    case ServerRole::kMetadata:
      BT_RETURN_IF_ERROR(context_->metadata->root_rows()->SettleTable(kMetadataTableId));
      BT_RETURN_IF_ERROR(AddFirstMetadataTablet());
      return context_->metadata->root_rows()->ReadTable(kMetadataTableId);
    case ServerRole::kUser:
      break;
  }
  return context_->metadata->table()->ReadTable(layout.table_id);
}

// A new database has an empty root tablet. If the root tablet was flushed before, or there are
// tables, a missing row is lost data, and is not added.
absl::Status Assignment::AddFirstMetadataTablet() {
  BT_ASSIGN_OR_RETURN(const bool is_there,
                      context_->metadata->root_rows()->HasTable(kMetadataTableId));
  if (is_there || !parts_.coordination->root.state().groups.empty()) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(const std::vector<TableLayout> layouts, catalogue_->schemas()->ReadAll());
  if (!layouts.empty()) return absl::OkStatus();
  return context_->metadata->root_rows()->AddTable(kMetadataTableId,
                                                   {RowRange::StartingAt(*RootRows().end())});
}

absl::StatusOr<std::unique_ptr<DeadLog>> Assignment::ReadLog(const std::string& server,
                                                             bool must_exist,
                                                             const ServerRecord& record,
                                                             const Reach& must_reach) {
  DeadLog::Options options;
  options.record = record;
  const auto reach = must_reach.find(server);
  if (reach != must_reach.end()) {
    options.replay.must_reach = reach->second.log_synced;
    options.record.flushed = std::max(record.flushed, reach->second.flushed);
  }
  options.replay.must_exist = must_exist;
  options.replay.read_mode = parts_.read_mode;
  // Sorting holds a few pieces in memory at a time.
  options.piece_size =
      std::clamp<uint64_t>(parts_.budget->limit() / 8, uint64_t{1} << 20, options.piece_size);
  const std::string directory = parts_.storage->directory.log_of(server);
  // An earlier master may still be sorting the same log, so the name contains the epoch.
  if (!context_->read_only) {
    options.sorted_directory =
        Cat(parts_.storage->directory.sorted_logs(), "/", server, "-", context_->epoch());
  }
  BT_ASSIGN_OR_RETURN(std::unique_ptr<DeadLog> log,
                      DeadLog::Sort(parts_.storage->file_system, server, directory, options));
  parts_.sequences->AdvanceTo(log->last_sequence());
  context_->info_log->Info("sorted ", log->statistics().records_read, " records of server ", server,
                           ", ", log->statistics().segments_read, " segments, into ",
                           log->statistics().pieces, " pieces");
  return log;
}

absl::StatusOr<std::vector<ServerShare>> Assignment::Distribute(
    ServerRole role, const std::vector<UnassignedTablet>& tablets) const {
  std::vector<ServerShare> shares;
  for (const std::shared_ptr<ServerHost>& host : context_->servers->OfRole(role)) {
    // A server that was lost meanwhile gets nothing.
    if (host->server()->state().serving())
      shares.push_back({host, host->RecentLoad(), {}, absl::OkStatus()});
  }
  // Servers that refuse writes can serve reads, if there are no others.
  const auto is_sound = [](const ServerShare& share) {
    return share.host->server()->write_error().status().ok();
  };
  if (std::any_of(shares.begin(), shares.end(), is_sound)) {
    std::erase_if(shares, [&](const ServerShare& share) { return !is_sound(share); });
  }
  if (shares.empty()) return absl::UnavailableError("no server has its lock");
  for (const UnassignedTablet& tablet : tablets) {
    const auto least = std::min_element(
        shares.begin(), shares.end(),
        [](const ServerShare& a, const ServerShare& b) { return a.load < b.load; });
    least->tablets.push_back(tablet);
    least->load += tablet.load + ServerHost::kLoadOfEach;
  }
  std::erase_if(shares, [](const ServerShare& share) { return share.tablets.empty(); });
  return shares;
}

absl::Status Assignment::LoadAll(std::vector<ServerShare> shares,
                                 const std::vector<DeadLog*>& logs) {
  ABSL_ASSERT(!shares.empty() && "a server has its lock");
  const auto load = [&](ServerShare* share) {
    for (const UnassignedTablet& tablet : share->tablets) {
      share->status.Update(LoadOne(share->host.get(), tablet, logs));
      // After the opening, all tablets that can be loaded are, even if this one cannot.
      if (!share->status.ok() && is_opening_) return;
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < shares.size(); ++i) {
    absl::StatusOr<std::thread> thread = StartThread([&load, share = &shares[i]] { load(share); });
    if (thread.ok()) {
      threads.push_back(*std::move(thread));
    } else {
      load(&shares[i]);  // without a thread, one share after the other
    }
  }
  load(&shares[0]);
  for (std::thread& thread : threads) thread.join();
  for (const ServerShare& share : shares) BT_RETURN_IF_ERROR(share.status);
  return absl::OkStatus();
}

absl::Status Assignment::LoadOne(ServerHost* host, const UnassignedTablet& tablet,
                                 const std::vector<DeadLog*>& logs) {
  BT_RETURN_IF_ERROR(context_->Step());
  {
    MutexLock lock(&mutex_);
    // Checked under the mutex: a tablet that was being moved is in moving_, or has arrived.
    if (IsServed(tablet)) {
      context_->unserved->Forget(tablet.id);
      return absl::OkStatus();
    }
    // It may be moving from a lost server. The server's log is then needed until it is clear that
    // the tablet left the server before.
    if (!moving_.insert(tablet.id).second) {
      return absl::UnavailableError(Cat("a tablet of table ", tablet.layout->name, " is moving"));
    }
  }
  const absl::Status loaded = LoadSomewhere(host, tablet, logs);
  EndMove(tablet.id);
  if (loaded.ok()) {
    ABSL_ASSERT(context_->servers->IsServedOnce(tablet.id.table_id, tablet.begin));
    context_->unserved->Forget(tablet.id);
    return loaded;
  }
  if (absl::IsNotFound(loaded)) {
    // If METADATA no longer has it, the tablet was merged with another one meanwhile.
    std::string server;
    const absl::Status read = host->metadata()->ReadTablet(tablet.id, &server).status();
    if (absl::IsNotFound(read)) return absl::OkStatus();
  }
  context_->RecordFailedLoad(tablet.id, tablet.layout->name, tablet.begin, loaded);
  return Annotate(loaded, Cat("table ", tablet.layout->name));
}

absl::Status Assignment::LoadSomewhere(ServerHost* host, const UnassignedTablet& tablet,
                                       const std::vector<DeadLog*>& logs) {
  constexpr auto kServeReads = ServerHost::IfRefusingWrites::kServeReads;
  const absl::Status loaded =
      host->Load(context_->epoch(), *tablet.layout, tablet.id, logs, kServeReads);
  if (loaded.ok() || absl::IsNotFound(loaded) || host->role() == ServerRole::kRoot) return loaded;
  std::string name;
  if (!host->metadata()->ReadTablet(tablet.id, &name).ok()) return loaded;
  const std::shared_ptr<ServerHost> named = context_->servers->Find(name);
  if (named == nullptr || named.get() == host || !named->server()->state().serving()) return loaded;
  const absl::Status back =
      named->Load(context_->epoch(), *tablet.layout, tablet.id, logs, kServeReads);
  return back.ok() ? back : loaded;
}

// Looks for any tablet that has these rows: a merged tablet may be split again at the same row.
bool Assignment::IsServed(const UnassignedTablet& tablet) const {
  return static_cast<bool>(context_->servers->FindTablet(tablet.id.table_id, tablet.begin));
}

// --- Lost servers ---

absl::Status Assignment::ReplaceLost(ServerRole role) {
  context_->servers->FenceLost();
  MutexLock lock(MutexOf(role));
  return AssignIfDue(role);
}

absl::Status Assignment::AssignIfDue(ServerRole role) {
  MutexOf(role)->AssertHeld();
  for (const std::shared_ptr<ServerHost>& host : context_->servers->OfRole(role)) {
    if (host->server()->state().ended()) *IsAssigned(role) = false;
  }
  if (*IsAssigned(role)) return absl::OkStatus();
  if (!context_->active()) return absl::UnavailableError("this master is not active");
  const absl::Status assigned = Assign(role);
  *IsAssigned(role) = assigned.ok();
  if (role == ServerRole::kUser) context_->RecordAssignment(assigned);
  context_->background->Wake();  // for calls that wait for a tablet
  if (!assigned.ok()) {
    context_->info_log->Error("unserved tablets cannot be assigned yet: ",
                              ToStd(assigned.message()));  // retried soon
  }
  return assigned;
}

absl::Status Assignment::ReplaceAll() {
  absl::Status assigned;
  for (const ServerRole role : kServerRoles) assigned.Update(ReplaceLost(role));
  if (assigned.ok() || context_->read_only) return absl::OkStatus();
  return absl::UnavailableError(
      Cat("tablets of a lost server are not served; the next opening retries: ",
          ToStd(assigned.message())));
}

// --- Moves ---

bool Assignment::BeginMove(const TabletId& id) {
  MutexLock lock(&mutex_);
  return moving_.insert(id).second;
}

void Assignment::EndMove(const TabletId& id) {
  MutexLock lock(&mutex_);
  [[maybe_unused]] const size_t erased = moving_.erase(id);
  ABSL_ASSERT(erased == 1 && "one thread moves a tablet");
}

}  // namespace bigtable
