// When it is reported that writers stall, and why: to the info log and to the listener.
//
// Writers that are delayed by microseconds do not stall, however often. So the time that writes
// wait is collected, and a fifth of the time that passes is subtracted again. A stall begins when
// kBegin is collected, which takes writes that wait for more than a fifth of the time. It ends when
// no write has waited for kEnd. Its reason is another when that has been so for kEnd.
//
// The first write that waits calls Note while it waits, and a thread calls it from time to time.
// Not thread-safe.
#ifndef BIGTABLE_ADMISSION_STALL_NOTICES_H_
#define BIGTABLE_ADMISSION_STALL_NOTICES_H_

#include <optional>

#include "absl/time/time.h"

#include "bigtable/statistics.h"

#include "base/steady_time.h"

namespace bigtable {

class StallNotices {
 public:
  static constexpr absl::Duration kBegin = absl::Milliseconds(20);
  static constexpr absl::Duration kEnd = absl::Milliseconds(500);

  // What is to be reported. `now` is kNone at the end of a stall, which has lasted so long.
  struct Change {
    StallReason before = StallReason::kNone;
    StallReason now = StallReason::kNone;
    absl::Duration lasted;
  };

  // The present reason for which a write would be delayed, and for how long writes have waited
  // since the last call.
  std::optional<Change> Record(StallReason reason, absl::Duration waited, SteadyTime now);

 private:
  std::optional<Change> Report(StallReason reason, SteadyTime now);

  StallReason reported_ = StallReason::kNone;
  SteadyTime begun_at_;   // the stall that is reported
  SteadyTime noted_at_;   // the last call
  SteadyTime waited_at_;  // the last call with a wait
  absl::Duration collected_;
  StallReason reason_ = StallReason::kMemory;  // the last one
  SteadyTime reason_since_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ADMISSION_STALL_NOTICES_H_
