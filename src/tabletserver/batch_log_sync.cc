#include "tabletserver/batch_log_sync.h"

#include <algorithm>

#include "base/status.h"
#include "commitlog/log_directory.h"

namespace bigtable {

void BatchLogSync::Add(const std::shared_ptr<CommitLog>& log, const ServingState* state,
                       WriteError* error) {
  const uint64_t end = log->end_offset();
  MutexLock lock(&mutex_);
  const auto found =
      std::find_if(unsynced_.begin(), unsynced_.end(),
                   [&](const Unsynced& unsynced) { return unsynced.identity == log.get(); });
  if (found != unsynced_.end()) {
    *found = {log, log.get(), state, error, end};
  } else {
    unsynced_.push_back({log, log.get(), state, error, end});
  }
  any_ = true;
}

absl::Status BatchLogSync::SyncEach(bool for_resume) {
  std::vector<Unsynced> all;
  {
    MutexLock lock(&mutex_);
    all = unsynced_;
  }
  absl::Status status;
  std::erase_if(all, [&](const Unsynced& unsynced) {
    const absl::Status synced = Sync(unsynced);
    if (!for_resume || !unsynced.error->resuming()) status.Update(synced);
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

absl::Status BatchLogSync::Sync(const Unsynced& unsynced) const {
  const std::shared_ptr<CommitLog> log = unsynced.log.lock();
  if (log == nullptr || log->synced_offset() >= unsynced.end) return absl::OkStatus();
  // A server that has ended syncs nothing any more, but its log still has the part.
  if (unsynced.state->ended()) return SyncLog(file_system_, log->directory());
  const absl::Status synced = log->Sync();
  if (!synced.ok()) unsynced.error->Set(synced);
  return synced;
}

}  // namespace bigtable
