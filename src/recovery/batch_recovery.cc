#include "recovery/batch_recovery.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/sequence.h"

namespace bigtable {
namespace {

using LogsByServer = std::map<std::string, const DeadLog*, std::less<>>;

bool IsComplete(const DeadLog::BatchPart& part, const LogsByServer& logs) {
  return std::all_of(part.others.begin(), part.others.end(), [&](const auto& other) {
    const auto& [server, last] = other;
    const auto log = logs.find(server);
    return log == logs.end() || !log->second->is_whole() || last <= log->second->last() ||
           log->second->IsFlushed(last);
  });
}

// Lets the log end before its first incomplete part. Returns whether there is one.
bool EndBeforeIncomplete(DeadLog* log, const LogsByServer& logs,
                         const std::vector<VoidBatches::Batch>& void_batches) {
  for (const DeadLog::BatchPart& part : log->parts()) {
    if (part.last > log->last()) continue;
    // Whether the log has it makes no difference.
    if (log->IsFlushed(part.last)) continue;
    const bool is_void =
        std::any_of(void_batches.begin(), void_batches.end(),
                    [&](const VoidBatches::Batch& batch) { return batch.has(part.last); });
    if (is_void || IsComplete(part, logs)) continue;
    log->EndAt(part.first - 1);
    return true;
  }
  return false;
}

}  // namespace

std::vector<DeadLog*> SettleBatches(const std::vector<std::unique_ptr<DeadLog>>& logs,
                                    const std::vector<VoidBatches::Batch>& void_batches) {
  LogsByServer by_server;
  for (const auto& log : logs) {
    by_server[log->server()] = log.get();
    log->Skip(void_batches);
  }
  std::set<DeadLog*> shortened;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const auto& log : logs) {
      if (!EndBeforeIncomplete(log.get(), by_server, void_batches)) continue;
      shortened.insert(log.get());
      has_changed = true;
    }
  }
  return {shortened.begin(), shortened.end()};
}

}  // namespace bigtable
