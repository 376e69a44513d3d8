// The snapshots that are held: compactions preserve what they see. Thread-safe.
//
// A compaction reads the list and the visible sequence number in one step, and a snapshot takes its
// sequence number and enters the list in one step. So a snapshot that a compaction does not know is
// not older than the visible sequence number that the compaction has read.
#ifndef BIGTABLE_TABLET_SNAPSHOT_LIST_H_
#define BIGTABLE_TABLET_SNAPSHOT_LIST_H_

#include <atomic>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "base/sequence.h"

namespace bigtable {

class SnapshotList {
 public:
  explicit SnapshotList(const SequenceSource* sequences) : sequences_(sequences) {}

  // A snapshot of all mutations that have a sequence number so far. Before it is read, the caller
  // waits until all of them are visible.
  SequenceNumber Take() {
    MutexLock lock(&mutex_);
    const SequenceNumber sequence = sequences_->last();
    held_.insert(sequence);
    return sequence;
  }
  // The same with a sequence number of its own, which no mutation has.
  SequenceNumber TakeOwn(SequenceSource* sequences) {
    MutexLock lock(&mutex_);
    const SequenceNumber sequence = sequences->Take(1);
    held_.insert(sequence);
    return sequence;
  }
  // Of the held snapshots, those of users (Database::TakeSnapshot), which compaction filters
  // respect (bigtable/compaction_filter.h). A user's snapshot calls AddUser before it takes its
  // number.
  void AddUser() { users_.fetch_add(1, std::memory_order_seq_cst); }
  void RemoveUser() { users_.fetch_sub(1, std::memory_order_seq_cst); }
  bool has_users() const { return users_.load(std::memory_order_seq_cst) != 0; }
  void Release(SequenceNumber sequence) {
    MutexLock lock(&mutex_);
    held_.erase(held_.find(sequence));
  }

  // The held snapshots, ascending, each once; `*present` is set to visible().
  template <typename Visible>
  std::vector<SequenceNumber> List(Visible visible, SequenceNumber* present) const {
    MutexLock lock(&mutex_);
    *present = visible();
    std::vector<SequenceNumber> list;
    for (const SequenceNumber sequence : held_) {
      if (list.empty() || list.back() != sequence) list.push_back(sequence);
    }
    return list;
  }

 private:
  const SequenceSource* const sequences_;
  mutable Mutex mutex_;
  std::multiset<SequenceNumber> held_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int64_t> users_{0};
};

// Holds a snapshot during its lifetime.
class SnapshotHold {
 public:
  // `list` outlives this.
  explicit SnapshotHold(SnapshotList* list) : list_(list), sequence_(list->Take()) {}
  ~SnapshotHold() { list_->Release(sequence_); }
  SnapshotHold(const SnapshotHold&) = delete;
  SnapshotHold& operator=(const SnapshotHold&) = delete;

  SequenceNumber sequence() const { return sequence_; }

 private:
  SnapshotList* const list_;
  const SequenceNumber sequence_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_SNAPSHOT_LIST_H_
