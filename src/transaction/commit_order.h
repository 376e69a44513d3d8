// Calls MutationObserver::After in the order of the commits, one call at a time.
//
// A commit takes a place before it begins, with the largest sequence number that was assigned by
// then: its own number will be larger. Once it has ended, its calls may be made as soon as no
// commit is under way that began with a smaller number: only such a commit could still get a
// smaller number than it. Its thread waits for that, and makes the calls of whichever commit is the
// next. So each thread returns after its own calls, and none makes calls for others longer than it
// waits for its own.
//
// A commit is under way until its write is acknowledged, also while it waits for a tablet that
// moves, for throttled writes, or for a stalled call; the commits that have begun later wait with
// it. What observers do before a commit is not waited for. If a thread's limits end while it waits
// (its write is committed and visible by then), it returns and leaves its calls to the others: the
// thread of each commit that ends also makes the calls that were left and can be made then. There
// is such a thread: the one that was waited for. What was left is kept in memory until then. If
// that is more than a bound, further commits do not begin, and wait within their limits.
//
// Thread-safe.
#ifndef BIGTABLE_TRANSACTION_COMMIT_ORDER_H_
#define BIGTABLE_TRANSACTION_COMMIT_ORDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "bigtable/mutation_observer.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "base/sequence.h"

namespace bigtable {

class CommitOrder {
 public:
  // A committed mutation, and the observers that are called for it.
  struct Call {
    std::vector<MutationObserver*> observers;
    std::unique_ptr<const ObservedMutation> mutation;
  };

  // `most_left`: the bound, in bytes. About a memtable.
  explicit CommitOrder(uint64_t most_left = 64 << 20) : most_left_(most_left) {}
  CommitOrder(const CommitOrder&) = delete;
  CommitOrder& operator=(const CommitOrder&) = delete;

  // Whether this thread is inside a call of After.
  static bool IsCalling() { return is_calling_; }

  // Runs `commit`, which sets the sequence number of the commit. If it succeeds, returns once the
  // calls have been made, or the limits have ended; OK in both cases. If too much was left by
  // others, and the limits end before that changes, their error, and `commit` is not run. `last`:
  // the last number that was assigned at some time before this call. `report` is called with what
  // an observer throws, which changes neither the commit nor the other calls.
  absl::Status Run(SequenceNumber last, std::vector<Call> calls, const CallLimits& limits,
                   absl::FunctionRef<absl::Status(SequenceNumber*)> commit,
                   absl::FunctionRef<void(const absl::Status&)> report);

 private:
  struct Committed {
    std::vector<Call> calls;
    SequenceNumber sequence = 0;
    bool is_called = false;
    bool is_left = false;  // its thread does not wait for its calls
    uint64_t bytes = 0;    // of the calls
  };

  static uint64_t BytesOf(const std::vector<Call>& calls);

  // The next commit whose calls may be made; null if another thread makes calls, or if an earlier
  // commit is under way.
  std::shared_ptr<Committed> Next() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes the calls of a commit. Releases the lock meanwhile.
  void MakeCalls(Committed* committed, absl::FunctionRef<void(const absl::Status&)> report)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes the calls that were left to others, as far as they are the next.
  void MakeLeftCalls(absl::FunctionRef<void(const absl::Status&)> report)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static thread_local bool is_calling_;

  const uint64_t most_left_;
  Mutex mutex_;
  CondVar changed_;
  std::multiset<SequenceNumber> begun_ ABSL_GUARDED_BY(mutex_);  // of commits under way
  std::map<SequenceNumber, std::shared_ptr<Committed>> committed_ ABSL_GUARDED_BY(mutex_);
  bool has_caller_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t left_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of those in committed_ that were left
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_COMMIT_ORDER_H_
