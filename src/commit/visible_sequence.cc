#include "commit/visible_sequence.h"

namespace bigtable {

// The three fields belong to `prepared` if the number is still the same after they were read.
SequenceNumber VisibleSequence::Decide(uint64_t prepared) const {
  while (prepared > kMaxSequence) {
    const SequenceNumber before = before_.load(std::memory_order_acquire);
    const uint64_t turn = turn_.load(std::memory_order_acquire);
    const PublishedTurn* const published = published_.load(std::memory_order_acquire);
    const bool is_published = published->load(std::memory_order_acquire) >= turn;
    const uint64_t now = sequence_.load(std::memory_order_acquire);
    if (now == prepared) return is_published ? prepared & ~kPrepared : before;
    prepared = now;
  }
  return prepared;
}

}  // namespace bigtable
