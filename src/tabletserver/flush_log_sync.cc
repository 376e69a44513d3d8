#include "tabletserver/flush_log_sync.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/base/macros.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::StatusOr<SequenceNumber> FlushLogSync::SyncFor(absl::Span<const ImmutableMemtables> flushed) {
  // The server may end meanwhile, and its log be dropped. A log that was dropped has no parts.
  const std::shared_ptr<CommitLog> log = log_->Get();
  const bool is_needed = log_->started() && IsNeeded(flushed);
  if (is_needed && log == nullptr) {
    return absl::UnavailableError(Cat("server ", environment_->server, " has no log any more"));
  }
  // Not all that is in the log: the other parts of a batch that is being logged may be missing in
  // their logs, and not be known to `batches_`. Once a mutation is visible, they are.
  const SequenceNumber last =
      is_needed ? std::min(log->last_sequence(), environment_->visible()) : 0;
  bool is_durable = true;
  if (is_needed) {
    const absl::Status status = log->Sync();
    is_durable = status.ok();
    if (!status.ok() && !error_->resuming()) {
      error_->Set(status);  // what the log holds is not known
      return status;
    }
  }
  if (batches_ != nullptr) BT_RETURN_IF_ERROR(batches_->SyncLinked(log.get(), &is_durable));
  MutexLock lock(&mutex_);
  if (is_durable) synced_through_ = std::max(synced_through_, last);
  return synced_through_;
}

bool FlushLogSync::IsNeeded(absl::Span<const ImmutableMemtables> flushed) const {
  SequenceNumber last = 0;  // what has to survive with these
  // The halves of a split tablet share memtables. Such a memtable counts once for each half.
  std::set<std::pair<const Tablet*, const Memtable*>> these;
  for (const ImmutableMemtables& immutable : flushed) {
    ABSL_ASSERT(!immutable.memtables.empty() && "a group that is flushed has a memtable");
    for (const Ref<Memtable>& memtable : immutable.memtables) {
      last = std::max(last, memtable->last_together());
      these.emplace(immutable.tablet.get(), memtable.get());
    }
  }
  {
    // Memtables that were rotated together but are too many for one flush are flushed in parts. The
    // first part has made durable what the others need.
    MutexLock lock(&mutex_);
    if (last <= synced_through_) return false;
  }
  for (const std::shared_ptr<Tablet>& tablet : tablets_->All()) {
    const auto needs = [&](const Ref<Memtable>& memtable) {
      return memtable->first_sequence() != 0 && memtable->first_sequence() <= last &&
             !these.contains({tablet.get(), memtable.get()});
    };
    const Pin<TabletVersion> version = tablet->Version();
    for (const GroupVersion& group : version->groups()) {
      if (needs(group.active) ||
          std::any_of(group.immutable.begin(), group.immutable.end(), needs)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace bigtable
