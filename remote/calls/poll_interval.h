// How often a thread that waits looks whether its call was cancelled, which nothing notifies it of.
#ifndef BIGTABLE_REMOTE_CALLS_POLL_INTERVAL_H_
#define BIGTABLE_REMOTE_CALLS_POLL_INTERVAL_H_

#include "absl/time/time.h"

namespace bigtable::remote {

inline constexpr absl::Duration kPollInterval = absl::Milliseconds(10);

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_CALLS_POLL_INTERVAL_H_
