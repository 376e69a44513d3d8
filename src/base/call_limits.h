// How long a call may take: its deadline, and the flags by which another thread ends it.
#ifndef BIGTABLE_BASE_CALL_LIMITS_H_
#define BIGTABLE_BASE_CALL_LIMITS_H_

#include <atomic>
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
  // Of a call that somebody makes for the caller: whether that one has given up.
  const std::atomic<bool>* given_up = nullptr;

  // OK, Cancelled, DeadlineExceeded, or Unavailable if it was given up; `what` is the call's
  // subject in the message. Costs a few comparisons where there is no limit.
  absl::Status Check(std::string_view what = "the call") const {
    if (cancellation != nullptr && cancellation->cancelled()) {
      return absl::CancelledError(Cat(what, " was cancelled"));
    }
    if (given_up != nullptr && given_up->load(std::memory_order_relaxed)) {
      return absl::UnavailableError(
          Cat("the master was replaced meanwhile; whether ", what, " was done is not known"));
    }
    if (deadline != absl::InfiniteFuture() && absl::Now() >= deadline) {
      return absl::DeadlineExceededError(Cat(what, " ran into its deadline"));
    }
    return absl::OkStatus();
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_CALL_LIMITS_H_
