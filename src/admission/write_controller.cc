#include "admission/write_controller.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "cache/budget_access.h"
#include "monitoring/thread_calls.h"

namespace bigtable {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
// The shortest wait that is slept; shorter waits are postponed and add up.
constexpr absl::Duration kShortestSleep = absl::Milliseconds(1);
// A reader that frees memory and a server that fails notify no writer.
constexpr absl::Duration kPollInterval = absl::Milliseconds(10);
// The most bytes that one write is counted with.
constexpr uint64_t kMostBytes = uint64_t{1} << 40;

}  // namespace

// --- The admitted rate ---

double WriteController::MemoryPressure() const {
  const double soft = static_cast<double>(SoftLimit());
  const double hard = static_cast<double>(HardLimit());
  return std::clamp((static_cast<double>(TakenMemory()) - soft) / (hard - soft), 0.0, 1.0);
}

double WriteController::RunPressure() const {
  const double runs = static_cast<double>(background_->meter().MostRuns());
  return std::clamp((runs - kSlowRuns) / static_cast<double>(kMostRuns - kSlowRuns), 0.0, 1.0);
}

double WriteController::Rate(double memory_pressure, const Speeds& speeds) const {
  const double run_pressure = RunPressure();
  const auto slowed = [](double speed, double pressure) {
    return 2 * speed * (1 - pressure) * (1 - pressure);
  };
  double rate = kNoLimit;
  if (memory_pressure > 0) rate = slowed(speeds.flushes, memory_pressure);
  if (run_pressure > 0) {
    rate = std::min(rate, slowed(speeds.compactions, run_pressure));
  }
  return std::max(rate, speeds.flushes * kLeastPart);
}

double WriteController::RateNow(SteadyTime now) {
  if (now >= speeds_until_) {
    speeds_ = ReadSpeeds();
    speeds_until_ = now + kShortestSleep;
  }
  return Rate(may_flush_ ? MemoryPressure() : 0, speeds_);
}

absl::Duration WriteController::WorkOff(double rate, SteadyTime now) {
  if (rate == kNoLimit || debt_ == 0) {
    debt_ = 0;
  } else {
    // Another thread may have read the clock later.
    const double nanos = static_cast<double>(std::max(now, debt_at_).nanos() - debt_at_.nanos());
    debt_ = std::max(debt_ - rate * nanos * 1e-9, 0.0);
  }
  debt_at_ = std::max(debt_at_, now);
  return TimeOfDebt(rate);
}

absl::Duration WriteController::TimeOfDebt(double rate) const {
  constexpr double kShortest = 1e-3;  // kShortestSleep, in seconds
  return debt_ < rate * kShortest ? absl::ZeroDuration() : absl::Seconds(debt_ / rate);
}

bool WriteController::HasRoom(uint64_t bytes) const {
  if (TakenMemory() + bytes <= HardLimit()) return true;
  return !may_flush_ && (bytes < kLarge || arriving_ == 0);
}

// --- Statistics and the listener ---

StallReason WriteController::reason() const {
  const double memory = MemoryPressure();
  const double runs = RunPressure();
  if (memory == 0 && runs == 0) return StallReason::kNone;
  return memory >= runs ? StallReason::kMemory : StallReason::kSortedRuns;
}

absl::Duration WriteController::delay() const {
  const double rate = Rate(MemoryPressure(), ReadSpeeds());
  return rate == kNoLimit ? absl::ZeroDuration() : absl::Seconds(1000 / rate);
}

void WriteController::RecordStall() {
  MutexLock lock(&mutex_);
  RecordWait(absl::ZeroDuration(), SteadyTime::Now());
}

void WriteController::RecordWait(absl::Duration waited, SteadyTime now) {
  const std::optional<StallNotices::Change> change = stalls_.Record(reason(), waited, now);
  if (!change.has_value()) return;
  mutex_.Unlock();
  Report(*change);
  mutex_.Lock();
}

void WriteController::Report(const StallNotices::Change& change) const {
  const absl::Duration delay_now = delay();
  if (events_ != nullptr) {
    events_->Push(&EventListener::OnStallChanged, {.time = absl::Now(),
                                                   .server = server_->name(),
                                                   .before = change.before,
                                                   .now = change.now,
                                                   .delay = delay_now,
                                                   .lasted = change.lasted});
  }
  if (info_log_ == nullptr) return;
  if (change.now == StallReason::kNone) {
    info_log_->Info("server ", server_->name(), ": writes go on, after a stall of ",
                    absl::FormatDuration(change.lasted));
    return;
  }
  info_log_->Warning("server ", server_->name(), ": writes stall because of ",
                     change.now == StallReason::kMemory ? "memory that waits for flushes"
                                                        : "sorted runs that wait for compactions",
                     ", by ", absl::FormatDuration(delay_now), " per thousand bytes");
}

// --- The admission of a write ---

absl::Status WriteController::AdmitSlowly(uint64_t bytes, const CallLimits& limits,
                                          Admission* admission) {
  bytes = std::min(bytes, kMostBytes);
  const SteadyTime now = SteadyTime::Now();
  if (WantsFlushes(bytes)) RequestFlushes(now);
  MutexLock lock(&mutex_);
  if (queue_.empty()) {
    const double rate = RateNow(now);
    if (WorkOff(rate, now) == absl::ZeroDuration() && HasRoom(bytes)) {
      Pass(bytes, rate, admission);
      return absl::OkStatus();
    }
  }
  Waiter waiter{.bytes = bytes, .position = end_position_ + bytes, .admission = admission};
  return Wait(&waiter, limits);
}

absl::Status WriteController::Wait(Waiter* waiter, const CallLimits& limits) {
  const WaitTimer held_back;
  queue_.insert(
      std::upper_bound(queue_.begin(), queue_.end(), waiter,
                       [](const Waiter* a, const Waiter* b) { return a->position < b->position; }),
      waiter);
  waiting_.store(queue_.size(), std::memory_order_relaxed);
  absl::Status status;
  while (true) {
    absl::Status stuck;
    if (!waiter->is_admitted && queue_.front() == waiter && WantsFlushes(waiter->bytes)) {
      // RequestFlushes waits for a turn among the writes.
      mutex_.Unlock();
      RequestFlushes(SteadyTime::Now());
      stuck = background_->StuckFlush();
      mutex_.Lock();
    }
    const absl::Duration until_first = AdmitWaiters(SteadyTime::Now());
    if (waiter->is_admitted) break;
    status = server_->write_error().status();
    if (status.ok()) status = std::move(stuck);
    if (status.ok()) status = limits.Check("the write, which was held back,");
    if (!status.ok()) {
      Leave(waiter);
      break;
    }
    absl::Duration sleep = limits.MostSleep();
    const bool is_first = queue_.front() == waiter;
    if (is_first) sleep = std::min(sleep, until_first);
    const SteadyTime before = SteadyTime::Now();
    waiter->changed.WaitFor(&mutex_, sleep);
    // The first one alone, since all wait for the same time.
    const SteadyTime now = SteadyTime::Now();
    if (is_first) RecordWait(now - before, now);
  }
  // The first writer in the queue may sleep; it checks for itself and the others from here on.
  if (!queue_.empty()) queue_.front()->changed.Signal();
  const int64_t nanos = held_back.nanos();
  total_delay_.fetch_add(nanos, std::memory_order_relaxed);
  if (RequestTrace* const trace = CurrentTrace()) trace->held_back += absl::Nanoseconds(nanos);
  return status;
}

absl::Duration WriteController::AdmitWaiters(SteadyTime now) {
  const double rate = RateNow(now);
  absl::Duration debt = WorkOff(rate, now);
  size_t passed = 0;
  absl::Duration until_next = absl::InfiniteDuration();
  for (; passed < queue_.size(); ++passed) {
    Waiter* const first = queue_[passed];
    if (debt > absl::ZeroDuration()) {
      until_next = std::min(debt, kPollInterval);
      break;
    }
    if (!HasRoom(first->bytes)) {
      Reserve(first);
      until_next = kPollInterval;
      break;
    }
    Unreserve(first);
    Pass(first->bytes, rate, first->admission);
    end_position_ = std::max(end_position_, first->position);
    first->is_admitted = true;
    first->changed.Signal();
    debt = TimeOfDebt(rate);
  }
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(passed));
  waiting_.store(queue_.size(), std::memory_order_relaxed);
  return until_next;
}

void WriteController::Pass(uint64_t bytes, double rate, Admission* admission) {
  if (rate != kNoLimit) debt_ += static_cast<double>(bytes);
  if (bytes < kLarge) return;
  Charge(static_cast<int64_t>(bytes));
  ABSL_ASSERT(admission->controller_ == nullptr && "a write is admitted once");
  arriving_ += bytes;
  admission->controller_ = this;
  admission->bytes_ = bytes;
}

void WriteController::Reserve(Waiter* waiter) {
  if (waiter->bytes < kLarge || std::exchange(waiter->has_reserved, true)) return;
  Charge(static_cast<int64_t>(waiter->bytes));
  reserved_.fetch_add(waiter->bytes, std::memory_order_relaxed);
}

void WriteController::Unreserve(Waiter* waiter) {
  if (!std::exchange(waiter->has_reserved, false)) return;
  [[maybe_unused]] const uint64_t before =
      reserved_.fetch_sub(waiter->bytes, std::memory_order_relaxed);
  ABSL_ASSERT(before >= waiter->bytes && "it was counted when it was reserved");
  Charge(-static_cast<int64_t>(waiter->bytes));
}

void WriteController::Leave(Waiter* waiter) {
  Unreserve(waiter);
  [[maybe_unused]] const size_t erased = std::erase(queue_, waiter);
  ABSL_ASSERT(erased == 1 && "a writer that is not admitted is in the queue");
  waiting_.store(queue_.size(), std::memory_order_relaxed);
}

void WriteController::EndLarge(uint64_t bytes) {
  MutexLock lock(&mutex_);
  Charge(-static_cast<int64_t>(bytes));
  ABSL_ASSERT(arriving_ >= bytes && "it was counted when it was admitted");
  arriving_ -= bytes;
  // There is something to flush again.
  may_flush_ = true;
  next_check_.store(SteadyTime().nanos(), std::memory_order_relaxed);
  if (!queue_.empty()) queue_.front()->changed.Signal();
}

// --- Flushes ---

bool WriteController::WantsFlushes(uint64_t bytes) const {
  return TakenMemory() + bytes > HardLimit() || MemoryPressure() > 0;
}

void WriteController::RequestFlushes(SteadyTime now) {
  int64_t next = next_check_.load(std::memory_order_relaxed);
  if (now.nanos() < next) return;
  const int64_t after_that = (now + kShortestSleep).nanos();
  if (!next_check_.compare_exchange_strong(next, after_that, std::memory_order_relaxed)) return;
  const bool may_flush = BudgetAccess::WriteOutLargest(*budget_);
  MutexLock lock(&mutex_);
  may_flush_ = may_flush;
}

void WriteController::OnProgress() {
  MutexLock lock(&mutex_);
  RecordWait(absl::ZeroDuration(), SteadyTime::Now());
  if (queue_.empty()) return;
  AdmitWaiters(SteadyTime::Now());
  if (!queue_.empty()) queue_.front()->changed.Signal();
}

uint64_t WriteController::LargestMemtable() const {
  // If readers hold most of the memory, small memtables are not flushed: that would free next to
  // nothing.
  constexpr uint64_t kWorthwhilePart = 32;
  if (!server_->write_error().status().ok()) return 0;
  uint64_t largest = server_->rotation().WaitingBytes();
  uint64_t sum = largest;
  for (const std::shared_ptr<Tablet>& tablet : server_->tablets().All()) {
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
