// How long a call may take: its deadline, and the flags by which another thread ends it.
#ifndef BIGTABLE_BASE_CALL_LIMITS_H_
#define BIGTABLE_BASE_CALL_LIMITS_H_

#include <algorithm>
#include <atomic>
#include <compare>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/call_options.h"

#include "base/steady_time.h"
#include "base/strings.h"

namespace bigtable {

// When a call ends at the latest. Callers say it by the wall clock. It is made of that once, when
// the call begins, and is a moment of the steady clock from then on: whoever sets the wall clock
// neither ends a call that has begun nor has it wait any longer.
class Deadline {
 public:
  constexpr Deadline() = default;  // never
  // Implicit: so it is made where a caller's options become limits.
  Deadline(absl::Time wall)  // NOLINT(google-explicit-constructor)
      : at_(wall == absl::InfiniteFuture() ? SteadyTime::InfiniteFuture()
                                           : SteadyTime::Now() + (wall - absl::Now())) {}
  // As long from now.
  static Deadline In(absl::Duration time) {
    Deadline deadline;
    if (time != absl::InfiniteDuration()) deadline.at_ = SteadyTime::Now() + time;
    return deadline;
  }

  bool is_never() const { return at_ == SteadyTime::InfiniteFuture(); }
  bool has_passed() const { return !is_never() && SteadyTime::Now() >= at_; }
  // Not more than zero if it has passed; infinite: never.
  absl::Duration left() const {
    return is_never() ? absl::InfiniteDuration() : at_ - SteadyTime::Now();
  }

  // The earlier is the smaller.
  friend constexpr auto operator<=>(const Deadline&, const Deadline&) = default;

 private:
  SteadyTime at_ = SteadyTime::InfiniteFuture();
};

struct CallLimits {
  Deadline deadline;
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
    if (deadline.has_passed()) {
      return absl::DeadlineExceededError(Cat(what, " ran into its deadline"));
    }
    return absl::OkStatus();
  }

  // How long whoever checks these limits may sleep between two looks at them. That a call was
  // cancelled, or given up, is not announced, so it is looked for.
  absl::Duration MostSleep() const {
    const bool may_end = cancellation != nullptr || given_up != nullptr;
    return std::min(deadline.left(), may_end ? absl::Milliseconds(20) : absl::InfiniteDuration());
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_CALL_LIMITS_H_
