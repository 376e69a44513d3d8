// TabletServer's rotating: which active memtables are to be written out and when, and what a flush
// of them needs of the log. Who rotates is the leader, or has his turn among the writes.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/strings.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// --- What is due ---

void TabletServer::RotateFull(Tablet* tablet) {
  for (size_t group = 0; group < tablet->active_groups(); ++group) {
    // What waits is written out with it.
    if (tablet->writer()->active(group).bytes() + WaitingBytes() < options_.memtable_size) continue;
    RotateWithOthers({{tablet->shared_from_this(), group}}, ActiveMemtables(),
                     RotationReason::kFull);
  }
}

void TabletServer::RotateForLog() {
  const SequenceNumber oldest = log_->OldestNeeded();
  if (oldest == 0) return;
  // The last one in the older half of the log.
  const SequenceNumber last = oldest + (visible() - std::min(visible(), oldest)) / 2;
  const std::vector<Active> all = ActiveMemtables();
  std::vector<Active> due;
  std::copy_if(all.begin(), all.end(), std::back_inserter(due), [&](const Active& active) {
    return active.tablet->writer()->active(active.group).first_sequence() <= last &&
           !active.tablet->HasImmutable(active.group);
  });
  SequenceNumber first_waiting;
  {
    MutexLock lock(&rotation_mutex_);
    first_waiting = rotated_.FirstWaiting();
  }
  if (!due.empty() || first_waiting <= last) RotateWithOthers(due, all, RotationReason::kLogLength);
}

void TabletServer::RotateLargest() {
  queue_.RunExclusive([&] {
    const std::vector<Active> all = ActiveMemtables();
    std::vector<Active> due = all;
    const auto bytes = [](const Active& active) {
      return active.tablet->writer()->active(active.group).bytes();
    };
    std::sort(due.begin(), due.end(),
              [&](const Active& a, const Active& b) { return bytes(a) > bytes(b); });
    uint64_t sum = 0;
    for (const Active& active : due) sum += bytes(active);
    uint64_t immutable = 0;
    size_t count = 0;
    while (count < due.size() && immutable < sum / 2) immutable += bytes(due[count++]);
    due.resize(count);
    if (!due.empty() || WaitingBytes() > 0) RotateWithOthers(due, all, RotationReason::kMemory);
  });
}

// --- What somebody asks for ---

void TabletServer::RotateAll(Tablet* tablet) {
  queue_.RunExclusive([&] {
    MutexLock lock(&rotation_mutex_);
    RotateAll(tablet->shared_from_this());
  });
  wake_();
}

void TabletServer::RotateEverything() {
  queue_.RunExclusive([&] {
    MutexLock lock(&rotation_mutex_);
    for (const std::shared_ptr<Tablet>& tablet : Tablets()) RotateAll(tablet);
  });
  wake_();
}

// --- Freezing ---

std::vector<TabletServer::Active> TabletServer::ActiveMemtables() const {
  std::vector<Active> active;
  for (const std::shared_ptr<Tablet>& tablet : Tablets()) {
    for (size_t group = 0; group < tablet->active_groups(); ++group) {
      if (tablet->writer()->active(group).first_sequence() != 0) active.push_back({tablet, group});
    }
  }
  return active;
}

// What is rotated at one moment is written out without a sync of the log (tablet/
// minor_compaction.h). That makes small files of memtables that are not full; so where a server has
// more of them than can be worth it, only those that are due are rotated, and the log is synced.
void TabletServer::RotateWithOthers(const std::vector<Active>& due, const std::vector<Active>& all,
                                    RotationReason reason) {
  constexpr size_t kMostOthers = 15;
  {
    MutexLock lock(&rotation_mutex_);
    rotated_.EndWaiting(visible());
    for (const Active& active : due) Rotate(active, reason);
    if (all.size() <= due.size() + kMostOthers) {
      for (const Active& active : all) Rotate(active, RotationReason::kTogether);
    }
  }
  wake_();
}

void TabletServer::Rotate(const Active& active, RotationReason reason) {
  if (active.tablet->writer()->active(active.group).first_sequence() == 0) return;
  if (active.tablet->superseded() || active.tablet->removed()) return;  // as in RotateAll
  active.tablet->Rotate(active.group, visible(), reason);
  rotated_.Add(active.tablet, visible());
}

void TabletServer::RotateAll(const std::shared_ptr<Tablet>& tablet) {
  // Another one has its place, also in the list.
  if (tablet->superseded() || tablet->removed()) return;
  tablet->RotateAll(visible());
  rotated_.Add(tablet, visible());
}

// --- Writing out ---

bool TabletServer::HasImmutable() {
  MutexLock lock(&rotation_mutex_);
  return rotated_.HasDue();
}

std::vector<ImmutableMemtables> TabletServer::MemtablesToFlush() {
  MutexLock lock(&rotation_mutex_);
  return rotated_.Due();
}

// After a failure of the log, memtables are written out although it cannot be synced: this is how
// what they hold becomes durable again.
absl::StatusOr<SequenceNumber> TabletServer::SyncLog(absl::Span<const ImmutableMemtables> flushed) {
  if (has_log() && IsLogNeeded(flushed)) {
    // The server may end meanwhile, and its log be dropped.
    const std::shared_ptr<CommitLog> log = Log();
    if (log == nullptr)
      return absl::UnavailableError(Cat("server ", name(), " has no log any more"));
    const SequenceNumber last = log->last_sequence();
    const absl::Status status = log->Sync();
    if (!status.ok() && !resuming_.load()) {
      SetError(status);  // what the log holds is not known
      return status;
    }
    if (status.ok()) {
      MutexLock lock(&mutex_);
      log_synced_ = std::max(log_synced_, last);
    }
  }
  MutexLock lock(&mutex_);
  return log_synced_;
}

bool TabletServer::IsLogNeeded(absl::Span<const ImmutableMemtables> flushed) const {
  SequenceNumber last = 0;
  // Halves of a tablet share memtables: each is one of its own here.
  std::set<std::pair<const Tablet*, const Memtable*>> these;
  for (const ImmutableMemtables& immutable : flushed) {
    last = std::max(last, immutable.memtables.front()->last_sequence());
    for (const Ref<Memtable>& memtable : immutable.memtables) {
      these.emplace(immutable.tablet.get(), memtable.get());
    }
  }
  {
    // Of what was rotated at one moment and is too much to be written out at once, the first part
    // has made durable what the others need.
    MutexLock lock(&mutex_);
    if (last <= log_synced_) return false;
  }
  for (const std::shared_ptr<Tablet>& tablet : Tablets()) {
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
