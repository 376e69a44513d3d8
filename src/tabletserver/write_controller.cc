#include "tabletserver/write_controller.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

#include "base/status.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

double WriteController::MemoryPressure() const {
  const double soft = static_cast<double>(budget_->limit()) / 2;
  const double hard = static_cast<double>(MostWriteMemory());
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

void WriteController::NoteReason() {
  // Nobody writes to a server that has no log yet.
  if (events_ == nullptr || !server_->has_log()) return;
  MutexLock lock(&mutex_);
  const StallReason now = reason();
  if (now == told_) return;
  events_->Push(&EventListener::OnStallChanged, {.time = absl::Now(),
                                                 .server = server_->name(),
                                                 .before = std::exchange(told_, now),
                                                 .now = now,
                                                 .delay = delay()});
}

absl::Status WriteController::AdmitSlowly(uint64_t bytes, const CallLimits& limits) {
  const WaitTimer held_back;
  NoteReason();
  const absl::Time start = absl::Now();
  absl::Duration wait;
  {
    // Writers pay one after another; a wait of less than a millisecond is put off and added up.
    MutexLock lock(&mutex_);
    paid_until_ = std::max(paid_until_, start) + absl::Seconds(static_cast<double>(bytes) / Rate());
    wait = paid_until_ - start;
  }
  if (MemoryPressure() > 0) budget_->WriteOutLargest();
  absl::Status status;
  while (wait >= absl::Milliseconds(1) && status.ok()) {
    const absl::Duration nap = std::min(wait, absl::Milliseconds(10));
    absl::SleepFor(nap);
    wait -= nap;
    status = limits.Check("the write, which was held back,");
  }
  if (status.ok() && WriteMemory() >= MostWriteMemory()) status = WaitForMemory(limits);
  total_delay_.fetch_add(absl::ToInt64Nanoseconds(absl::Now() - start));
  if (RequestTrace* const trace = CurrentTrace()) {
    trace->held_back += absl::Nanoseconds(held_back.nanos());
  }
  return status;
}

absl::Status WriteController::WaitForMemory(const CallLimits& limits) {
  BT_RETURN_IF_ERROR(server_->error());
  // Once nothing is left to write out, readers hold the memory: waiting would not help.
  while (WriteMemory() >= MostWriteMemory() && budget_->WriteOutLargest()) {
    BT_RETURN_IF_ERROR(server_->error());
    BT_RETURN_IF_ERROR(background_->StuckFlush());
    BT_RETURN_IF_ERROR(limits.Check("the write, which was held back,"));
    background_->WaitForProgress(absl::Milliseconds(5));
  }
  return absl::OkStatus();
}

uint64_t WriteController::LargestMemtable() const {
  // Where readers keep most of the memory, small memtables are left to grow: to write them out
  // would free next to nothing.
  constexpr uint64_t kWorthwhilePart = 32;
  if (!server_->error().ok()) return 0;
  uint64_t largest = server_->WaitingBytes();
  uint64_t sum = largest;
  for (const std::shared_ptr<Tablet>& tablet : server_->Tablets()) {
    const Pin<TabletVersion> version = tablet->Version();
    for (const GroupVersion& group : version->groups()) {
      if (group.active->empty()) continue;
      largest = std::max(largest, group.active->bytes());
      sum += group.active->bytes();
    }
  }
  return sum >= WriteMemory() / kWorthwhilePart ? largest : 0;
}

}  // namespace bigtable
