#include "master/master.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

Master::Master(Cluster* cluster, Options options, std::unique_ptr<MasterLock> lock)
    : cluster_(cluster),
      options_(std::move(options)),
      read_only_(cluster->environment()->options.read_only),
      lock_(std::move(lock)),
      schemas_(lock_->session()),
      access_lists_(lock_->session()),
      info_log_(&cluster->environment()->info_log),
      is_opening_(options_.opening) {}

Master::~Master() {
  lock_->GiveUp();
  StopThreads();
  FinishThreads();
  for (const ServerRole role : {ServerRole::kMetadata, ServerRole::kRoot}) {
    EndLiveness(role, &PartOf(role)->liveness);
  }
}

absl::StatusOr<std::shared_ptr<Master>> Master::Create(Cluster* cluster, Options options) {
  BT_ASSIGN_OR_RETURN(
      std::unique_ptr<MasterLock> lock,
      MasterLock::Acquire(cluster->environment()->lock_service.get(),
                          cluster->environment()->options.read_only, options.on_step));
  return std::shared_ptr<Master>(new Master(cluster, std::move(options), std::move(lock)));
}

absl::Status Master::Begin() {
  for (const ServerRole role : kMetadataRoles) BT_RETURN_IF_ERROR(BeginRole(role));
  BT_RETURN_IF_ERROR(AcceptByServers(ServerRole::kUser));
  {
    MutexLock schema_lock(&schema_mutex_);
    BT_RETURN_IF_ERROR(ReadTables());
    BT_RETURN_IF_ERROR(FinishChanges());
    const absl::Status assigned = AssignUsers();
    if (IsFatal(assigned)) return assigned;
    is_opening_ = false;
  }
  if (!options_.opening || read_only_) return absl::OkStatus();
  cluster_->servers()->CountSharedFiles();
  return SweepLeftovers();
}

absl::Status Master::BeginRole(ServerRole role) {
  BT_RETURN_IF_ERROR(AcceptByServers(role));
  MetadataPart* const part = PartOf(role);
  {
    MutexLock lock(&part->mutex);
    const absl::Status assigned = Assign(role);
    part->is_assigned = assigned.ok();
    if (IsFatal(assigned)) return assigned;
  }
  if (read_only_) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(part->liveness, StartThread([this, role] { LivenessLoop(role); }));
  return absl::OkStatus();
}

CallLimits Master::WithEnd(CallLimits limits) const {
  limits.given_up = lock_->given_up();
  return limits;
}

absl::Status Master::AcceptByServers(ServerRole role) {
  for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->OfRole(role)) {
    BT_RETURN_IF_ERROR(Step());
    BT_RETURN_IF_ERROR(host->Accept(lock_->epoch()).status());
  }
  return absl::OkStatus();
}

absl::Status Master::ReadTables() {
  BT_ASSIGN_OR_RETURN(std::vector<TableLayout> layouts, schemas_.ReadAll());
  for (TableLayout& layout : layouts) {
    // Ids of tables and families are sequence numbers, too, and so are changes of rules.
    cluster_->environment()->sequences.AdvanceTo(layout.table_id);
    for (const FamilyLayout& family : layout.families) {
      cluster_->environment()->sequences.AdvanceTo(family.created);
    }
    cluster_->environment()->sequences.AdvanceTo(layout.LastRuleChange());
    MutexLock lock(&mutex_);
    const std::string name = layout.name;
    tables_[name] = std::move(layout);
  }
  return absl::OkStatus();
}

absl::Status Master::FinishChanges() {
  if (read_only_) return absl::OkStatus();
  MetadataTable* const metadata = cluster_->metadata()->table();
  std::vector<TableLayout> layouts;
  {
    MutexLock lock(&mutex_);
    for (const auto& [name, layout] : tables_) layouts.push_back(layout);
  }
  std::set<uint64_t> known;
  for (const TableLayout& layout : layouts) {
    known.insert(layout.table_id);
    // Sequence numbers that METADATA has come before those of new mutations of it.
    BT_ASSIGN_OR_RETURN(const std::vector<TabletState> states,
                        metadata->ReadTable(layout.table_id));
    for (const TabletState& state : states)
      cluster_->environment()->sequences.AdvanceTo(LargestSequence(state));
  }
  for (const TableLayout& layout : layouts) {
    BT_RETURN_IF_ERROR(Step());
    BT_RETURN_IF_ERROR(metadata->SettleTable(layout.table_id));
    for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->Users()) {
      BT_RETURN_IF_ERROR(host->SetLayout(lock_->epoch(), layout));
    }
  }
  // Tables without a schema: their creation or deletion was cut short.
  std::set<uint64_t> unknown;
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> in_metadata, metadata->Tables());
  unknown.insert(in_metadata.begin(), in_metadata.end());
  for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->Users()) {
    for (const auto& tablet : host->server()->Tablets()) unknown.insert(tablet->table_id());
  }
  for (const uint64_t table_id : unknown) {
    if (!known.contains(table_id)) BT_RETURN_IF_ERROR(DropTablets(table_id));
  }
  return absl::OkStatus();
}

absl::StatusOr<TableLayout> Master::FindTable(std::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = tables_.find(name);
  if (found != tables_.end()) return found->second;
  const std::string names = Listed(tables_, [](const auto& table) { return table.first; });
  return absl::NotFoundError(Cat("there is no table ", Quoted(name), "; there are: ", names));
}

absl::StatusOr<uint64_t> Master::FindTableId(std::string_view name) const {
  BT_ASSIGN_OR_RETURN(const TableLayout layout, FindTable(name));
  return layout.table_id;
}

absl::Status Master::Resume() {
  MutexLock schema_lock(&schema_mutex_);
  // What RestoreSchema could not do.
  std::vector<TableLayout> layouts;
  {
    MutexLock lock(&mutex_);
    for (const auto& [name, layout] : tables_) layouts.push_back(layout);
  }
  const std::vector<std::shared_ptr<ServerHost>> hosts = cluster_->servers()->Users();
  if (std::any_of(hosts.begin(), hosts.end(),
                  [](const auto& host) { return !host->server()->error().ok(); })) {
    for (TableLayout& layout : layouts) {
      BT_RETURN_IF_ERROR(Step());
      BT_RETURN_IF_ERROR(schemas_.Write(layout));
      if (layout.EndHolds()) BT_RETURN_IF_ERROR(Distribute(layout));
    }
  }
  BT_RETURN_IF_ERROR(cluster_->Resume());
  AssignNow();
  Sweep();  // what was written when it was not clear whether METADATA would have it
  return absl::OkStatus();
}

}  // namespace bigtable
