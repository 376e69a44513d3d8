// The pauses between the tries of a transaction: from about the time of a transaction up to that of
// some dozens; by chance, so that those that were in conflict do not meet again.
#ifndef BIGTABLE_TRANSACTION_CONFLICT_PAUSE_H_
#define BIGTABLE_TRANSACTION_CONFLICT_PAUSE_H_

#include <algorithm>

#include "absl/random/random.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace bigtable {

// One thread at a time.
class ConflictPause {
 public:
  void Sleep() {
    thread_local absl::InsecureBitGen random;
    absl::SleepFor(absl::Uniform(random, 0.0, 1.0) * longest_);
    longest_ = std::min(2 * longest_, absl::Milliseconds(5));
  }

 private:
  absl::Duration longest_ = absl::Microseconds(20);
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_CONFLICT_PAUSE_H_
