// Adds up the counters of the parts of a database.

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "base/strings.h"
#include "cache/block_cache.h"
#include "cache/budget_access.h"
#include "cluster/change_readers.h"
#include "cluster/cluster.h"
#include "cluster/environment.h"
#include "tablet/group_statistics.h"
#include "tablet/storage_usage.h"

namespace bigtable {
namespace {

TabletServerStatistics StatisticsOf(const TabletServer& server) {
  TabletServerStatistics statistics = server.Statistics();
  if (server.log().started()) statistics.name = server.name();
  return statistics;
}

void AddWrites(const ServerSet& servers, DatabaseStatistics* to) {
  for (const auto& host : servers.OfRoleEver(ServerRole::kUser)) {
    const CommitLog::Statistics log = host->server()->log().statistics();
    to->rows_written += host->server()->writer().rows_written();
    to->log_bytes_written += log.bytes;
    to->log_syncs += log.syncs;
    to->log_stalls += log.stalls;
    to->log_switches += log.switches;
  }
  for (const auto& host : servers.Users()) {
    to->total_write_delay += host->write_controller()->total_delay();
    // The reason of the server whose writers wait longest.
    const absl::Duration delay = host->write_controller()->delay();
    if (to->stall_reason == StallReason::kNone || delay > to->write_delay) {
      to->stall_reason = host->write_controller()->reason();
      to->write_delay = delay;
    }
  }
}

void AddCompactions(const WorkMeter::Counters& counters, DatabaseStatistics* to) {
  to->minor_compactions = counters.minor_compactions;
  to->minor_compaction_bytes_written = counters.minor_bytes_written;
  to->merging_compactions = counters.merging_compactions;
  to->merging_compaction_bytes_read = counters.merging_bytes_read;
  to->merging_compaction_bytes_written = counters.merging_bytes_written;
  to->compaction_bytes_moved = counters.moved_bytes;
  to->compaction_bytes_dropped = counters.dropped_bytes;
  to->major_compactions = counters.major_compactions;
}

void AddMemory(MemoryBudget& budget, const ScanCache* scan_cache, const FilePool& files,
               DatabaseStatistics* to) {
  to->block_cache_hits = BudgetAccess::Cache(budget).hits();
  to->block_cache_misses = BudgetAccess::Cache(budget).misses();
  if (scan_cache != nullptr) {
    to->scan_cache_hits = scan_cache->hits();
    to->scan_cache_misses = scan_cache->misses();
  }
  to->open_files = files.open_files();
  to->file_reopens = files.reopened();
  to->memory_limit = budget.limit();
  to->memory_memtables = budget.used(MemoryBudget::Use::kMemtables);
  to->memory_log = budget.used(MemoryBudget::Use::kLog) + budget.used(MemoryBudget::Use::kSpareLog);
  to->memory_indexes = budget.used(MemoryBudget::Use::kIndexes);
  to->memory_in_memory_groups = budget.used(MemoryBudget::Use::kInMemoryGroups);
  to->memory_writers = budget.used(MemoryBudget::Use::kWriters);
  to->files_in_parts = budget.files_in_parts();
  to->memory_reads = budget.used(MemoryBudget::Use::kReads);
  to->memory_block_cache = budget.used(MemoryBudget::Use::kBlockCache);
}

void AddServers(const ServerSet& servers, DatabaseStatistics* to) {
  for (const ServerRole role : kMetadataRoles) {
    for (const auto& host : servers.OfRole(role)) {
      to->servers[std::string(NameOfRole(role))] = StatisticsOf(*host->server());
    }
  }
  for (int number = 0; const auto& host : servers.Users()) {
    const TabletServer& server = *host->server();
    const WriteController& controller = *host->write_controller();
    TabletServerStatistics& of_server = to->servers[Cat("user-", number++)];
    of_server = StatisticsOf(server);
    of_server.stall_reason = controller.reason();
    of_server.write_delay = controller.delay();
    of_server.total_write_delay = controller.total_delay();
  }
}

void AddTables(const ServerSet& servers, DatabaseStatistics* to) {
  std::map<std::string, std::set<uint64_t>> counted;
  for (const auto& host : servers.Users()) {
    for (const std::shared_ptr<Tablet>& tablet : host->server()->tablets().All()) {
      const Pin<TabletVersion> version = tablet->Version();
      const std::string& name = version->layout().name;
      tablet->counters()->AddFamilies(&to->families[name]);
      for (size_t i = 0; i < version->groups().size(); ++i) {
        AddGroup(version->groups()[i], &to->tables[name][version->layout().groups[i].name],
                 &counted[name]);
      }
    }
  }
}

// What the tablets of users take, by table id, and the names of the tables.
struct TableUsage {
  std::string name;
  StorageUsage usage;
};
std::map<uint64_t, TableUsage> UsageOf(const ServerSet& servers) {
  std::map<uint64_t, TableUsage> tables;
  for (const std::shared_ptr<Tablet>& tablet : servers.AllOfUsers()) {
    Pin<TabletVersion> version = tablet->Version();
    TableUsage& table = tables[tablet->table_id()];
    table.name = version->layout().name;
    table.usage.Add(std::move(version));
  }
  return tables;
}

void AddTo(StorageStatistics* sum, const StorageStatistics& storage) {
  sum->disk_bytes += storage.disk_bytes;
  sum->memtable_bytes += storage.memtable_bytes;
  sum->loaded_bytes += storage.loaded_bytes;
}

void AddStorage(const ServerSet& servers, DatabaseStatistics* to) {
  for (const auto& [id, table] : UsageOf(servers)) {
    AddTo(&to->storage[table.name], table.usage.total());
    for (const auto& [name, family] : table.usage.families()) {
      to->families[table.name][name].storage = family.storage;
      if (!family.owner.empty()) AddTo(&to->owner_storage[family.owner], family.storage);
    }
  }
  StorageUsage metadata;
  for (const ServerRole role : kMetadataRoles) {
    for (const auto& host : servers.OfRole(role)) {
      for (const std::shared_ptr<Tablet>& tablet : host->server()->tablets().All()) {
        metadata.Add(tablet->Version());
      }
    }
  }
  to->metadata_storage = metadata.total();
}

void AddChangeStreams(const ServerSet& servers, const ChangeReaders& readers,
                      DatabaseStatistics* to) {
  const absl::StatusOr<ChangeReaderSet> registered = readers.Get();
  std::set<uint64_t> counted;
  for (const std::shared_ptr<Tablet>& tablet : servers.AllOfUsers()) {
    const Pin<TabletVersion> version = tablet->Version();
    const TableLayout& layout = version->layout();
    if (layout.changes_since == 0) continue;
    ChangeStreamStatistics& stream = to->change_streams[layout.name];
    stream.retention = layout.changes.retention;
    stream.max_bytes = layout.changes.max_bytes;
    if (registered.ok()) {
      for (auto reader = registered->readers.lower_bound({layout.table_id, ""});
           reader != registered->readers.end() && reader->first.first == layout.table_id;
           ++reader) {
        stream.unread_bytes.try_emplace(reader->first.second, 0);
      }
    }
    if (!version->change_files()) continue;
    for (const GroupFiles::File& file : version->change_files()->files()) {
      const SSTableInfo& info = file.table->info();
      if (!counted.insert(info.file_number).second) continue;
      ++stream.files;
      stream.bytes += info.size;
      stream.oldest = std::min(stream.oldest, absl::FromUnixMicros(info.min_timestamp));
      for (auto& [name, unread] : stream.unread_bytes) {
        if (registered->readers.at({layout.table_id, name}) < info.max_sequence) {
          unread += info.size;
        }
      }
    }
  }
}

}  // namespace

StoredBytes Cluster::AddUpStorage() const {
  StoredBytes stored;
  for (const auto& [id, table] : UsageOf(servers_)) {
    stored.tables[id] = table.usage.total().stored_bytes();
    for (const auto& [name, family] : table.usage.families()) {
      if (!family.owner.empty()) stored.owners[family.owner] += family.storage.stored_bytes();
    }
  }
  return stored;
}

DatabaseStatistics Cluster::Statistics() {
  DatabaseStatistics statistics;
  AddWrites(servers_, &statistics);
  AddCompactions(environment_->background.meter().counters(), &statistics);
  AddMemory(*environment_->options.shared_memory_budget, environment_->scan_cache.get(),
            *environment_->storage.files, &statistics);
  statistics.background_error = background_error();
  statistics.failing_work = environment_->background.Failing();
  statistics.unserved_tablets = environment_->unserved.List();
  for (const TabletServer* server : servers_.AllTabletServers()) {
    for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
      AddQuarantined(*tablet, &statistics.quarantined_files);
    }
  }

  AddServers(servers_, &statistics);
  AddTables(servers_, &statistics);
  AddChangeStreams(servers_, environment_->change_readers, &statistics);
  AddStorage(servers_, &statistics);
  return statistics;
}

}  // namespace bigtable
