#include "cluster/batch_recovery.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/sequence.h"

namespace bigtable {
namespace {

using LogsByServer = std::map<std::string, DeadLog*, std::less<>>;

// Adds the logs that end before their parts of the batch, which are in SSTables, to
// `*only_flushed`.
bool IsComplete(const DeadLog::Part& part, const LogsByServer& logs,
                std::set<DeadLog*>* only_flushed) {
  return std::all_of(part.others.begin(), part.others.end(), [&](const auto& other) {
    const auto& [server, last] = other;
    const auto log = logs.find(server);
    if (log == logs.end() || !log->second->is_whole() || last <= log->second->last()) return true;
    if (!log->second->IsFlushed(last)) return false;
    only_flushed->insert(log->second);
    return true;
  });
}

// Lets the log end before its first incomplete part. Returns whether there is one.
bool EndBeforeIncomplete(DeadLog* log, const LogsByServer& logs,
                         const std::vector<VoidBatches::Batch>& void_batches,
                         std::set<DeadLog*>* only_flushed) {
  for (const DeadLog::Part& part : log->parts()) {
    if (part.last > log->last()) continue;
    // Whether the log has it makes no difference.
    if (log->IsFlushed(part.last)) continue;
    const bool is_void =
        std::any_of(void_batches.begin(), void_batches.end(),
                    [&](const VoidBatches::Batch& batch) { return batch.has(part.last); });
    if (is_void || IsComplete(part, logs, only_flushed)) continue;
    log->EndAt(part.first - 1);
    return true;
  }
  return false;
}

}  // namespace

SettledLogs SettleBatches(const std::vector<std::unique_ptr<DeadLog>>& logs,
                          const std::vector<VoidBatches::Batch>& void_batches) {
  LogsByServer by_server;
  for (const auto& log : logs) {
    by_server[log->server()] = log.get();
    log->Skip(void_batches);
  }
  SettledLogs settled;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const auto& log : logs) {
      if (!EndBeforeIncomplete(log.get(), by_server, void_batches, &settled.only_flushed)) continue;
      settled.shortened.insert(log.get());
      has_changed = true;
    }
  }
  return settled;
}

}  // namespace bigtable
