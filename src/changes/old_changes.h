// Which changes of a table are not kept any more.
#ifndef BIGTABLE_CHANGES_OLD_CHANGES_H_
#define BIGTABLE_CHANGES_OLD_CHANGES_H_

#include <cstdint>
#include <limits>

#include "base/sequence.h"

namespace bigtable {

// Plain value.
struct OldChanges {
  // TableLayout::changes_since of the stream: if it is another one by now, nothing is old.
  SequenceNumber of_stream = 0;
  // Changes up to this number are dropped, since there is no room for them.
  SequenceNumber through = 0;
  // And those that were committed before this time, in microseconds, if every registered reader has
  // them.
  int64_t before = std::numeric_limits<int64_t>::min();
  SequenceNumber read_through = kMaxSequence;

  // All that a stream has left that was closed.
  static OldChanges All() { return {.through = kMaxSequence}; }

  // Of a file with these as its largest number and its last time.
  bool Has(SequenceNumber sequence, int64_t micros) const {
    return sequence <= through || (micros < before && sequence <= read_through);
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_CHANGES_OLD_CHANGES_H_
