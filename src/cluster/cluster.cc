#include "cluster/cluster.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/time/clock.h"

#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "cache/budget_access.h"
#include "cluster/server_directory.h"
#include "commitlog/log_directory.h"

namespace bigtable {
namespace {

// The largest power of two that is not larger.
uint64_t PowerOfTwo(uint64_t n) { return uint64_t{1} << (63 - __builtin_clzll(n)); }

}  // namespace

Cluster::Cluster(std::string_view path, const DatabaseOptions& options, GoneFunction gone)
    : directory_(path),
      options_(options),
      file_system_(options.file_system),
      gone_(std::move(gone)),
      events_(options.event_listener != nullptr
                  ? std::make_unique<ListenerQueue>(options.event_listener)
                  : nullptr),
      info_log_(options.log_sink),
      scan_cache_(options.scan_cache ? std::make_unique<ScanCache>(options.shared_memory_budget)
                                     : nullptr),
      rate_limiter_(options.compaction_rate),
      snapshots_(std::make_shared<SnapshotList>(&sequences_)),
      small_files_(file_system_, directory_.lock_service()),
      files_(
          std::make_shared<FilePool>(file_system_, FilePool::CapacityFor(options.max_open_files))),
      open_tables_(file_system_, options.read_mode, options.shared_memory_budget, files_),
      root_(&small_files_),
      metadata_client_(this, snapshots_.get()),
      metadata_(&metadata_client_, options_.clock),
      root_rows_(&metadata_client_, options_.clock),
      background_(&info_log_) {}

// While the directory is locked: what rows and streams still refer to is not read any more.
Cluster::~Cluster() {
  StopBackground();
  files_->Detach();
}

// --- Opening ---

absl::StatusOr<std::unique_ptr<Cluster>> Cluster::Open(std::string_view path,
                                                       const DatabaseOptions& options,
                                                       GoneFunction gone) {
  std::unique_ptr<Cluster> cluster(new Cluster(path, options, std::move(gone)));
  if (cluster->events_ != nullptr) BT_RETURN_IF_ERROR(cluster->events_->Start());
  BT_RETURN_IF_ERROR(cluster->LockAndCreate());
  BT_RETURN_IF_ERROR(cluster->OpenLockService());
  BT_RETURN_IF_ERROR(cluster->StartNumbers());
  BT_RETURN_IF_ERROR(cluster->root_.Load());
  std::vector<std::shared_ptr<ServerHost>> servers;
  for (const ServerRole role : kMetadataRoles) servers.push_back(cluster->MakeHost(role));
  for (int i = 0; i < options.tablet_servers; ++i) {
    servers.push_back(cluster->MakeHost(ServerRole::kUser));
  }
  MutexLock lock(&cluster->mutex_);
  cluster->servers_ = std::move(servers);
  return cluster;
}

absl::Status Cluster::LockAndCreate() {
  const std::string& path = directory_.path();
  const absl::Status missing = absl::NotFoundError(Cat(path, ": there is no database here"));
  if (options_.read_only) {
    BT_ASSIGN_OR_RETURN(const bool has_root, HasRoot());
    if (!has_root) return missing;
    BT_ASSIGN_OR_RETURN(
        lock_, file_system_->LockFile(directory_.lock_file(), FileSystem::LockMode::kShared));
    return absl::OkStatus();
  }
  BT_ASSIGN_OR_RETURN(
      lock_, file_system_->LockFile(directory_.lock_file(), FileSystem::LockMode::kExclusive));
  BT_ASSIGN_OR_RETURN(const bool has_root, HasRoot());
  if (has_root) {
    if (!options_.error_if_exists) return absl::OkStatus();
    return absl::AlreadyExistsError(Cat(path, ": there is a database here already"));
  }
  if (!options_.create_if_missing) return missing;
  // An SSTable without a root would be swept as something that nothing names.
  if (file_system_->FileExists(directory_.sstables())) {
    BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        file_system_->ListDirectory(directory_.sstables()));
    if (std::any_of(names.begin(), names.end(), [](const std::string& name) {
          return DatabaseDirectory::SSTableNumber(name).has_value();
        })) {
      return absl::DataLossError(Cat(directory_.lock_service(), "/", RootTablet::kFile,
                                     ": missing, but there are SSTables"));
    }
  }
  for (const std::string& directory :
       {directory_.lock_service(), directory_.logs(), directory_.sstables()}) {
    BT_RETURN_IF_ERROR(file_system_->CreateDirectory(directory));
  }
  BT_RETURN_IF_ERROR(file_system_->SyncDirectory(path));
  return root_.Create();
}

absl::StatusOr<bool> Cluster::HasRoot() {
  const absl::Status found =
      file_system_->FileSize(small_files_.PathOf(RootTablet::kFile)).status();
  if (absl::IsNotFound(found)) return false;
  BT_RETURN_IF_ERROR(found);
  return true;
}

absl::Status Cluster::OpenLockService() {
  BT_ASSIGN_OR_RETURN(lock_service_, LocalLockService::Open(file_system_, directory_.lock_service(),
                                                            SteadyClock()));
  BT_ASSIGN_OR_RETURN(session_, lock_service_->OpenSession(
                                    {.owner = "cluster", .lease = absl::InfiniteDuration()}));
  access_ = std::make_unique<AccessControl>(session_.get());
  return absl::OkStatus();
}

absl::Status Cluster::StartNumbers() {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system_->ListDirectory(directory_.sstables()));
  for (const std::string& name : names) {
    if (const auto number = DatabaseDirectory::SSTableNumber(name)) {
      file_numbers_.AdvanceTo(*number);
    }
  }
  ServerDirectory servers(file_system_, session_.get(), directory_);
  BT_RETURN_IF_ERROR(servers.Load());
  MutexLock lock(&mutex_);
  last_name_ = servers.last_number();
  return absl::OkStatus();
}

std::unique_ptr<TabletServer> Cluster::MakeServer(ServerRole role) {
  const bool metadata = role != ServerRole::kUser;
  const uint64_t budget = options_.shared_memory_budget->limit();
  TabletServerOptions options;
  options.memtable_size = options_.memtable_size != 0
                              ? options_.memtable_size
                              : std::clamp<uint64_t>(budget / 4, 64 << 10, 64 << 20);
  options.memtable_size = std::min(options.memtable_size, budget / 4);
  // A budget is worth some dozens of segments.
  options.log_segment_size =
      std::clamp<uint64_t>(PowerOfTwo(budget / 32), 64 << 10, options_.log_segment_size);
  if (metadata) {
    options.memtable_size = std::min<uint64_t>(options.memtable_size, 1 << 20);
    options.log_segment_size = std::min<uint64_t>(options.log_segment_size, 256 << 10);
  }
  options.log_segment_size &= ~uint64_t{4095};
  options.max_log_bytes =
      metadata ? 4 * options.log_segment_size : std::max(budget / 4, 4 * options.log_segment_size);

  TabletEnvironment environment;
  environment.file_system = file_system_;
  environment.clock = options_.clock;
  environment.budget = options_.shared_memory_budget;
  environment.store = &metadata_;
  if (role == ServerRole::kRoot) environment.store = &root_;
  environment.snapshots = snapshots_.get();
  // METADATA is read by rows that are looked up once.
  if (!metadata && scan_cache_ != nullptr) {
    environment.scan_cache = scan_cache_.get();
    environment.last_writes = MakeLastWrites();
  }
  environment.rate_limiter = &rate_limiter_;
  environment.events = events_.get();
  environment.open_tables = &open_tables_;
  environment.defers_files = !metadata;
  environment.target_file_size = options_.target_file_size;
  environment.memtable_size = options.memtable_size;
  environment.file_numbers = &file_numbers_;
  environment.path_of = [this](uint64_t number) { return directory_.sstable(number); };
  environment.attest_commits = [this, role] { return AttestCommitsOf(role); };
  environment.remove_file = [this](uint64_t number) {
    if (!shared_files_.Release(number)) return;
    // It may have been swept meanwhile.
    if (const absl::Status status = files_->Remove(directory_.sstable(number));
        !status.ok() && !absl::IsNotFound(status)) {
      info_log_.Warning("an SSTable that is not needed stays: ", ToStd(status.message()));
    }
  };
  return std::make_unique<TabletServer>(std::move(options), std::move(environment), &sequences_,
                                        &info_log_, [this] { background_.Wake(); });
}

absl::Status Cluster::AttestCommitsOf(ServerRole role) const {
  // The root's are to a file of the lock service, which is whole or not there.
  if (role == ServerRole::kRoot) return absl::OkStatus();
  const ServerRole above = role == ServerRole::kUser ? ServerRole::kMetadata : ServerRole::kRoot;
  for (const std::shared_ptr<ServerHost>& host : ServersEver(above)) {
    BT_RETURN_IF_ERROR(host->server()->AttestLog());
  }
  return absl::OkStatus();
}

// Servers share the writes, so each has a share of the groups.
std::shared_ptr<LastWrites> Cluster::MakeLastWrites() const {
  constexpr size_t kGroups = size_t{1} << 16;
  constexpr size_t kFewest = size_t{1} << 12;
  const auto servers = static_cast<size_t>(std::max(options_.tablet_servers, 1));
  return std::make_shared<LastWrites>(options_.shared_memory_budget,
                                      std::max(kGroups / servers, kFewest));
}

std::shared_ptr<ServerHost> Cluster::MakeHost(ServerRole role) {
  return std::make_shared<ServerHost>(this, role, MakeServer(role));
}

absl::Status Cluster::StartServer(ServerHost* host) {
  TabletServer* const server = host->server();
  if (server->has_log()) return absl::OkStatus();
  std::string name;
  {
    MutexLock lock(&mutex_);
    // Larger than the number of any server whose redo points METADATA may still have.
    last_name_ = std::max(last_name_, sequences_.last()) + 1;
    sequences_.AdvanceTo(last_name_);
    name = ServerDirectory::NameOf(host->role(), last_name_);
    names_.insert(name);
  }
  if (options_.read_only) {
    std::string& own = server->mutable_environment()->server;
    if (own.empty()) own = name;
    return absl::OkStatus();
  }
  absl::Status started = server->StartLog(name, directory_.log_of(name), lock_service_.get());
  if (!started.ok()) {
    MutexLock lock(&mutex_);
    names_.erase(name);
  }
  return started;
}

bool Cluster::IsLive(std::string_view name) const {
  MutexLock lock(&mutex_);
  return names_.find(name) != names_.end();
}

absl::Status Cluster::StartBackground(std::function<void()> on_progress) {
  MutexLock replace_lock(&replace_mutex_);  // METADATA's servers may be replaced already
  BT_RETURN_IF_ERROR(background_.Start(
      AllServers(), options_.compaction_threads, [this, on_progress = std::move(on_progress)] {
        BudgetAccess::NotifyProgress(*options_.shared_memory_budget);
        on_progress();
      }));
  for (const auto& host : Servers()) {
    BudgetAccess::AddHolder(*options_.shared_memory_budget, host->write_controller());
  }
  return absl::OkStatus();
}

// --- Ending ---

absl::Duration Cluster::Patience() {
  // A server of METADATA that cannot be replaced does not keep a database from being closed.
  if (ending_) return absl::Milliseconds(200);
  return closing_ ? absl::Seconds(3) : absl::InfiniteDuration();
}

absl::Status Cluster::CheckDirectory() {
  return options_.read_only ? absl::OkStatus() : lock_->Check();
}

void Cluster::StopBackground() {
  // Before a thread has ended that may be waiting for a compaction.
  RemoveHolders();
  background_.Stop();
  RemoveHolders();  // of servers that have taken the places of others meanwhile
}

void Cluster::RemoveHolders() {
  for (const auto& host : Servers()) {
    BudgetAccess::RemoveHolder(*options_.shared_memory_budget, host->write_controller());
  }
}

absl::Status Cluster::FlushAll(TabletServer* server) {
  server->FreezeEverything();
  return background_.FlushNow(server);
}

absl::Status Cluster::Shutdown() {
  BeginEnding();
  // User tablets first: writing them out writes to METADATA; and METADATA's to its root.
  std::vector<TabletServer*> servers = AllServers();
  std::reverse(servers.begin(), servers.end());
  for (TabletServer* server : servers) BT_RETURN_IF_ERROR(EndServer(server));
  info_log_.Info("closed ", directory_.path());
  return absl::OkStatus();
}

absl::Status Cluster::EndServer(TabletServer* server) {
  if (!server->has_log()) return absl::OkStatus();
  BT_RETURN_IF_ERROR(server->error());
  BT_RETURN_IF_ERROR(FlushAll(server));
  BT_RETURN_IF_ERROR(server->environment()->attest_commits());
  BT_RETURN_IF_ERROR(server->CloseLog());
  BT_RETURN_IF_ERROR(server->ReleaseLock());
  // Its segments are closed before they are removed, as far as no reader looks at them.
  server->DropLog();
  return RemoveLog(file_system_, directory_.log_of(server->name()));
}

void Cluster::AbandonOpening() {
  if (options_.read_only) return;
  BeginEnding();
  std::vector<TabletServer*> servers = AllServers();
  std::reverse(servers.begin(), servers.end());
  for (TabletServer* server : servers) {
    if (const absl::Status ended = EndServer(server); !ended.ok()) {
      info_log_.Warning("the log of server ", server->name(),
                        " stays for the next opening: ", ToStd(ended.message()));
    }
  }
}

// --- Servers ---

std::vector<std::shared_ptr<ServerHost>> Cluster::AllHosts() const {
  MutexLock lock(&mutex_);
  return servers_;
}

namespace {

void AddOf(ServerRole role, const std::vector<std::shared_ptr<ServerHost>>& hosts,
           std::vector<std::shared_ptr<ServerHost>>* chosen) {
  std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(*chosen),
               [&](const auto& host) { return host->role() == role; });
}

std::shared_ptr<ServerHost> FindByName(const std::vector<std::shared_ptr<ServerHost>>& hosts,
                                       std::string_view name, bool read_only) {
  if (name.empty()) return nullptr;
  for (const std::shared_ptr<ServerHost>& host : hosts) {
    // One that is being started has no name yet.
    const bool has_name = read_only || host->server()->has_log();
    if (has_name && host->server()->name() == name) return host;
  }
  return nullptr;
}

}  // namespace

std::vector<std::shared_ptr<ServerHost>> Cluster::ServersOf(ServerRole role) const {
  std::vector<std::shared_ptr<ServerHost>> chosen;
  MutexLock lock(&mutex_);
  AddOf(role, servers_, &chosen);
  return chosen;
}

std::vector<std::shared_ptr<ServerHost>> Cluster::ServersEver(ServerRole role) const {
  std::vector<std::shared_ptr<ServerHost>> chosen;
  MutexLock lock(&mutex_);
  AddOf(role, servers_, &chosen);
  AddOf(role, dead_servers_, &chosen);
  return chosen;
}

std::shared_ptr<ServerHost> Cluster::FindServer(std::string_view name) const {
  return FindByName(AllHosts(), name, options_.read_only);
}

std::shared_ptr<ServerHost> Cluster::FindServerEver(std::string_view name) const {
  MutexLock lock(&mutex_);
  std::shared_ptr<ServerHost> found = FindByName(servers_, name, options_.read_only);
  return found != nullptr ? found : FindByName(dead_servers_, name, options_.read_only);
}

// --- METADATA's ---

DataService* Cluster::FindService(std::string_view server) {
  // One that has ended may still say what it has done.
  const std::shared_ptr<ServerHost> host = FindServerEver(server);
  return host == nullptr ? nullptr : ServiceOf(host.get());
}

DataService* Cluster::ServiceOf(ServerHost* host) const {
  MutexLock lock(&mutex_);
  return services_ ? services_(host) : host->data_service();
}

bool Cluster::HasEnded(std::string_view server) {
  const std::shared_ptr<ServerHost> host = FindServerEver(server);
  return host == nullptr || host->server()->ended();
}

void Cluster::SetServices(Services services) {
  {
    MutexLock lock(&mutex_);
    services_ = std::move(services);
  }
  metadata_client_.ForgetAll();
}

absl::Status Cluster::metadata_error() const {
  for (const ServerRole role : kMetadataRoles) {
    for (const auto& host : ServersOf(role)) BT_RETURN_IF_ERROR(host->server()->error());
  }
  return absl::OkStatus();
}

// --- Servers that are lost ---

void Cluster::ReplaceServer(const std::shared_ptr<ServerHost>& ended, MasterNumber master) {
  MutexLock replace_lock(&replace_mutex_);
  const std::shared_ptr<ServerHost> successor = MakeHost(ended->role());
  successor->Greet(master).IgnoreError();
  {
    MutexLock lock(&mutex_);
    const auto found = std::find(servers_.begin(), servers_.end(), ended);
    if (found == servers_.end()) return;
    *found = successor;
    dead_servers_.push_back(ended);
    names_.erase(ended->server()->name());
  }
  if (ended->role() == ServerRole::kUser) {
    BudgetAccess::RemoveHolder(*options_.shared_memory_budget, ended->write_controller());
    BudgetAccess::AddHolder(*options_.shared_memory_budget, successor->write_controller());
  }
  background_.SetServers(AllServers());
}

void Cluster::SealLostServers() {
  MutexLock lock(&seal_mutex_);
  ServerDirectory servers(file_system_, session_.get(), directory_);
  for (const std::shared_ptr<ServerHost>& host : AllHosts()) {
    TabletServer* const server = host->server();
    if (server->serving() || server->ended()) continue;
    if (const absl::Status sealed = servers.Seal(server->name()); sealed.ok()) {
      server->MarkEnded();
      // In the end servers give their locks up themselves.
      if (events_ != nullptr && !ending_) {
        events_->Push(&EventListener::OnServerLost, {absl::Now(), server->name()});
      }
    } else {
      // It may have the lock again.
      info_log_.Warning("server ", server->name(),
                        " has lost its lock and is not replaced: ", ToStd(sealed.message()));
    }
  }
}

std::vector<TabletServer*> Cluster::AllServers() const {
  std::vector<TabletServer*> servers;
  for (const auto& host : AllHosts()) servers.push_back(host->server());
  return servers;
}

// --- Tablets ---

std::vector<HostedTablet> Cluster::TabletsOf(uint64_t table_id) const {
  std::vector<HostedTablet> tablets;
  for (const std::shared_ptr<ServerHost>& host : Servers()) {
    for (std::shared_ptr<Tablet>& tablet : host->server()->Tablets()) {
      if (tablet->table_id() == table_id) tablets.push_back({std::move(tablet), host});
    }
  }
  std::sort(tablets.begin(), tablets.end(), [](const HostedTablet& a, const HostedTablet& b) {
    return a.tablet->id() < b.tablet->id();
  });
  return tablets;
}

HostedTablet Cluster::FindTablet(uint64_t table_id, std::string_view row) const {
  for (const std::shared_ptr<ServerHost>& host : ServersOf(RoleOf(table_id, row))) {
    if (auto tablet = host->server()->FindTablet(table_id, row)) return {std::move(tablet), host};
  }
  return {};
}

absl::Status Cluster::ForEachTablet(uint64_t table_id, const CallLimits& limits,
                                    absl::FunctionRef<absl::Status()> is_there,
                                    absl::FunctionRef<absl::Status(const HostedTablet&)> function) {
  std::optional<std::string> row = "";  // up to here it is done
  while (row.has_value()) {
    const HostedTablet hosted = FindTablet(table_id, *row);
    if (!hosted) {
      BT_RETURN_IF_ERROR(unserved_.Explain(limits.Check(), table_id, *row));
      BT_RETURN_IF_ERROR(is_there());
      bool is_over;
      const absl::Status why = unserved_.Why(table_id, *row, &is_over);
      if (is_over) return why;
      if (is_closing()) return absl::FailedPreconditionError("the database is being closed");
      background_.WaitForProgress(absl::Milliseconds(1));
      continue;
    }
    BT_RETURN_IF_ERROR(function(hosted));
    if (!hosted.tablet->moved()) row = hosted.tablet->rows().end();
  }
  return absl::OkStatus();
}

void Cluster::CountSharedFiles() {
  std::set<uint64_t> named;
  for (const TabletServer* server : AllServers()) {
    for (const std::shared_ptr<Tablet>& tablet : server->Tablets()) {
      std::set<uint64_t> files;
      tablet->State().AddFiles(&files);
      for (const uint64_t number : files) {
        if (!named.insert(number).second) shared_files_.Share(number);
      }
    }
  }
}

void Cluster::KeepCounters(const Tablet& tablet) {
  MutexLock lock(&mutex_);
  counters_[tablet.id()] = Ref<TabletCounters>(tablet.counters());
}

void Cluster::PassOnCounters(Tablet* tablet) {
  Ref<TabletCounters> counters;
  {
    MutexLock lock(&mutex_);
    const auto found = counters_.find(tablet->id());
    if (found == counters_.end()) return;
    counters = std::move(found->second);
    counters_.erase(found);
  }
  tablet->counters()->Inherit(*counters);
}

void Cluster::ForgetCounters(uint64_t table_id) {
  MutexLock lock(&mutex_);
  std::erase_if(counters_, [&](const auto& entry) { return entry.first.table_id == table_id; });
}

void Cluster::WaitForWrites() {
  for (const auto& host : Servers()) host->server()->WaitForWrites();
}

void Cluster::NoteSequences(const TabletState& state) {
  for (const auto& [id, group] : state.groups) {
    sequences_.AdvanceTo(std::max(group.redo.sequence, group.redo.log_synced));
    for (const TabletFile& file : group.files) sequences_.AdvanceTo(file.info.max_sequence);
  }
}

// --- Errors ---

absl::Status Cluster::Resume() {
  for (TabletServer* server : AllServers()) {
    // One that has ended will be replaced.
    if (server->error().ok() || server->ended()) continue;
    server->BeginResume();
    BT_RETURN_IF_ERROR(background_.FlushNow(server));
    BT_RETURN_IF_ERROR(server->FinishResume());
    info_log_.Info("server ", server->name(), " takes writes again");
  }
  for (TabletServer* server : AllServers()) {
    if (!server->ended() && background_.IsFlushFailing(server)) {
      BT_RETURN_IF_ERROR(background_.FlushNow(server));
    }
  }
  background_.ClearError();
  if (events_ != nullptr) {
    events_->Push(&EventListener::OnResumed, {.time = absl::Now(), .path = directory_.path()});
  }
  return absl::OkStatus();
}

absl::Status Cluster::background_error() const {
  for (TabletServer* server : AllServers()) {
    if (!server->ended()) BT_RETURN_IF_ERROR(server->error());  // otherwise it will be replaced
  }
  return background_.compaction_error();
}

}  // namespace bigtable
