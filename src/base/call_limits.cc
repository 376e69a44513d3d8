#include "base/call_limits.h"

#include "base/strings.h"

namespace bigtable {

absl::Status CallLimits::Error(std::string_view what) const {
  if (cancellation != nullptr && cancellation->cancelled()) {
    return absl::CancelledError(Cat(what, " was cancelled"));
  }
  if (given_up != nullptr && given_up->load(std::memory_order_relaxed)) {
    return absl::UnavailableError(
        Cat("the master was replaced during the call; whether ", what, " was done is not known"));
  }
  return absl::DeadlineExceededError(Cat(what, " ran into its deadline"));
}

}  // namespace bigtable
