#include "commit/rotated_tablets.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bigtable {
namespace {

bool HasImmutable(const Tablet& tablet) {
  const Pin<TabletVersion> version = tablet.Version();
  return std::any_of(version->groups().begin(), version->groups().end(),
                     [](const GroupVersion& group) { return !group.immutable.empty(); });
}

}  // namespace

void RotatedTablets::Add(const std::shared_ptr<Tablet>& tablet, SequenceNumber last) {
  due_[tablet->id()] = tablet;
  EndWaiting(last);
}

void RotatedTablets::Replace(const Tablet& tablet, const Tablet::Halves& halves, uint64_t bytes) {
  const bool is_due = Erase(&due_, tablet);
  Erase(&waiting_, tablet);
  for (const std::shared_ptr<Tablet>& half : {halves.left, halves.right}) {
    if (HasImmutable(*half)) (is_due ? due_ : waiting_)[half->id()] = half;
  }
  SetWaitingBytes(waiting_bytes() + bytes);
}

void RotatedTablets::Remove(const Tablet& tablet) {
  Erase(&due_, tablet);
  Erase(&waiting_, tablet);
  SetWaitingBytes(waiting_bytes());
}

void RotatedTablets::EndWaiting(SequenceNumber last) {
  due_through_ = std::max(due_through_, last);
  for (auto& [id, tablet] : waiting_) due_[id] = std::move(tablet);
  waiting_.clear();
  SetWaitingBytes(0);
}

std::vector<ImmutableMemtables> RotatedTablets::DueOf(const std::shared_ptr<Tablet>& tablet) const {
  std::vector<ImmutableMemtables> due = ImmutableMemtablesOf(tablet);
  for (ImmutableMemtables& immutable : due) {
    std::erase_if(immutable.memtables, [&](const Ref<Memtable>& memtable) {
      return memtable->last_sequence() > due_through_;
    });
  }
  std::erase_if(due,
                [](const ImmutableMemtables& immutable) { return immutable.memtables.empty(); });
  return due;
}

std::vector<ImmutableMemtables> RotatedTablets::Due() {
  std::vector<ImmutableMemtables> all;
  for (auto entry = due_.begin(); entry != due_.end();) {
    const std::shared_ptr<Tablet>& tablet = entry->second;
    std::vector<ImmutableMemtables> due;
    if (!tablet->flags().ended()) due = DueOf(tablet);
    if (due.empty()) {
      if (!tablet->flags().ended() && HasImmutable(*tablet)) waiting_[entry->first] = tablet;
      entry = due_.erase(entry);
      continue;
    }
    // The thread that has stopped a tablet flushes its memtables, or recovery finds them in the
    // log.
    if (!tablet->flags().stopped()) std::move(due.begin(), due.end(), std::back_inserter(all));
    ++entry;
  }
  return all;
}

bool RotatedTablets::HasDue() {
  while (!due_.empty()) {
    const std::shared_ptr<Tablet> first = due_.begin()->second;
    if (!first->flags().ended() && !DueOf(first).empty()) return true;
    if (!first->flags().ended() && HasImmutable(*first)) waiting_[first->id()] = first;
    due_.erase(due_.begin());
  }
  return false;
}

SequenceNumber RotatedTablets::FirstWaiting() const {
  SequenceNumber first = kMaxSequence;
  for (const auto& [id, tablet] : waiting_) {
    first = std::min(first, tablet->Version()->FirstUnflushed());
  }
  return first;
}

bool RotatedTablets::Erase(TabletMap* tablets, const Tablet& tablet) {
  const auto found = tablets->find(tablet.id());
  if (found == tablets->end() || found->second.get() != &tablet) return false;
  tablets->erase(found);
  return true;
}

void RotatedTablets::SetWaitingBytes(uint64_t bytes) {
  const bool none = waiting_.empty() && due_.empty();
  waiting_bytes_.store(none ? 0 : bytes, std::memory_order_relaxed);
}

}  // namespace bigtable
