#include "commitlog/call_times.h"

#include <chrono>

namespace bigtable {

absl::Status CallTimes::Time(absl::FunctionRef<absl::Status()> call, absl::Duration* took) {
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = call();
  const absl::Duration duration = absl::FromChrono(std::chrono::steady_clock::now() - start);
  if (duration >= least_) stalls_.fetch_add(1, std::memory_order_relaxed);
  *took += duration;
  return status;
}

void CallTimes::AddSync(absl::Duration took) {
  const int64_t usual = usual_sync_.load(std::memory_order_relaxed);
  const int64_t counted = absl::ToInt64Nanoseconds(std::min(took, StallTimeout()));
  usual_sync_.store(usual + (counted - usual) / kRemembered, std::memory_order_relaxed);
}

}  // namespace bigtable
