#include "cluster/environment.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "cluster/open_directory.h"
#include "cluster/server_directory.h"

namespace bigtable {

ClusterEnvironment::ClusterEnvironment(std::string_view path, const DatabaseOptions& given,
                                       OpenFiles* files)
    : options(given),
      live(given),
      events(given.event_listener != nullptr
                 ? std::make_unique<ListenerQueue>(given.event_listener, given.log_sink)
                 : nullptr),
      info_log(given.log_sink),
      scan_cache(given.scan_cache ? std::make_unique<ScanCache>(given.shared_memory_budget)
                                  : nullptr),
      rate_limiter(given.compaction_rate),
      snapshots(std::make_shared<SnapshotList>(&sequences, given.clock)),
      storage(path, given, files),
      coordination(storage.file_system, storage.directory, &sequences),
      background(&info_log) {}

ClusterEnvironment::~ClusterEnvironment() {
  background.Stop();
  if (storage.own_files != nullptr) storage.files->Detach();
}

absl::StatusOr<std::unique_ptr<ClusterEnvironment>> ClusterEnvironment::Open(
    std::string_view path, const DatabaseOptions& options, OpenFiles* files) {
  std::unique_ptr<ClusterEnvironment> opened(new ClusterEnvironment(path, options, files));
  if (opened->events != nullptr) BT_RETURN_IF_ERROR(opened->events->Start());
  ClusterStorage& storage = opened->storage;
  ClusterCoordination& coordination = opened->coordination;
  BT_ASSIGN_OR_RETURN(storage.directory_lock,
                      OpenDirectory(storage.directory, options, &coordination.root));
  BT_ASSIGN_OR_RETURN(
      coordination.lock_service,
      LocalLockService::Open(
          storage.file_system, storage.directory.lock_service(), SteadyClock(),
          {.directory = storage.directory.copies_of_lock_service(),
           .may_write = !options.read_only,
           .on_use = [log = &opened->info_log](std::string_view name, const absl::Status& damage) {
             log->Warning("file ", name,
                          " of the lock service was read from its copy: ", ToStd(damage.message()));
           }}));
  BT_ASSIGN_OR_RETURN(coordination.session,
                      coordination.lock_service->OpenSession(
                          {.owner = "cluster", .lease = absl::InfiniteDuration()}));
  LockSession* const session = coordination.session.get();
  opened->access = std::make_unique<AccessControl>(session);
  BT_ASSIGN_OR_RETURN(const QuotaSet quotas, QuotaStore(session).Read());
  opened->quotas.Use(quotas);
  Batches& batches = opened->batches;
  batches.void_batches = std::make_unique<VoidBatches>(session);
  // Void batches are in the servers' files now (recovery/server_record.h).
  constexpr std::string_view kEarlier = "void_batches";
  const absl::Status earlier = session->Read(kEarlier).status();
  if (earlier.ok()) {
    return absl::FailedPreconditionError(Cat("the file lockservice/", kEarlier,
                                             " is of an earlier version of this program, which ",
                                             "must open the database and close it first"));
  }
  if (!absl::IsNotFound(earlier)) return earlier;
  batches.writer = std::make_unique<BatchWriter>(&opened->sequences, batches.void_batches.get(),
                                                 &batches.log_sync);
  BT_RETURN_IF_ERROR(opened->StartNumbers());
  BT_RETURN_IF_ERROR(coordination.root.Load());
  if (const absl::Status damage = coordination.root.damage(); !damage.ok()) {
    opened->info_log.Warning("the state of METADATA's root tablet was read from its copy: ",
                             ToStd(damage.message()));
  }
  return opened;
}

absl::Status ClusterEnvironment::StartNumbers() {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      storage.file_system->ListDirectory(storage.directory.sstables()));
  for (const std::string& name : names) {
    if (const auto number = DatabaseDirectory::SSTableNumber(name)) {
      storage.file_numbers.AdvanceTo(*number);
    }
  }
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> copies, storage.metadata_copies.List());
  for (const uint64_t number : copies) storage.file_numbers.AdvanceTo(number);
  ServerDirectory servers(storage.file_system, coordination.session.get(), storage.directory);
  BT_RETURN_IF_ERROR(servers.Load());
  coordination.server_names.StartAfter(servers.last_number());
  return absl::OkStatus();
}

}  // namespace bigtable
