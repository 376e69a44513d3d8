// The options of a read, besides rows. Plain value.
#ifndef BIGTABLE_READ_READ_SPEC_H_
#define BIGTABLE_READ_READ_SPEC_H_

#include <cstdint>

#include "absl/time/time.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "blocks/read_settings.h"
#include "read/filter_node.h"

namespace bigtable {

struct ReadSpec {
  SequenceNumber sequence = kMaxSequence;  // the read sequence
  absl::Time now;                          // for MaxAge
  const FilterNode* filter = nullptr;      // outlives the read; null passes everything
  ReadSettings settings;
  uint64_t most_rows = 0;  // that are read, as far as it is known; 0: not known
  bool reverse = false;    // for ranges: from the last row to the first
  CallLimits limits;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_READ_SPEC_H_
