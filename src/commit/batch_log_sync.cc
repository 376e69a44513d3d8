#include "commit/batch_log_sync.h"

#include <algorithm>
#include <iterator>

namespace bigtable {

void BatchLogSync::Add(absl::Span<const LinkedLog> parts) {
  if (parts.empty()) return;
  MutexLock lock(&mutex_);
  const uint64_t group = ++last_group_;
  for (const LinkedLog& part : parts) {
    const CommitLog* const identity = part.log.get();
    const uint64_t end = identity->end_offset();
    const auto found = Find(identity);
    if (found == unsynced_.end()) {
      unsynced_.push_back({part.log, identity, part.state, part.error, end, group});
      continue;
    }
    // A log that was dropped had the same address.
    if (found->log.expired()) {
      *found = {part.log, identity, part.state, part.error, end, found->group};
    }
    found->end = end;
    const uint64_t linked = found->group;
    for (Unsynced& unsynced : unsynced_) {
      if (unsynced.group == linked) unsynced.group = group;
    }
  }
  any_ = true;
}

std::vector<BatchLogSync::Unsynced>::iterator BatchLogSync::Find(const CommitLog* log) {
  return std::find_if(unsynced_.begin(), unsynced_.end(),
                      [&](const Unsynced& unsynced) { return unsynced.identity == log; });
}

absl::Status BatchLogSync::SyncAll() {
  if (!any_.load()) return absl::OkStatus();
  std::vector<Unsynced> all;
  {
    MutexLock lock(&mutex_);
    all = unsynced_;
  }
  return SyncEach(all, nullptr);
}

void BatchLogSync::Forget(const ServingState* state) {
  MutexLock lock(&mutex_);
  std::erase_if(unsynced_, [&](const Unsynced& unsynced) { return unsynced.state == state; });
  any_ = !unsynced_.empty();
}

absl::Status BatchLogSync::SyncLinked(const CommitLog* log, bool* is_durable) {
  if (!any_.load()) return absl::OkStatus();
  std::vector<Unsynced> linked;
  {
    MutexLock lock(&mutex_);
    const auto found = Find(log);
    if (found == unsynced_.end()) return absl::OkStatus();
    std::copy_if(unsynced_.begin(), unsynced_.end(), std::back_inserter(linked),
                 [&](const Unsynced& unsynced) { return unsynced.group == found->group; });
  }
  return SyncEach(linked, is_durable);
}

absl::Status BatchLogSync::SyncEach(const std::vector<Unsynced>& all, bool* is_durable) {
  absl::Status status;
  bool is_any_left = false;
  for (const Unsynced& unsynced : all) {
    const absl::Status synced = Sync(unsynced);
    if (synced.ok()) continue;
    is_any_left = true;
    if (!unsynced.error->resuming()) {
      status.Update(synced);
    } else if (is_durable != nullptr) {
      *is_durable = false;
    }
  }
  if (is_any_left) return status;
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
