#include "cluster/make_server.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/strings.h"
#include "cache/scan_cache.h"
#include "cluster/environment.h"

namespace bigtable {
namespace {

// The largest power of two that is at most `n`.
uint64_t PowerOfTwo(uint64_t n) { return uint64_t{1} << (63 - __builtin_clzll(n)); }

// The groups of a server's LastWrites: servers share the writes, so each gets a share.
size_t WriteGroups(const DatabaseOptions& options) {
  constexpr size_t kGroups = size_t{1} << 16;
  constexpr size_t kFewest = size_t{1} << 12;
  return std::max(kGroups / static_cast<size_t>(std::max(options.tablet_servers, 1)), kFewest);
}

TabletServerOptions OptionsOf(ClusterEnvironment& environment, ServerRole role) {
  const DatabaseOptions& database = environment.options;
  const bool metadata = role != ServerRole::kUser;
  const uint64_t budget = database.shared_memory_budget->limit();
  TabletServerOptions options;
  options.most_memtable_size = MostMemtableSize(environment.live, role);
  // A budget holds some dozens of segments.
  options.log_segment_size =
      std::clamp<uint64_t>(PowerOfTwo(budget / 32), 64 << 10, database.log_segment_size);
  if (metadata) {
    options.log_segment_size = std::min<uint64_t>(options.log_segment_size, 256 << 10);
  }
  options.log_segment_size &= ~uint64_t{4095};
  options.write_groups = WriteGroups(database);
  if (!metadata) options.batches = &environment.batches.log_sync;
  options.log_limit.bytes = 4 * options.log_segment_size;
  if (!metadata) options.log_limit.budget = database.shared_memory_budget.get();
  return options;
}

// The last tablet to drop its reference to a file deletes the file.
void ReleaseFile(ClusterStorage* storage, InfoLog* info_log, uint64_t number, bool has_copy) {
  if (!storage->shared_files.Release(number)) return;
  storage->leases.Remove([storage, info_log, number, has_copy] {
    // The sweep may have removed the file meanwhile.
    absl::Status removed = storage->files->Remove(storage->directory.sstable(number));
    if (has_copy && removed.ok()) removed = storage->metadata_copies.Remove(number);
    if (removed.ok() || absl::IsNotFound(removed)) return;
    info_log->Warning("an obsolete SSTable was not removed: ", ToStd(removed.message()));
  });
}

}  // namespace

uint64_t MostMemtableSize(const LiveOptions& live, ServerRole role) {
  constexpr uint64_t kMostOfMetadata = 1 << 20;
  const uint64_t given = live.memtable_size;
  const uint64_t most = given != 0 ? given : uint64_t{64} << 20;
  return role == ServerRole::kUser ? most : std::min(most, kMostOfMetadata);
}

std::unique_ptr<TabletServer> MakeTabletServer(
    ClusterEnvironment* environment, ServerRole role, TabletStore* store,
    std::function<absl::Status(const CallLimits&)> attest_commits) {
  const DatabaseOptions& database = environment->options;
  const bool metadata = role != ServerRole::kUser;
  const TabletServerOptions options = OptionsOf(*environment, role);

  ClusterStorage* const storage = &environment->storage;
  InfoLog* const info_log = &environment->info_log;
  QuotaControl* const quotas = &environment->quotas;
  BackgroundWork* const background = &environment->background;

  TabletEnvironment of_tablets;
  of_tablets.file_system = storage->file_system;
  of_tablets.clock = database.clock;
  of_tablets.budget = database.shared_memory_budget;
  of_tablets.store = store;
  of_tablets.snapshots = environment->snapshots.get();
  // METADATA's rows are looked up once, so a scan cache would not help.
  if (!metadata && environment->scan_cache != nullptr) {
    of_tablets.scan_cache = environment->scan_cache.get();
    of_tablets.last_writes = std::make_shared<LastWrites>(of_tablets.budget, options.write_groups);
  }
  of_tablets.rate_limiter = &environment->rate_limiter;
  of_tablets.events = environment->events.get();
  of_tablets.open_tables = &storage->open_tables;
  of_tablets.defers_files = !metadata;
  of_tablets.target_file_size = environment->live.target_file_size;
  of_tablets.file_numbers = &storage->file_numbers;
  if (!metadata) of_tablets.shared_files = &storage->shared_files;
  of_tablets.path_of = [storage](uint64_t number) { return storage->directory.sstable(number); };
  if (metadata) {
    of_tablets.path_of = [storage](uint64_t number) {
      return storage->metadata_copies.PathOf(number);
    };
    of_tablets.on_file_written = [storage](uint64_t number) {
      return storage->metadata_copies.Keep(number);
    };
  }
  if (!metadata) of_tablets.on_version = [quotas] { quotas->MarkChanged(); };
  of_tablets.attest_commits = std::move(attest_commits);
  of_tablets.remove_file = [storage, info_log, metadata](uint64_t number) {
    ReleaseFile(storage, info_log, number, metadata);
  };
  return std::make_unique<TabletServer>(options, std::move(of_tablets), &environment->sequences,
                                        info_log, [background] { background->Wake(); });
}

}  // namespace bigtable
