#include "master/master.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/time/clock.h"

#include "bigtable/row_mutation.h"

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_replay.h"
#include "metadata/metadata_format.h"
#include "tablet/mutation_format.h"

namespace bigtable {
namespace {

// The largest power of two that is not larger.
uint64_t PowerOfTwo(uint64_t n) { return uint64_t{1} << (63 - __builtin_clzll(n)); }

}  // namespace

Master::Master(std::string_view path, const DatabaseOptions& options, CallGate* gate)
    : directory_(path),
      options_(options),
      file_system_(options.file_system),
      gate_(gate),
      events_(options.event_listener != nullptr
                  ? std::make_unique<ListenerQueue>(options.event_listener)
                  : nullptr),
      info_log_(options.log_sink),
      scan_cache_(options.scan_cache ? std::make_unique<ScanCache>(options.shared_memory_budget)
                                     : nullptr),
      rate_limiter_(options.compaction_rate),
      snapshots_(std::make_shared<SnapshotList>(&sequences_)),
      small_files_(file_system_, directory_.lock_service()),
      schemas_(&small_files_),
      root_(&small_files_),
      background_(&info_log_) {}

Master::~Master() { StopThreads(); }

// --- Starting ---

absl::StatusOr<std::unique_ptr<Master>> Master::Start(std::string_view path,
                                                      const DatabaseOptions& options,
                                                      CallGate* gate) {
  std::unique_ptr<Master> master(new Master(path, options, gate));
  BT_RETURN_IF_ERROR(master->LockAndCreate());
  BT_RETURN_IF_ERROR(master->StartFileNumbers());
  BT_RETURN_IF_ERROR(master->OpenLockService());
  BT_RETURN_IF_ERROR(master->OpenMetadata());
  BT_RETURN_IF_ERROR(master->OpenTables());
  if (!options.read_only) {
    BT_RETURN_IF_ERROR(master->SweepFiles());
    master->background_.Start(master->AllServers(), options.compaction_threads, [m = master.get()] {
      // Here, too: the master's thread may be waiting for something.
      m->DeleteRetired();
      m->SealLostServers();
      m->WakeUpkeep();
    });
    master->upkeep_ = std::thread([m = master.get()] { m->UpkeepLoop(); });
    master->liveness_ = std::thread([m = master.get()] { m->LivenessLoop(); });
    for (const auto& user : master->Users()) {
      options.shared_memory_budget->AddHolder(user->write_controller.get());
    }
  }
  master->info_log_.Info("opened ", path, " with ", master->TableNames().size(), " tables",
                         options.read_only ? ", read-only" : "");
  if (ListenerQueue* const events = master->events()) {
    events->Push(&EventListener::OnDatabaseOpened,
                 {.time = absl::Now(), .path = master->directory_.path()});
  }
  return master;
}

absl::Status Master::LockAndCreate() {
  const std::string& path = directory_.path();
  const absl::Status missing = absl::NotFoundError(Cat(path, ": there is no database here"));
  if (options_.read_only) {
    if (!root_.Exists()) return missing;
    BT_ASSIGN_OR_RETURN(
        lock_, file_system_->LockFile(directory_.lock_file(), FileSystem::LockMode::kShared));
    return absl::OkStatus();
  }
  if (!file_system_->FileExists(path)) {
    if (!options_.create_if_missing) return missing;
    BT_RETURN_IF_ERROR(file_system_->CreateDirectory(path));
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "."
                               : slash == 0               ? "/"
                                                          : path.substr(0, slash);
    BT_RETURN_IF_ERROR(file_system_->SyncDirectory(parent));
  }
  BT_ASSIGN_OR_RETURN(
      lock_, file_system_->LockFile(directory_.lock_file(), FileSystem::LockMode::kExclusive));
  if (root_.Exists()) {
    if (!options_.error_if_exists) return absl::OkStatus();
    return absl::AlreadyExistsError(Cat(path, ": there is a database here already"));
  }
  if (!options_.create_if_missing) return missing;
  // An SSTable without a root would be swept as something that nothing names.
  if (file_system_->FileExists(directory_.sstables())) {
    BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        file_system_->ListDirectory(directory_.sstables()));
    if (!names.empty()) {
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

absl::Status Master::OpenLockService() {
  BT_ASSIGN_OR_RETURN(lock_service_, LocalLockService::Open(file_system_, directory_.lock_service(),
                                                            options_.clock));
  // The service lives and dies with this process, so nobody needs a lease to know who is alive.
  BT_ASSIGN_OR_RETURN(
      session_, lock_service_->OpenSession({.owner = "master", .lease = absl::InfiniteDuration()}));
  servers_ = std::make_unique<ServerDirectory>(file_system_, session_.get(), directory_);
  return servers_->Load();
}

absl::Status Master::StartFileNumbers() {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system_->ListDirectory(directory_.sstables()));
  for (const std::string& name : names) {
    if (const auto number = DatabaseDirectory::SSTableNumber(name)) {
      last_file_number_ = std::max(last_file_number_.load(), *number);
    }
  }
  return absl::OkStatus();
}

std::unique_ptr<TabletServer> Master::MakeServer(ServerDirectory::Kind kind, TabletStore* store) {
  const bool metadata = kind == ServerDirectory::Kind::kMetadata;
  const uint64_t budget = options_.shared_memory_budget->limit();
  TabletServerOptions options;
  options.read_only = options_.read_only;
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
  environment.store = store;
  environment.snapshots = snapshots_.get();
  // METADATA is read once.
  if (!metadata) environment.scan_cache = scan_cache_.get();
  environment.rate_limiter = &rate_limiter_;
  environment.events = events_.get();
  environment.read_mode = options_.read_mode;
  environment.target_file_size = options_.target_file_size;
  environment.memtable_size = options.memtable_size;
  environment.new_file_number = [this] { return ++last_file_number_; };
  environment.path_of = [this](uint64_t number) { return directory_.sstable(number); };
  environment.remove_file = [this](uint64_t number) {
    if (!shared_files_.Release(number)) return;
    if (const absl::Status status = file_system_->RemoveFile(directory_.sstable(number));
        !status.ok()) {
      info_log_.Warning("an SSTable that is not needed stays: ", ToStd(status.message()));
    }
  };
  return std::make_unique<TabletServer>(std::move(options), std::move(environment), &sequences_,
                                        &info_log_, [this] { background_.Wake(); });
}

absl::Status Master::OpenMetadata() {
  BT_RETURN_IF_ERROR(root_.Load());
  const TabletState state = root_.state();
  NoteSequences(state);
  metadata_server_ = MakeServer(ServerDirectory::Kind::kMetadata, &root_);
  BT_ASSIGN_OR_RETURN(std::shared_ptr<Tablet> tablet,
                      Tablet::Open(metadata_server_->environment(), MetadataLayout(), state));
  metadata_server_->AddTablet(std::move(tablet));
  metadata_ = std::make_unique<MetadataTable>(metadata_server_.get());
  Reach must_reach;
  NoteRedoPoints(state, &must_reach);
  return TakeOver(ServerDirectory::Kind::kMetadata, {metadata_server_.get()}, must_reach);
}

std::shared_ptr<Master::UserServer> Master::MakeUserServer() {
  auto user = std::make_shared<UserServer>();
  user->server = MakeServer(ServerDirectory::Kind::kUser, metadata_.get());
  user->write_controller = std::make_unique<WriteController>(
      options_.shared_memory_budget.get(), user->server.get(), &background_, events_.get());
  return user;
}

absl::Status Master::OpenTables() {
  for (int i = 0; i < options_.tablet_servers; ++i) {
    MutexLock lock(&servers_mutex_);
    user_servers_.push_back(MakeUserServer());
  }
  BT_ASSIGN_OR_RETURN(const std::vector<TableLayout> layouts, schemas_.ReadAll());
  Reach must_reach;
  for (const TableLayout& layout : layouts) {
    BT_ASSIGN_OR_RETURN(const std::vector<TabletState> tablets,
                        metadata_->ReadTable(layout.table_id));
    sequences_.AdvanceTo(layout.table_id);
    for (const FamilyLayout& family : layout.families) sequences_.AdvanceTo(family.created);
    for (const TabletState& state : tablets) {
      NoteSequences(state);
      NoteRedoPoints(state, &must_reach);
    }
    absl::StatusOr<std::shared_ptr<const ServedTable>> table = OpenTable(layout, tablets);
    if (!table.ok()) return Annotate(table.status(), Cat("table ", layout.name));
    MutexLock lock(&mutex_);
    tables_[layout.name] = std::make_shared<TableRoute>(*std::move(table));
  }
  if (!options_.read_only) {
    for (const TableLayout& layout : layouts) {
      BT_RETURN_IF_ERROR(metadata_->SettleTable(layout.table_id));
    }
    BT_RETURN_IF_ERROR(SweepTables(layouts));
  }
  return TakeOver(ServerDirectory::Kind::kUser, UserServers(), must_reach);
}

absl::StatusOr<std::shared_ptr<const ServedTable>> Master::OpenTable(
    const TableLayout& layout, const std::vector<TabletState>& tablets) {
  const std::vector<std::shared_ptr<UserServer>> users = Users();
  std::vector<uint64_t> loads;
  for (const auto& user : users) loads.push_back(LoadOf(*user->server));
  std::vector<ServedTablet> served;
  for (const TabletState& state : tablets) {
    const auto least = std::min_element(loads.begin(), loads.end());
    const UserServer& user = *users[static_cast<size_t>(least - loads.begin())];
    BT_ASSIGN_OR_RETURN(std::shared_ptr<Tablet> tablet,
                        Tablet::Open(user.server->environment(), layout, state));
    user.server->AddTablet(tablet);
    *least += LoadOf(*tablet);
    served.push_back({std::move(tablet), user.server.get(), user.write_controller.get()});
  }
  return std::make_shared<const ServedTable>(std::move(served));
}

uint64_t Master::LoadOf(const Tablet& tablet) {
  constexpr uint64_t kForEach = 1 << 20;
  return kForEach + tablet.DiskBytes();
}

uint64_t Master::LoadOf(const TabletServer& server) {
  uint64_t load = 0;
  for (const std::shared_ptr<Tablet>& tablet : server.Tablets()) load += LoadOf(*tablet);
  return load;
}

std::vector<TabletServer*> Master::UserServers() const {
  std::vector<TabletServer*> servers;
  for (const auto& user : Users()) servers.push_back(user->server.get());
  return servers;
}

std::vector<std::shared_ptr<Master::UserServer>> Master::Users() const {
  MutexLock lock(&servers_mutex_);
  return user_servers_;
}

std::vector<TabletServer*> Master::AllServers() const {
  std::vector<TabletServer*> servers = UserServers();
  servers.insert(servers.begin(), metadata_server_.get());
  return servers;
}

// Rows of METADATA without a schema are of tables whose creation or deletion was cut short.
absl::Status Master::SweepTables(const std::vector<TableLayout>& layouts) {
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> tables, metadata_->Tables());
  for (const uint64_t table_id : tables) {
    const bool known = std::any_of(layouts.begin(), layouts.end(), [&](const TableLayout& layout) {
      return layout.table_id == table_id;
    });
    if (!known) BT_RETURN_IF_ERROR(metadata_->RemoveTable(table_id));
  }
  return absl::OkStatus();
}

absl::Status Master::SweepFiles() {
  std::set<uint64_t> named;
  for (TabletServer* server : AllServers()) {
    for (const std::shared_ptr<Tablet>& tablet : server->Tablets()) {
      const Pin<TabletVersion> version = tablet->Version();
      for (const GroupVersion& group : version->groups()) {
        for (const SortedRun& run : group.runs) {
          for (const Ref<SSTable>& file : run.files) {
            const uint64_t number = file->info().file_number;
            if (!named.insert(number).second) shared_files_.Share(number);
          }
        }
      }
    }
  }
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system_->ListDirectory(directory_.sstables()));
  for (const std::string& name : names) {
    const auto number = DatabaseDirectory::SSTableNumber(name);
    if (!number.has_value() || named.contains(*number)) continue;
    info_log_.Info("removing ", name, ", which no table names");
    BT_RETURN_IF_ERROR(file_system_->RemoveFile(directory_.sstable(*number)));
  }
  return servers_->SweepLogs();
}

// --- Ending ---

absl::Status Master::Shutdown() {
  StopThreads();
  if (!options_.read_only) ReplaceLostServers();
  if (options_.read_only) return absl::OkStatus();
  if (MutexLock lock(&schema_mutex_); !lost_servers_.empty()) {
    return absl::UnavailableError(Cat("server ", lost_servers_.front()->server->name(),
                                      " is lost and not replaced: the next opening does that"));
  }
  // User tablets first: writing them out writes to METADATA.
  std::vector<TabletServer*> servers = UserServers();
  servers.push_back(metadata_server_.get());
  for (TabletServer* server : servers) {
    if (!server->has_log()) continue;
    BT_RETURN_IF_ERROR(server->error());
    BT_RETURN_IF_ERROR(FlushAll(server));
    BT_RETURN_IF_ERROR(server->CloseLog());
    BT_RETURN_IF_ERROR(server->ReleaseLock());
    BT_RETURN_IF_ERROR(servers_->Remove(server->name()));
  }
  info_log_.Info("closed ", directory_.path());
  return absl::OkStatus();
}

void Master::WaitForWrites() {
  for (TabletServer* server : UserServers()) server->WaitForWrites();
}

// --- Errors ---

absl::Status Master::Resume() {
  MutexLock schema_lock(&schema_mutex_);
  // What RestoreSchema could not do.
  std::vector<std::shared_ptr<const ServedTable>> tables;
  {
    MutexLock lock(&mutex_);
    for (const auto& [name, route] : tables_) tables.push_back(route->Share());
  }
  for (const std::shared_ptr<const ServedTable>& table : tables) {
    const auto has_error = [](TabletServer* server) { return !server->error().ok(); };
    const std::vector<TabletServer*>& servers = table->servers();
    if (std::any_of(servers.begin(), servers.end(), has_error)) {
      BT_RETURN_IF_ERROR(schemas_.Write(*table->Layout()));
    }
  }
  for (TabletServer* server : AllServers()) {
    if (server->error().ok()) continue;
    server->BeginResume();
    BT_RETURN_IF_ERROR(background_.FlushNow(server));
    BT_RETURN_IF_ERROR(server->FinishResume());
    info_log_.Info("server ", server->name(), " takes writes again");
  }
  background_.ClearError();
  if (events_ != nullptr) {
    events_->Push(&EventListener::OnResumed, {.time = absl::Now(), .path = directory_.path()});
  }
  return absl::OkStatus();
}

absl::Status Master::background_error() const {
  for (TabletServer* server : AllServers()) {
    BT_RETURN_IF_ERROR(server->error());
  }
  return background_.compaction_error();
}

}  // namespace bigtable
