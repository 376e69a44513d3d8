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

// A server has a name as soon as it can be written to. Until then, and of a database that is only
// read, it goes by its `role`.
std::string NameOf(const TabletServer& server, std::string_view role) {
  return server.has_log() ? server.name() : std::string(role);
}

}  // namespace

DatabaseStatistics Cluster::Statistics() const {
  DatabaseStatistics statistics;
  for (const auto& host : ServersEver()) {
    const CommitLog::Statistics log = host->server()->LogStatistics();
    statistics.rows_written += host->server()->rows_written();
    statistics.log_bytes_written += log.bytes;
    statistics.log_syncs += log.syncs;
    statistics.log_stalls += log.stalls;
    statistics.log_switches += log.switches;
  }
  for (const auto& host : Servers()) {
    statistics.total_write_delay += host->write_controller()->total_delay();
    // Of the server whose writers wait longest.
    const absl::Duration delay = host->write_controller()->delay();
    if (statistics.stall_reason == StallReason::kNone || delay > statistics.write_delay) {
      statistics.stall_reason = host->write_controller()->reason();
      statistics.write_delay = delay;
    }
  }

  const BackgroundWork::Counters counters = background_.counters();
  statistics.minor_compactions = counters.minor_compactions;
  statistics.minor_compaction_bytes_written = counters.minor_bytes_written;
  statistics.merging_compactions = counters.merging_compactions;
  statistics.merging_compaction_bytes_read = counters.merging_bytes_read;
  statistics.merging_compaction_bytes_written = counters.merging_bytes_written;
  statistics.compaction_bytes_moved = counters.moved_bytes;
  statistics.compaction_bytes_dropped = counters.dropped_bytes;
  statistics.major_compactions = counters.major_compactions;

  MemoryBudget& budget = *options_.shared_memory_budget;
  statistics.block_cache_hits = BudgetAccess::Cache(budget).hits();
  statistics.block_cache_misses = BudgetAccess::Cache(budget).misses();
  if (scan_cache_ != nullptr) {
    statistics.scan_cache_hits = scan_cache_->hits();
    statistics.scan_cache_misses = scan_cache_->misses();
  }
  statistics.open_files = files_->open_files();
  statistics.file_reopens = files_->reopened();
  statistics.memory_limit = budget.limit();
  statistics.memory_memtables = budget.used(MemoryBudget::Use::kMemtables);
  statistics.memory_log =
      budget.used(MemoryBudget::Use::kLog) + budget.used(MemoryBudget::Use::kSpareLog);
  statistics.memory_indexes = budget.used(MemoryBudget::Use::kIndexes);
  statistics.memory_in_memory_groups = budget.used(MemoryBudget::Use::kInMemoryGroups);
  statistics.memory_writers = budget.used(MemoryBudget::Use::kWriters);
  statistics.memory_block_cache = budget.used(MemoryBudget::Use::kBlockCache);

  statistics.background_error = background_error();
  statistics.failing_work = background_.Failing();
  statistics.unserved_tablets = unserved_.List();
  for (const TabletServer* server : AllServers()) {
    for (const std::shared_ptr<Tablet>& tablet : server->Tablets()) {
      tablet->AddQuarantined(&statistics.quarantined_files);
    }
  }

  for (const ServerRole role : kMetadataRoles) {
    for (const auto& host : ServersOf(role)) {
      statistics.servers[NameOf(*host->server(), NameOfRole(role))] = host->server()->Statistics();
    }
  }
  for (int number = 1; const auto& host : Servers()) {
    const TabletServer& server = *host->server();
    const WriteController& controller = *host->write_controller();
    TabletServerStatistics& of_server = statistics.servers[NameOf(server, Cat("user-", number++))];
    of_server = server.Statistics();
    of_server.stall_reason = controller.reason();
    of_server.write_delay = controller.delay();
    of_server.total_write_delay = controller.total_delay();
  }

  std::map<std::string, std::set<uint64_t>> counted;
  for (const auto& host : Servers()) {
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
