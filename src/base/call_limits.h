// Limits of a call: its deadline, and the flags by which another thread cancels it.
#ifndef BIGTABLE_BASE_CALL_LIMITS_H_
#define BIGTABLE_BASE_CALL_LIMITS_H_

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/call_options.h"

#include "base/steady_time.h"

namespace bigtable {

// The latest time at which a call ends. Callers specify it by the wall clock. It is converted to
// the steady clock once, when the call begins, so setting the wall clock neither ends a running
// call nor makes it wait longer.
class Deadline {
 public:
  constexpr Deadline() = default;  // never
  // Implicit, so that a caller's options convert to limits.
  Deadline(absl::Time wall)  // NOLINT(google-explicit-constructor)
      : at_(wall == absl::InfiniteFuture() ? SteadyTime::InfiniteFuture()
                                           : SteadyTime::Now() + (wall - absl::Now())) {}
  // The deadline this much time from now.
  static Deadline In(absl::Duration time) {
    Deadline deadline;
    if (time != absl::InfiniteDuration()) deadline.at_ = SteadyTime::Now() + time;
    return deadline;
  }

  bool is_never() const { return at_ == SteadyTime::InfiniteFuture(); }
  bool has_passed() const { return !is_never() && SteadyTime::Now() >= at_; }
  // Zero or negative if it has passed; infinite if there is no deadline.
  absl::Duration left() const {
    return is_never() ? absl::InfiniteDuration() : at_ - SteadyTime::Now();
  }

  // The same time by the wall clock as it is set now, for a part of the call that takes options:
  // they are converted back at once.
  absl::Time wall() const { return absl::Now() + left(); }

  // The earlier deadline is the smaller one.
  friend constexpr auto operator<=>(const Deadline&, const Deadline&) = default;

 private:
  SteadyTime at_ = SteadyTime::InfiniteFuture();
};

struct CallLimits {
  Deadline deadline;
  const Cancellation* cancellation = nullptr;
  // For a call that another thread makes on behalf of the caller: whether the caller has given up.
  const std::atomic<bool>* given_up = nullptr;

  // OK, Cancelled, DeadlineExceeded, or Unavailable if it was given up; `what` names the call in
  // the message. Costs a few comparisons if there is no limit.
  absl::Status Check(std::string_view what = "the call") const {
    const bool has_ended = (cancellation != nullptr && cancellation->cancelled()) ||
                           (given_up != nullptr && given_up->load(std::memory_order_relaxed)) ||
                           deadline.has_passed();
    if (has_ended) [[unlikely]]
      return Error(what);
    return absl::OkStatus();
  }

  // How long a thread that checks these limits may sleep between two checks. Cancellation and
  // giving up are not signalled, so they must be polled.
  absl::Duration MostSleep() const {
    const bool may_end = cancellation != nullptr || given_up != nullptr;
    return std::min(deadline.left(), may_end ? absl::Milliseconds(20) : absl::InfiniteDuration());
  }

 private:
  // The error of the limit that has ended; of the first one if several have.
  absl::Status Error(std::string_view what) const;
};

// When a computation within a call looks at the call's limits: after so much work, counted in
// entries and in bytes, because an entry may have one byte or a hundred million. One thread at a
// time.
class CallPace {
 public:
  // Both outlive it. `*failure` gets the error when a limit has ended the call, unless it has one.
  CallPace(const CallLimits* limits, absl::Status* failure) : limits_(limits), failure_(failure) {}

  // An entry of so many bytes is about to be looked at. False: a limit has ended the call, and
  // every further call returns false too.
  bool Count(size_t bytes) {
    work_ += kEntry + bytes;
    return work_ < kMostWork || CheckLimits();
  }

 private:
  // What an entry costs besides its bytes, in bytes: 1,024 empty ones until the next look.
  static constexpr size_t kEntry = 64;
  static constexpr size_t kMostWork = 64 << 10;

  [[gnu::noinline]] bool CheckLimits() {
    absl::Status status = limits_->Check("the read");
    if (!status.ok()) {
      work_ = kMostWork;  // for the next call
      if (failure_->ok()) *failure_ = std::move(status);
      return false;
    }
    work_ = 0;
    return true;
  }

  const CallLimits* const limits_;
  absl::Status* const failure_;
  size_t work_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_CALL_LIMITS_H_
