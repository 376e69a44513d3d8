// The snapshots that are held: compactions preserve what they see. Thread-safe.
//
// A compaction reads the list and the visible sequence number in one step, and a snapshot takes its
// sequence number and enters the list in one step. So a snapshot that a compaction does not know is
// not older than the visible sequence number that the compaction has read.
//
// A snapshot also has the time at which it was taken, and is read as of that time: what has expired
// (MaxAge) since then is still seen. The time is read in the same step. So a compaction that has
// read the clock before it reads the list knows every snapshot with an earlier time, unless the
// clock was set back.
#ifndef BIGTABLE_TABLET_SNAPSHOT_LIST_H_
#define BIGTABLE_TABLET_SNAPSHOT_LIST_H_

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

#include "bigtable/clock.h"

#include "base/mutex.h"
#include "base/sequence.h"

namespace bigtable {

class SnapshotList {
 public:
  // A state of the database: what was written up to the number, and has not expired at the time,
  // which is in whole microseconds.
  struct Point {
    SequenceNumber sequence = 0;
    absl::Time time;
    friend std::weak_ordering operator<=>(const Point&, const Point&) = default;
  };

  // Both are there as long as snapshots are taken.
  SnapshotList(const SequenceSource* sequences, Clock* clock)
      : sequences_(sequences), clock_(clock) {}

  // A snapshot of all mutations that have a sequence number so far. Before it is read, the caller
  // waits until all of them are visible.
  Point Take() {
    MutexLock lock(&mutex_);
    return Hold(sequences_->last());
  }
  // The same with a sequence number of its own, which no mutation has.
  Point TakeOwn(SequenceSource* sequences) {
    MutexLock lock(&mutex_);
    return Hold(sequences->Take(1));
  }
  // Of the held snapshots, those of users (Database::TakeSnapshot), which compaction filters
  // respect (bigtable/compaction_filter.h). A user's snapshot calls AddUser before it takes its
  // number.
  void AddUser() { users_.fetch_add(1, std::memory_order_seq_cst); }
  void RemoveUser() {
    [[maybe_unused]] const int64_t before = users_.fetch_sub(1, std::memory_order_seq_cst);
    ABSL_ASSERT(before > 0 && "it was added");
  }
  bool has_users() const { return users_.load(std::memory_order_seq_cst) != 0; }
  void Release(const Point& point) {
    MutexLock lock(&mutex_);
    const auto held = held_.find(point);
    ABSL_ASSERT(held != held_.end() && "it is held until it is released");
    held_.erase(held);
  }

  // The numbers of the held snapshots, ascending, each once; `*present` is set to visible().
  template <typename Visible>
  std::vector<SequenceNumber> List(Visible visible, SequenceNumber* present) const {
    MutexLock lock(&mutex_);
    *present = visible();
    std::vector<SequenceNumber> list;
    for (const Point& point : held_) {
      if (list.empty() || list.back() != point.sequence) list.push_back(point.sequence);
    }
    return list;
  }
  // The smallest of these numbers; `none` if none is held.
  SequenceNumber OldestSequence(SequenceNumber none) const {
    MutexLock lock(&mutex_);
    return held_.empty() ? none : held_.begin()->sequence;
  }
  // The earliest time as of which something is read, now or later: `now`, or that of a snapshot.
  // `now` was read from the clock before. Cost: a look at each snapshot.
  absl::Time OldestTime(absl::Time now) const {
    MutexLock lock(&mutex_);
    for (const Point& point : held_) now = std::min(now, point.time);
    return now;
  }

 private:
  Point Hold(SequenceNumber sequence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const Point point{sequence, absl::FromUnixMicros(absl::ToUnixMicros(clock_->Now()))};
    held_.insert(point);
    return point;
  }

  const SequenceSource* const sequences_;
  Clock* const clock_;
  mutable Mutex mutex_;
  std::multiset<Point> held_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int64_t> users_{0};
};

// Holds a snapshot during its lifetime.
class SnapshotHold {
 public:
  // `list` outlives this.
  explicit SnapshotHold(SnapshotList* list) : list_(list), point_(list->Take()) {}
  ~SnapshotHold() { list_->Release(point_); }
  SnapshotHold(const SnapshotHold&) = delete;
  SnapshotHold& operator=(const SnapshotHold&) = delete;

  SequenceNumber sequence() const { return point_.sequence; }

 private:
  SnapshotList* const list_;
  const SnapshotList::Point point_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_SNAPSHOT_LIST_H_
