#include "tabletserver/batch_log_sync.h"

#include <algorithm>

namespace bigtable {

void BatchLogSync::Add(const std::shared_ptr<CommitLog>& log, const ServingState* state,
                       WriteError* error) {
  const uint64_t end = log->end_offset();
  MutexLock lock(&mutex_);
  const auto found =
      std::find_if(unsynced_.begin(), unsynced_.end(),
                   [&](const Unsynced& unsynced) { return unsynced.identity == log.get(); });
  if (found != unsynced_.end() && !found->log.expired()) {
    found->end = end;
  } else if (found != unsynced_.end()) {
    // A log that was dropped had the same address.
    *found = {log, log.get(), log->directory(), state, error, end};
  } else {
    unsynced_.push_back({log, log.get(), log->directory(), state, error, end});
  }
  any_ = true;
}

absl::Status BatchLogSync::SyncAll() {
  return SyncEach([](const Unsynced&) { return false; });
}

absl::Status BatchLogSync::SyncAllForResume() {
  return SyncEach([](const Unsynced& unsynced) { return unsynced.error->resuming(); });
}

absl::Status BatchLogSync::SyncAllForReplacement(const std::set<std::string>& directories) {
  return SyncEach(
      [&](const Unsynced& unsynced) { return directories.contains(unsynced.directory); });
}

void BatchLogSync::Forget(const ServingState* state) {
  MutexLock lock(&mutex_);
  std::erase_if(unsynced_, [&](const Unsynced& unsynced) { return unsynced.state == state; });
  any_ = !unsynced_.empty();
}

absl::Status BatchLogSync::SyncEach(absl::FunctionRef<bool(const Unsynced&)> is_ignored) {
  if (!any_.load()) return absl::OkStatus();
  std::vector<Unsynced> all;
  {
    MutexLock lock(&mutex_);
    all = unsynced_;
  }
  absl::Status status;
  std::erase_if(all, [&](const Unsynced& unsynced) {
    const absl::Status synced = Sync(unsynced);
    if (!is_ignored(unsynced)) status.Update(synced);
    return !synced.ok();
  });
  MutexLock lock(&mutex_);
  std::erase_if(unsynced_, [&](const Unsynced& unsynced) {
    return std::any_of(all.begin(), all.end(), [&](const Unsynced& synced) {
      return synced.identity == unsynced.identity && synced.end == unsynced.end;
    });
  });
  any_ = !unsynced_.empty();
  return status;
}

absl::Status BatchLogSync::Sync(const Unsynced& unsynced) {
  const std::shared_ptr<CommitLog> log = unsynced.log.lock();
  if (log == nullptr || log->synced_offset() >= unsynced.end) return absl::OkStatus();
  const absl::Status synced = log->Sync();
  // A server that has ended accepts no writes any more.
  if (!synced.ok() && !unsynced.state->ended()) unsynced.error->Set(synced);
  return synced;
}

}  // namespace bigtable
