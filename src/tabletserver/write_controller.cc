#include "tabletserver/write_controller.h"

#include <algorithm>

#include "absl/time/clock.h"

#include "base/status.h"

namespace bigtable {
namespace {

absl::Status CheckLimits(const WaitLimits& limits) {
  if (limits.cancellation != nullptr && limits.cancellation->cancelled()) {
    return absl::CancelledError("the write was cancelled while it was held back");
  }
  if (limits.deadline != absl::InfiniteFuture() && absl::Now() >= limits.deadline) {
    return absl::DeadlineExceededError("the write ran into its deadline while it was held back");
  }
  return absl::OkStatus();
}

}  // namespace

double WriteController::MemoryPressure() const {
  const double soft = static_cast<double>(budget_->limit()) * 3 / 8;
  const double hard = static_cast<double>(budget_->limit()) / 2;
  return std::clamp((static_cast<double>(WriteMemory()) - soft) / (hard - soft), 0.0, 1.0);
}

double WriteController::RunPressure() const {
  const double runs = static_cast<double>(background_->MostRuns());
  return std::clamp((runs - kSlowRuns) / static_cast<double>(kMostRuns - kSlowRuns), 0.0, 1.0);
}

double WriteController::Rate() const {
  constexpr double kFastest = 400e6;
  constexpr double kSlowest = 1e6;
  const double room = 1 - std::max(MemoryPressure(), RunPressure());
  return std::max(kSlowest, kFastest * room * room);
}

StallReason WriteController::reason() const {
  const double memory = MemoryPressure();
  const double runs = RunPressure();
  if (memory == 0 && runs == 0) return StallReason::kNone;
  return memory >= runs ? StallReason::kMemory : StallReason::kSortedRuns;
}

absl::Duration WriteController::delay() const {
  if (reason() == StallReason::kNone) return absl::ZeroDuration();
  return absl::Seconds(1000 / Rate());
}

absl::Status WriteController::AdmitSlowly(uint64_t bytes, const WaitLimits& limits) {
  const absl::Time start = absl::Now();
  absl::Duration wait;
  {
    // Writers pay one after another; a wait of less than a millisecond is put off and added up.
    MutexLock lock(&mutex_);
    paid_until_ = std::max(paid_until_, start) + absl::Seconds(static_cast<double>(bytes) / Rate());
    wait = paid_until_ - start;
  }
  absl::Status status;
  while (wait >= absl::Milliseconds(1) && status.ok()) {
    const absl::Duration nap = std::min(wait, absl::Milliseconds(10));
    absl::SleepFor(nap);
    wait -= nap;
    status = CheckLimits(limits);
  }
  if (status.ok() && WriteMemory() >= budget_->limit() / 2) status = WaitForMemory(limits);
  total_delay_.fetch_add(absl::ToInt64Nanoseconds(absl::Now() - start));
  return status;
}

absl::Status WriteController::WaitForMemory(const WaitLimits& limits) {
  server_->FreezeLargest();
  // Once nothing is left to write out, readers hold the memory: waiting would not help.
  while (WriteMemory() >= budget_->limit() / 2 && background_->HasFlushes()) {
    BT_RETURN_IF_ERROR(server_->error());
    BT_RETURN_IF_ERROR(CheckLimits(limits));
    background_->WaitForProgress(absl::Milliseconds(5));
  }
  return absl::OkStatus();
}

}  // namespace bigtable
