#include "tabletserver/frozen_tablets.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bigtable {
namespace {

bool HasFrozen(const Tablet& tablet) {
  const Pin<TabletVersion> version = tablet.Version();
  return std::any_of(version->groups().begin(), version->groups().end(),
                     [](const GroupVersion& group) { return !group.frozen.empty(); });
}

bool IsGone(const Tablet& tablet) { return tablet.removed() || tablet.moved(); }

}  // namespace

void FrozenTablets::Add(const std::shared_ptr<Tablet>& tablet, SequenceNumber last) {
  due_[tablet->id()] = tablet;
  EndWaiting(last);
}

void FrozenTablets::Replace(const Tablet& tablet, const Tablet::Halves& halves, uint64_t bytes) {
  const bool is_due = Erase(&due_, tablet);
  Erase(&waiting_, tablet);
  for (const std::shared_ptr<Tablet>& half : {halves.left, halves.right}) {
    if (HasFrozen(*half)) (is_due ? due_ : waiting_)[half->id()] = half;
  }
  SetWaitingBytes(waiting_bytes() + bytes);
}

void FrozenTablets::Remove(const Tablet& tablet) {
  Erase(&due_, tablet);
  Erase(&waiting_, tablet);
  SetWaitingBytes(waiting_bytes());
}

void FrozenTablets::EndWaiting(SequenceNumber last) {
  due_through_ = std::max(due_through_, last);
  for (auto& [id, tablet] : waiting_) due_[id] = std::move(tablet);
  waiting_.clear();
  SetWaitingBytes(0);
}

std::vector<FrozenMemtables> FrozenTablets::DueOf(const std::shared_ptr<Tablet>& tablet) const {
  std::vector<FrozenMemtables> due = FrozenOf(tablet);
  for (FrozenMemtables& frozen : due) {
    std::erase_if(frozen.memtables, [&](const Ref<Memtable>& memtable) {
      return memtable->last_sequence() > due_through_;
    });
  }
  std::erase_if(due, [](const FrozenMemtables& frozen) { return frozen.memtables.empty(); });
  return due;
}

std::vector<FrozenMemtables> FrozenTablets::Due() {
  std::vector<FrozenMemtables> all;
  for (auto entry = due_.begin(); entry != due_.end();) {
    const std::shared_ptr<Tablet>& tablet = entry->second;
    std::vector<FrozenMemtables> due;
    if (!IsGone(*tablet)) due = DueOf(tablet);
    if (due.empty()) {
      if (!IsGone(*tablet) && HasFrozen(*tablet)) waiting_[entry->first] = tablet;
      entry = due_.erase(entry);
      continue;
    }
    // What a stopped one has whoever has stopped it writes out, or it is found in the log.
    if (!tablet->stopped()) std::move(due.begin(), due.end(), std::back_inserter(all));
    ++entry;
  }
  return all;
}

bool FrozenTablets::HasDue() {
  while (!due_.empty()) {
    const std::shared_ptr<Tablet> first = due_.begin()->second;
    if (!IsGone(*first) && !DueOf(first).empty()) return true;
    if (!IsGone(*first) && HasFrozen(*first)) waiting_[first->id()] = first;
    due_.erase(due_.begin());
  }
  return false;
}

SequenceNumber FrozenTablets::FirstWaiting() const {
  SequenceNumber first = kMaxSequence;
  for (const auto& [id, tablet] : waiting_) {
    first = std::min(first, tablet->Version()->FirstUnflushed());
  }
  return first;
}

bool FrozenTablets::Erase(TabletMap* tablets, const Tablet& tablet) {
  const auto found = tablets->find(tablet.id());
  if (found == tablets->end() || found->second.get() != &tablet) return false;
  tablets->erase(found);
  return true;
}

void FrozenTablets::SetWaitingBytes(uint64_t bytes) {
  const bool none = waiting_.empty() && due_.empty();
  waiting_bytes_.store(none ? 0 : bytes, std::memory_order_relaxed);
}

}  // namespace bigtable
