// Slows writers down when they are faster than background work, so that memory stays within its
// budget and reads find few sorted runs. It delays evenly: many writes wait a little, instead of a
// few that wait for long.
//
//   admitted bytes a second
//     | 2 x speed
//     |\             .
//     | \            .    speed: that of flushes (for memory), or of compactions (for runs),
//     |   \          .    in the bytes that memtables take, as it is just now
//     |      \_      .
//     |         ` -._.______ speed of flushes / 8
//     +--------------.------
//    soft           hard  (memory: no write that would exceed it is admitted)
//
// What it guarantees:
//
//   * A write waits no longer than the flush of its bytes, and of those admitted before it, takes
//     at the present speed of the machine (background/work_speed.h). No wait is computed in
//     advance. The remaining wait is the debt over the rate; the debt is the bytes that were
//     admitted and are not worked off yet. Both are computed again when memory is freed, when work
//     ends, when a write gives up, and every few milliseconds. Without pressure there is no debt.
//   * At the hard limit writes wait for memory as long as there is anything to flush. If there is
//     nothing, waiting would not help, because readers hold the memory, and writes are admitted.
//   * A write may not fit below the hard limit even after everything else is flushed, such as one
//     value larger than the whole budget. It is admitted when all of that is flushed and no other
//     such write of this server is on its way. So one write at a time, of each server, may exceed
//     the limit.
//   * It is fair by bytes. The position of a waiting write is the position of the last admitted
//     write when it arrived, plus its own bytes. A writer of many bytes gets as many as each of the
//     others while it waits, and a small write overtakes large ones, but not for ever. This holds
//     for the writers of one server. For other servers, and other databases with the same budget,
//     the large write whose turn it is charges the budget with its bytes while it waits, so that
//     they leave it the room.
//   * Sorted runs never stop writers. They slow writers down to the speed of compactions, but not
//     below an eighth of the speed of flushes: if compactions are paused, cancelled, rate-limited
//     or have failed, slower writers would not help, and reads become slower instead.
//   * Databases that share a budget wait for one another's flushes, which free memory for all. A
//     database that can flush nothing because of an error is not waited for; one whose flush stalls
//     is.
//   * A write that gives up (deadline, cancellation, error of the server, flushes that have failed
//     for five seconds) costs nothing: those behind it wait as if it had never arrived. It gives up
//     when its deadline passes, and within 20 milliseconds of a cancellation or an error.
//   * Only the steady clock is used.
//   * Waiting costs little: each write sleeps by itself and is woken when it is admitted. Only the
//     first write in the queue wakes by itself to check again, so no thread is needed to admit the
//     others.
#ifndef BIGTABLE_ADMISSION_WRITE_CONTROLLER_H_
#define BIGTABLE_ADMISSION_WRITE_CONTROLLER_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/memory_budget.h"
#include "bigtable/statistics.h"

#include "admission/stall_notices.h"
#include "background/background_work.h"
#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "base/steady_time.h"
#include "cache/budget_access.h"
#include "cache/memtable_holder.h"
#include "monitoring/listener_queue.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// Thread-safe. One for each server.
class WriteController final : public MemtableHolder {
 public:
  // Memtables and the log that they pin may take five eighths of the budget: two memtables of a
  // quarter, and some room. From half of the budget on, writers are slowed. They are also slowed
  // from kSlowRuns sorted runs in a group on, most at kMostRuns.
  static constexpr size_t kSlowRuns = 24;
  static constexpr size_t kMostRuns = 48;
  // The part of the speed of flushes that is always admitted.
  static constexpr double kLeastPart = 1.0 / 8;
  // A write of so many bytes counts as memory from its admission on, and not only once memtable and
  // log have it.
  static constexpr uint64_t kLarge = 64 << 10;
  // How long a writer waits for a turn of a server to rotate its memtables. The server may stall,
  // and the writer be one of another server.
  static constexpr absl::Duration kLongestTurn = absl::Milliseconds(50);

  // The admission of a write. Its caller keeps it until the write is in the memtable.
  class Admission {
   public:
    Admission() = default;
    ~Admission() {
      if (bytes_ > 0) [[unlikely]]
        controller_->EndLarge(bytes_);
    }
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

   private:
    friend class WriteController;
    WriteController* controller_ = nullptr;
    uint64_t bytes_ = 0;  // of a large write
  };

  // `events` may be null: there is no listener; and so may be `info_log`.
  WriteController(MemoryBudget* budget, TabletServer* server, BackgroundWork* background,
                  ListenerQueue* events = nullptr, InfoLog* info_log = nullptr)
      : budget_(budget),
        server_(server),
        background_(background),
        events_(events),
        info_log_(info_log) {}
  WriteController(const WriteController&) = delete;
  WriteController& operator=(const WriteController&) = delete;
  ~WriteController() {
    MutexLock lock(&mutex_);
    ABSL_ASSERT(queue_.empty() && arriving_ == 0 && reserved_.load() == 0 &&
                "all writes have ended");
  }

  // Called before a write of `bytes`: waits until the write is admitted. DeadlineExceeded,
  // Cancelled, or the server's error. Costs a few loads when there is no reason to wait. Each call
  // gets a new `admission`.
  absl::Status Admit(uint64_t bytes, const CallLimits& limits, Admission* admission) {
    if (bytes < kLarge && WriteMemory() < SoftLimit() &&
        background_->meter().MostRuns() < kSlowRuns &&
        waiting_.load(std::memory_order_relaxed) == 0) [[likely]] {
      return absl::OkStatus();
    }
    return AdmitSlowly(bytes, limits, admission);
  }

  // MemtableHolder.
  bool IsWritingOut() const override { return background_->HasFlushes(); }
  uint64_t LargestMemtable() const override;
  bool WriteOutLargest() override {
    return server_->rotation().RotateLargest({.deadline = Deadline::In(kLongestTurn)}).ok();
  }
  void OnProgress() override;

  // Why the next write would be delayed, and for how long per thousand bytes, as long as there is
  // room for them.
  StallReason reason() const;
  absl::Duration delay() const;
  // The sum of all waits so far.
  absl::Duration total_delay() const { return absl::Nanoseconds(total_delay_.load()); }
  // How many writes wait.
  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  // Reports the end of a stall, or that its reason is another, to the listener and the info log
  // (admission/stall_notices.h). To be called from time to time; writers that wait do it too.
  void RecordStall() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // A waiting write.
  struct Waiter {
    uint64_t bytes;
    uint64_t position;  // the smallest is admitted first
    Admission* admission;
    bool has_reserved = false;  // the budget, for the room that it waits for
    bool is_admitted = false;
    CondVar changed = {};
  };

  uint64_t WriteMemory() const {
    return budget_->used(MemoryBudget::Use::kMemtables) + budget_->used(MemoryBudget::Use::kLog);
  }
  // Without the room that writes wait for here.
  uint64_t TakenMemory() const {
    const uint64_t used = WriteMemory();
    return used - std::min(used, reserved_.load(std::memory_order_relaxed));
  }
  uint64_t SoftLimit() const { return budget_->limit() / 2; }
  uint64_t HardLimit() const { return budget_->limit() / 8 * 5; }
  // How near memory and runs are to their limits: 0 below the soft limit, 1 at the hard limit.
  double MemoryPressure() const;
  double RunPressure() const;
  // Bytes a second.
  struct Speeds {
    double flushes;
    double compactions;
  };
  // The admitted bytes a second; infinite if there is no reason to delay.
  double Rate(double memory_pressure, const Speeds& speeds) const;
  Speeds ReadSpeeds() const {
    return {background_->meter().FlushSpeed(), background_->meter().CompactionSpeed()};
  }
  // The present rate; memory counts only if there is anything to flush. Reads the speeds once in a
  // millisecond.
  double RateNow(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Status AdmitSlowly(uint64_t bytes, const CallLimits& limits, Admission* admission);
  // Waits until the write is admitted, or gives up.
  absl::Status Wait(Waiter* waiter, const CallLimits& limits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether memory, with a write of so many bytes, requires flushes.
  bool WantsFlushes(uint64_t bytes) const;
  // Requests the flush of the next memtables, and notes whether there are any; at most once in a
  // millisecond.
  void RequestFlushes(SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);

  // Admits the writes that may be admitted now, in their order, and wakes them. Returns the time
  // after which the first of the others is to be checked again.
  absl::Duration AdmitWaiters(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether memory has room for a write of so many bytes.
  bool HasRoom(uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A large write charges the budget while it waits for room, and ends the charge.
  void Reserve(Waiter* waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unreserve(Waiter* waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Admits a write.
  void Pass(uint64_t bytes, double rate, Admission* admission)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave(Waiter* waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A large write is in its memtable, or has failed.
  void EndLarge(uint64_t bytes);
  void Charge(int64_t bytes) {
    BudgetAccess::Charge(*budget_, MemoryBudget::Use::kMemtables, bytes);
  }
  // Subtracts from the debt what is worked off by now, and returns TimeOfDebt.
  absl::Duration WorkOff(double rate, SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How long it takes to work off the debt; zero if that is too short for a sleep.
  absl::Duration TimeOfDebt(double rate) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A write has waited so long since the last call. Releases the lock while it reports.
  void RecordWait(absl::Duration waited, SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Report(const StallNotices::Change& change) const ABSL_LOCKS_EXCLUDED(mutex_);

  MemoryBudget* const budget_;
  TabletServer* const server_;
  BackgroundWork* const background_;
  ListenerQueue* const events_;
  InfoLog* const info_log_;
  std::atomic<int64_t> total_delay_{0};
  std::atomic<int64_t> next_check_{SteadyTime().nanos()};  // when RequestFlushes checks again
  std::atomic<size_t> waiting_{0};                         // the size of the queue
  std::atomic<uint64_t> reserved_{0};                      // bytes that writes in it have charged

  Mutex mutex_;
  std::vector<Waiter*> queue_ ABSL_GUARDED_BY(mutex_);  // by position
  uint64_t end_position_ ABSL_GUARDED_BY(mutex_) = 0;   // of the last admitted write
  // Bytes that were admitted under pressure and are not worked off, and the time of that count.
  double debt_ ABSL_GUARDED_BY(mutex_) = 0;
  SteadyTime debt_at_ ABSL_GUARDED_BY(mutex_);
  Speeds speeds_ ABSL_GUARDED_BY(mutex_) = {};
  SteadyTime speeds_until_ ABSL_GUARDED_BY(mutex_);
  uint64_t arriving_ ABSL_GUARDED_BY(mutex_) = 0;  // bytes of large writes on their way
  bool may_flush_ ABSL_GUARDED_BY(mutex_) = true;  // the result of RequestFlushes
  StallNotices stalls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_ADMISSION_WRITE_CONTROLLER_H_
