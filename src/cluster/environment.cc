#include "cluster/environment.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/steady_time.h"
#include "cluster/open_directory.h"
#include "cluster/server_directory.h"

namespace bigtable {

ClusterEnvironment::ClusterEnvironment(std::string_view path, const DatabaseOptions& given,
                                       SupersededFunction on_superseded)
    : directory(path),
      options(given),
      live(given),
      file_system(given.file_system),
      notify_superseded(std::move(on_superseded)),
      events(given.event_listener != nullptr
                 ? std::make_unique<ListenerQueue>(given.event_listener, given.log_sink)
                 : nullptr),
      info_log(given.log_sink),
      scan_cache(given.scan_cache ? std::make_unique<ScanCache>(given.shared_memory_budget)
                                  : nullptr),
      rate_limiter(given.compaction_rate),
      snapshots(std::make_shared<SnapshotList>(&sequences, given.clock)),
      server_names(&sequences),
      small_files(file_system, directory.lock_service()),
      files(std::make_shared<FilePool>(file_system, FilePool::CapacityFor(given.max_open_files))),
      open_tables(file_system, given.read_mode, given.shared_memory_budget, files),
      root(&small_files),
      background(&info_log) {}

ClusterEnvironment::~ClusterEnvironment() {
  background.Stop();
  files->Detach();
}

absl::StatusOr<std::unique_ptr<ClusterEnvironment>> ClusterEnvironment::Open(
    std::string_view path, const DatabaseOptions& options, SupersededFunction on_superseded) {
  std::unique_ptr<ClusterEnvironment> opened(
      new ClusterEnvironment(path, options, std::move(on_superseded)));
  if (opened->events != nullptr) BT_RETURN_IF_ERROR(opened->events->Start());
  BT_ASSIGN_OR_RETURN(opened->directory_lock,
                      OpenDirectory(opened->directory, options, &opened->root));
  BT_ASSIGN_OR_RETURN(
      opened->lock_service,
      LocalLockService::Open(options.file_system, opened->directory.lock_service(), SteadyClock()));
  BT_ASSIGN_OR_RETURN(
      opened->session,
      opened->lock_service->OpenSession({.owner = "cluster", .lease = absl::InfiniteDuration()}));
  opened->access = std::make_unique<AccessControl>(opened->session.get());
  BT_ASSIGN_OR_RETURN(const QuotaSet quotas, QuotaStore(opened->session.get()).Read());
  opened->quotas.Use(quotas);
  opened->void_batches = std::make_unique<VoidBatches>(opened->session.get());
  BT_RETURN_IF_ERROR(opened->void_batches->Load());
  for (const VoidBatches::Batch& batch : opened->void_batches->All()) {
    opened->sequences.AdvanceTo(batch.last);
  }
  opened->batch_writer = std::make_unique<BatchWriter>(
      &opened->sequences, opened->void_batches.get(), &opened->batch_log_sync);
  BT_RETURN_IF_ERROR(opened->StartNumbers());
  BT_RETURN_IF_ERROR(opened->root.Load());
  return opened;
}

absl::Status ClusterEnvironment::StartNumbers() {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      file_system->ListDirectory(directory.sstables()));
  for (const std::string& name : names) {
    if (const auto number = DatabaseDirectory::SSTableNumber(name)) file_numbers.AdvanceTo(*number);
  }
  ServerDirectory servers(file_system, session.get(), directory);
  BT_RETURN_IF_ERROR(servers.Load());
  server_names.StartAfter(servers.last_number());
  return absl::OkStatus();
}

}  // namespace bigtable
