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
    return log == logs.end() || last <= log->second->last() ||
           log->second->record().IsFlushed(last);
  });
}

// Lets the log end before its first incomplete part. Returns whether there is one.
bool EndBeforeIncomplete(DeadLog* log, const LogsByServer& logs) {
  const ServerRecord& record = log->record();
  for (const DeadLog::BatchPart& part : log->parts()) {
    if (!record.Recovers(part.last)) continue;
    // Whether the log has it makes no difference.
    if (record.IsFlushed(part.last) || IsComplete(part, logs)) continue;
    ServerRecord shorter = record;
    shorter.last = part.first - 1;
    log->set_record(std::move(shorter));
    return true;
  }
  return false;
}

}  // namespace

std::vector<DeadLog*> SettleBatches(const std::vector<std::unique_ptr<DeadLog>>& logs) {
  LogsByServer by_server;
  ServerRecord voided;
  for (const auto& log : logs) {
    by_server[log->server()] = log.get();
    ServerRecord of_log;
    of_log.void_batches = log->record().void_batches;
    voided.Add(of_log);
  }
  for (const auto& log : logs) {
    ServerRecord record = log->record();
    record.Add(voided);
    log->set_record(std::move(record));
  }
  std::set<DeadLog*> shortened;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const auto& log : logs) {
      if (!EndBeforeIncomplete(log.get(), by_server)) continue;
      shortened.insert(log.get());
      has_changed = true;
    }
  }
  return {shortened.begin(), shortened.end()};
}

}  // namespace bigtable
