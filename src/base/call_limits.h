// How long a call may take: its deadline, and the flag by which another thread ends it.
#ifndef BIGTABLE_BASE_CALL_LIMITS_H_
#define BIGTABLE_BASE_CALL_LIMITS_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/options.h"

#include "base/strings.h"

namespace bigtable {

struct CallLimits {
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;

  // OK, Cancelled or DeadlineExceeded; `what` is the call's subject in the message. Costs a
  // comparison where there is no limit.
  absl::Status Check(std::string_view what = "the call") const {
    if (cancellation != nullptr && cancellation->cancelled()) {
      return absl::CancelledError(Cat(what, " was cancelled"));
    }
    if (deadline != absl::InfiniteFuture() && absl::Now() >= deadline) {
      return absl::DeadlineExceededError(Cat(what, " ran into its deadline"));
    }
    return absl::OkStatus();
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_CALL_LIMITS_H_
