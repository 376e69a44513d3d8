// The visible sequence number of a server: readers see all of its mutations up to this one.
//
// Any thread reads it. Only the leader of a group of writes sets it, or a thread that has its turn
// among the writes (GroupCommit::RunExclusive), so it has one writer at a time. It never decreases.
#ifndef BIGTABLE_TABLETSERVER_VISIBLE_SEQUENCE_H_
#define BIGTABLE_TABLETSERVER_VISIBLE_SEQUENCE_H_

#include <algorithm>
#include <atomic>

#include "absl/base/macros.h"

#include "base/sequence.h"

namespace bigtable {

class VisibleSequence {
 public:
  VisibleSequence() = default;
  VisibleSequence(const VisibleSequence&) = delete;
  VisibleSequence& operator=(const VisibleSequence&) = delete;

  SequenceNumber get() const { return sequence_.load(std::memory_order_acquire); }
  void Set(SequenceNumber sequence) {
    ABSL_ASSERT(sequence >= get() && "the visible sequence number never decreases");
    sequence_.store(sequence, std::memory_order_release);
  }
  // Does nothing if the present number is larger.
  void Advance(SequenceNumber sequence) { Set(std::max(get(), sequence)); }

 private:
  std::atomic<SequenceNumber> sequence_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_VISIBLE_SEQUENCE_H_
