// When a computation within a call looks at the call's limits: after so much work, counted in
// entries and in bytes, because an entry may have one byte or a hundred million. One thread at a
// time.
#ifndef BIGTABLE_BASE_CALL_PACE_H_
#define BIGTABLE_BASE_CALL_PACE_H_

#include <cstddef>
#include <utility>

#include "absl/status/status.h"

#include "base/call_limits.h"

namespace bigtable {

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

#endif  // BIGTABLE_BASE_CALL_PACE_H_
