#include "commit/memtable_rotation.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/status.h"

namespace bigtable {

// --- What is due ---

void MemtableRotation::RotateFull(Tablet* tablet) {
  for (size_t group = 0; group < tablet->writer()->groups(); ++group) {
    // The memtables that wait are flushed with it, so their bytes count.
    const uint64_t bytes = tablet->writer()->active(group).bytes() + WaitingBytes();
    if (bytes < environment_->memtable_size()) continue;
    RotateWithOthers({{tablet->shared_from_this(), group}}, ActiveMemtables(),
                     RotationReason::kFull);
  }
}

void MemtableRotation::RotateForLog() {
  const SequenceNumber oldest = log_->appending()->OldestNeeded();
  if (oldest == 0) return;
  const SequenceNumber visible = visible_->get();
  // The last one in the older half of the log.
  const SequenceNumber last = oldest + (visible - std::min(visible, oldest)) / 2;
  const std::vector<Active> all = ActiveMemtables();
  std::vector<Active> due;
  std::copy_if(all.begin(), all.end(), std::back_inserter(due), [&](const Active& active) {
    queue_->AssertInTurn();
    return active.tablet->writer()->active(active.group).first_sequence() <= last &&
           !active.tablet->HasImmutable(active.group);
  });
  SequenceNumber first_waiting;
  {
    MutexLock lock(&mutex_);
    first_waiting = rotated_.FirstWaiting();
  }
  if (!due.empty() || first_waiting <= last) RotateWithOthers(due, all, RotationReason::kLogLength);
}

absl::Status MemtableRotation::RotateLargest(const CallLimits& limits) {
  const auto rotate = [&] {
    queue_->AssertInTurn();
    const std::vector<Active> all = ActiveMemtables();
    std::vector<Active> due = all;
    const auto bytes = [this](const Active& active) {
      queue_->AssertInTurn();
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
  };
  return queue_->RunExclusive(rotate, limits);
}

// --- Requests ---

absl::Status MemtableRotation::RotateAll(Tablet* tablet, const CallLimits& limits) {
  const std::shared_ptr<Tablet> one = tablet->shared_from_this();
  return RotateAll(absl::MakeConstSpan(&one, 1), limits);
}

absl::Status MemtableRotation::RotateAll(absl::Span<const std::shared_ptr<Tablet>> tablets,
                                         const CallLimits& limits) {
  const auto rotate = [&] {
    queue_->AssertInTurn();
    MutexLock lock(&mutex_);
    for (const std::shared_ptr<Tablet>& tablet : tablets) Rotate(tablet);
  };
  BT_RETURN_IF_ERROR(queue_->RunExclusive(rotate, limits));
  wake_();
  return absl::OkStatus();
}

absl::Status MemtableRotation::RotateEverything(const CallLimits& limits) {
  const auto rotate = [&] {
    queue_->AssertInTurn();
    MutexLock lock(&mutex_);
    for (const std::shared_ptr<Tablet>& tablet : tablets_->All()) Rotate(tablet);
  };
  BT_RETURN_IF_ERROR(queue_->RunExclusive(rotate, limits));
  wake_();
  return absl::OkStatus();
}

// --- Rotating ---

std::vector<MemtableRotation::Active> MemtableRotation::ActiveMemtables() const {
  std::vector<Active> active;
  for (const std::shared_ptr<Tablet>& tablet : tablets_->All()) {
    for (size_t group = 0; group < tablet->writer()->groups(); ++group) {
      if (tablet->writer()->active(group).first_sequence() != 0) active.push_back({tablet, group});
    }
  }
  return active;
}

void MemtableRotation::RotateWithOthers(const std::vector<Active>& due,
                                        const std::vector<Active>& all, RotationReason reason) {
  constexpr size_t kMostFiles = 15;
  const bool with_others = FilesOf(all) <= FilesOf(due) + kMostFiles;
  {
    MutexLock lock(&mutex_);
    rotated_.EndWaiting(visible_->get());
    for (const Active& active : due) Rotate(active, reason);
    if (with_others) {
      for (const Active& active : all) Rotate(active, RotationReason::kTogether);
    }
  }
  wake_();
}

// Small memtables of a group of a table are flushed into one file; changes that are noted are not.
size_t MemtableRotation::FilesOf(const std::vector<Active>& memtables) const {
  std::set<std::pair<uint64_t, size_t>> shared;
  size_t own = 0;
  for (const auto& [tablet, group] : memtables) {
    const TableLayout& layout = *tablet->writer()->layout();
    const uint64_t bytes = tablet->writer()->active(group).bytes();
    if (layout.changes_since == 0 &&
        environment_->SharesFiles(layout.groups[group].options, bytes)) {
      shared.insert({tablet->table_id(), group});
    } else {
      ++own;
    }
  }
  return own + shared.size();
}

void MemtableRotation::Rotate(const Active& active, RotationReason reason) {
  if (active.tablet->writer()->active(active.group).first_sequence() == 0) return;
  if (active.tablet->flags().ended()) return;  // as in the other Rotate
  MarkLogged(*active.tablet);
  active.tablet->Rotate(active.group, visible_->get(), reason);
  rotated_.Add(active.tablet, visible_->get());
}

void MemtableRotation::Rotate(const std::shared_ptr<Tablet>& tablet) {
  // Another tablet may have its id by now, also in the list.
  if (tablet->flags().ended()) return;
  MarkLogged(*tablet);
  tablet->RotateAll(visible_->get());
  rotated_.Add(tablet, visible_->get());
}

void MemtableRotation::MarkLogged(const Tablet& tablet) {
  for (size_t group = 0; group < tablet.writer()->groups(); ++group) {
    if (tablet.writer()->active(group).is_unused()) continue;
    logged_.Record(tablet.table_id(), visible_->get());
    return;
  }
}

// --- Tablets that are added or removed ---

void MemtableRotation::Add(const std::shared_ptr<Tablet>& tablet) {
  for (const ImmutableMemtables& immutable : ImmutableMemtablesOf(tablet)) {
    rotated_.Add(tablet, immutable.memtables.front()->last_sequence());
  }
}

void MemtableRotation::Remove(const Tablet& tablet) { rotated_.Remove(tablet); }

void MemtableRotation::RemoveDeleted(const Tablet& tablet) {
  MarkLogged(tablet);
  logged_.RecordDeleted(tablet.table_id(), visible_->get());
  Remove(tablet);
}

Tablet::Halves MemtableRotation::Split(Tablet* tablet, std::string_view row) {
  MarkLogged(*tablet);
  const uint64_t bytes = tablet->writer()->bytes();
  Tablet::Halves halves = tablet->Split(row, visible_->get());
  rotated_.Replace(*tablet, halves, bytes);
  return halves;
}

// --- What the log has ---

bool MemtableRotation::HasLogged(uint64_t table_id) {
  MutexLock lock(&mutex_);
  return logged_.HasAnyOf(table_id);
}

void MemtableRotation::MarkErased(SequenceNumber through) {
  MutexLock lock(&mutex_);
  logged_.MarkErased(through);
}

// --- Flushing ---

bool MemtableRotation::HasImmutable() {
  MutexLock lock(&mutex_);
  return rotated_.HasDue();
}

SequenceNumber MemtableRotation::DueThrough() {
  MutexLock lock(&mutex_);
  return rotated_.due_through();
}

std::vector<ImmutableMemtables> MemtableRotation::MemtablesToFlush() {
  MutexLock lock(&mutex_);
  return rotated_.Due();
}

}  // namespace bigtable
