// The moments that somebody still reads: compactions keep what they see. Thread-safe.
//
// A compaction takes the list and the present in one step, and a snapshot takes its number and its
// place in the list in one step: so a snapshot that a compaction does not know of is not earlier
// than the compaction's present.
#ifndef BIGTABLE_TABLET_SNAPSHOT_LIST_H_
#define BIGTABLE_TABLET_SNAPSHOT_LIST_H_

#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "base/sequence.h"

namespace bigtable {

class SnapshotList {
 public:
  explicit SnapshotList(const SequenceSource* sequences) : sequences_(sequences) {}

  // A snapshot of everything that was given a number so far. What has a number but is not visible
  // yet must be waited for before the snapshot is read.
  SequenceNumber Take() {
    MutexLock lock(&mutex_);
    const SequenceNumber sequence = sequences_->last();
    held_.insert(sequence);
    return sequence;
  }
  void Release(SequenceNumber sequence) {
    MutexLock lock(&mutex_);
    held_.erase(held_.find(sequence));
  }

  // Ascending, each once; and the present, which `visible` tells.
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
};

// A snapshot for as long as this lives.
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
