// What the parts of a database count, put together.

#include <map>
#include <set>
#include <string>

#include "base/strings.h"
#include "cache/block_cache.h"
#include "cache/budget_access.h"
#include "cluster/cluster.h"
#include "tablet/group_statistics.h"

namespace bigtable {
namespace {

TabletServerStatistics StatisticsOf(const TabletServer& server) {
  TabletServerStatistics statistics = server.Statistics();
  if (server.has_log()) statistics.name = server.name();
  return statistics;
}

}  // namespace

DatabaseStatistics Cluster::Statistics() {
  DatabaseStatistics statistics;
  for (const auto& host : servers_.OfRoleEver(ServerRole::kUser)) {
    const CommitLog::Statistics log = host->server()->LogStatistics();
    statistics.rows_written += host->server()->rows_written();
    statistics.log_bytes_written += log.bytes;
    statistics.log_syncs += log.syncs;
    statistics.log_stalls += log.stalls;
    statistics.log_switches += log.switches;
  }
  for (const auto& host : servers_.Users()) {
    statistics.total_write_delay += host->write_controller()->total_delay();
    // Of the server whose writers wait longest.
    const absl::Duration delay = host->write_controller()->delay();
    if (statistics.stall_reason == StallReason::kNone || delay > statistics.write_delay) {
      statistics.stall_reason = host->write_controller()->reason();
      statistics.write_delay = delay;
    }
  }

  const BackgroundWork::Counters counters = environment_->background.counters();
  statistics.minor_compactions = counters.minor_compactions;
  statistics.minor_compaction_bytes_written = counters.minor_bytes_written;
  statistics.merging_compactions = counters.merging_compactions;
  statistics.merging_compaction_bytes_read = counters.merging_bytes_read;
  statistics.merging_compaction_bytes_written = counters.merging_bytes_written;
  statistics.compaction_bytes_moved = counters.moved_bytes;
  statistics.compaction_bytes_dropped = counters.dropped_bytes;
  statistics.major_compactions = counters.major_compactions;

  MemoryBudget& budget = *environment_->options.shared_memory_budget;
  statistics.block_cache_hits = BudgetAccess::Cache(budget).hits();
  statistics.block_cache_misses = BudgetAccess::Cache(budget).misses();
  if (environment_->scan_cache != nullptr) {
    statistics.scan_cache_hits = environment_->scan_cache->hits();
    statistics.scan_cache_misses = environment_->scan_cache->misses();
  }
  statistics.open_files = environment_->files->open_files();
  statistics.file_reopens = environment_->files->reopened();
  statistics.memory_limit = budget.limit();
  statistics.memory_memtables = budget.used(MemoryBudget::Use::kMemtables);
  statistics.memory_log =
      budget.used(MemoryBudget::Use::kLog) + budget.used(MemoryBudget::Use::kSpareLog);
  statistics.memory_indexes = budget.used(MemoryBudget::Use::kIndexes);
  statistics.memory_in_memory_groups = budget.used(MemoryBudget::Use::kInMemoryGroups);
  statistics.memory_writers = budget.used(MemoryBudget::Use::kWriters);
  statistics.memory_block_cache = budget.used(MemoryBudget::Use::kBlockCache);

  statistics.background_error = background_error();
  statistics.failing_work = environment_->background.Failing();
  statistics.unserved_tablets = environment_->unserved.List();
  for (const TabletServer* server : servers_.AllTabletServers()) {
    for (const std::shared_ptr<Tablet>& tablet : server->Tablets()) {
      tablet->AddQuarantined(&statistics.quarantined_files);
    }
  }

  for (const ServerRole role : kMetadataRoles) {
    for (const auto& host : servers_.OfRole(role)) {
      statistics.servers[std::string(NameOfRole(role))] = StatisticsOf(*host->server());
    }
  }
  for (int number = 0; const auto& host : servers_.Users()) {
    const TabletServer& server = *host->server();
    const WriteController& controller = *host->write_controller();
    TabletServerStatistics& of_server = statistics.servers[Cat("user-", number++)];
    of_server = StatisticsOf(server);
    of_server.stall_reason = controller.reason();
    of_server.write_delay = controller.delay();
    of_server.total_write_delay = controller.total_delay();
  }

  std::map<std::string, std::set<uint64_t>> counted;
  for (const auto& host : servers_.Users()) {
    for (const std::shared_ptr<Tablet>& tablet : host->server()->Tablets()) {
      const Pin<TabletVersion> version = tablet->Version();
      const std::string& name = version->layout().name;
      tablet->counters()->AddFamilies(&statistics.families[name]);
      for (size_t i = 0; i < version->groups().size(); ++i) {
        AddGroup(version->groups()[i], &statistics.tables[name][version->layout().groups[i].name],
                 &counted[name]);
      }
    }
  }
  return statistics;
}

}  // namespace bigtable
