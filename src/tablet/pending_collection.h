// A garbage collection of a tablet that has a sequence number, and that its state of changes
// (changes/change_state.h) does not have yet.
//
// A compaction commits beside writes, so changes with larger numbers may be seen before METADATA
// has taken the collection. A reader of changes must not pass its number meanwhile:
// * The compaction calls Begin, takes the number, commits, publishes the version of the tablet that
//   has the collection, and calls End.
// * The reader takes the number up to which it reads, finds that nothing is pending, and then pins
//   a version. If the collection's number is not larger than the reader's, it was taken before, and
//   so Begin was called before. Nothing is pending any more, so the version that was published has
//   the collection.
//
// Writes do not wait for any of this. A reader waits for as long as a commit to METADATA takes.
#ifndef BIGTABLE_TABLET_PENDING_COLLECTION_H_
#define BIGTABLE_TABLET_PENDING_COLLECTION_H_

#include <atomic>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"

#include "base/mutex.h"

namespace bigtable {

// Thread-safe.
class PendingCollection {
 public:
  PendingCollection() = default;
  PendingCollection(const PendingCollection&) = delete;
  PendingCollection& operator=(const PendingCollection&) = delete;

  // One compaction at a time: the others wait, because each changes the state that the one before
  // has published.
  void Begin() ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex_) {
    mutex_.Lock();
    is_pending_.store(true);
  }
  // `is_in_doubt`: METADATA may or may not have taken it. Readers wait until Settle.
  void End(bool is_in_doubt) ABSL_UNLOCK_FUNCTION(mutex_) {
    if (is_in_doubt) is_in_doubt_.store(true);
    is_pending_.store(false);
    mutex_.Unlock();
  }
  // Database::Resume: METADATA has not taken what was in doubt, and will not.
  void Settle() { is_in_doubt_.store(false); }

  bool any() const { return is_pending_.load() || is_in_doubt_.load(); }

 private:
  Mutex mutex_;
  std::atomic<bool> is_pending_{false};
  std::atomic<bool> is_in_doubt_{false};
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_PENDING_COLLECTION_H_
