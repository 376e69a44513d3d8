#include "commit/serving_state.h"

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace bigtable {

bool ServingState::AwaitRenewal() const {
  while (!serving()) {
    if (ended_) return false;
    RequestRenewal();
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

}  // namespace bigtable
