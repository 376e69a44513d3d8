// The visible sequence number of a server: readers see all of its mutations up to this one.
//
// Any thread reads it. Only the leader of a group of writes sets it, or a thread that has its turn
// among the writes (GroupCommit::RunExclusive), so it has one writer at a time. It never decreases.
//
// A batch on several servers becomes visible on all of them at once. Its writer has a turn at each
// server. It calls Prepare for each, then sets the number of the last published turn, which all
// servers share, to the batch's, and then calls Complete for each. Between Prepare and Complete a
// reader decides by the shared number whether the batch is visible. So no reader waits, and a
// reader that has seen the batch on one server sees it on every other one.
#ifndef BIGTABLE_COMMIT_VISIBLE_SEQUENCE_H_
#define BIGTABLE_COMMIT_VISIBLE_SEQUENCE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/base/macros.h"

#include "base/sequence.h"
#include "base/thread_roles.h"

namespace bigtable {

class VisibleSequence {
 public:
  // The last turn of which all batches are visible.
  using PublishedTurn = std::atomic<uint64_t>;

  VisibleSequence() = default;
  VisibleSequence(const VisibleSequence&) = delete;
  VisibleSequence& operator=(const VisibleSequence&) = delete;

  SequenceNumber get() const {
    const SequenceNumber sequence = sequence_.load(std::memory_order_acquire);
    return sequence <= kMaxSequence ? sequence : Decide(sequence);
  }
  void Set(SequenceNumber sequence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    ABSL_ASSERT(sequence >= get() && "the visible sequence number never decreases");
    sequence_.store(sequence, std::memory_order_release);
  }
  // Does nothing if the present number is larger.
  void Advance(SequenceNumber sequence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    Set(std::max(get(), sequence));
  }

  // From here on the number is `sequence` if `published`, which outlives this, is at least `turn`.
  void Prepare(SequenceNumber sequence, const PublishedTurn* published, uint64_t turn)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    ABSL_ASSERT(sequence >= get() && "the visible sequence number never decreases");
    ABSL_ASSERT(published->load(std::memory_order_relaxed) < turn && "the turn is not over");
    // Each is a release: a reader that sees one of them sees that the last Complete is over.
    before_.store(get(), std::memory_order_release);
    turn_.store(turn, std::memory_order_release);
    published_.store(published, std::memory_order_release);
    sequence_.store(sequence | kPrepared, std::memory_order_release);
  }
  // After Prepare, and after `published` was set: the number is the prepared one.
  void Complete() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    ABSL_ASSERT((sequence_.load(std::memory_order_relaxed) & kPrepared) != 0 &&
                "a number was prepared");
    sequence_.store(sequence_.load(std::memory_order_relaxed) & ~kPrepared,
                    std::memory_order_release);
  }

 private:
  static constexpr uint64_t kPrepared = uint64_t{1} << 63;  // no sequence number has this bit

  [[gnu::cold]] SequenceNumber Decide(uint64_t prepared) const;

  std::atomic<uint64_t> sequence_{0};
  // What Prepare has set.
  std::atomic<SequenceNumber> before_{0};
  std::atomic<uint64_t> turn_{0};
  std::atomic<const PublishedTurn*> published_{nullptr};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_VISIBLE_SEQUENCE_H_
