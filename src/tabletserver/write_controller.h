// Holds writers back when they outrun background work, so that memory keeps to its budget and reads
// to few sorted runs; and evenly, so that many writes wait a little instead of some for long.
//
//   bytes a second that are let through
//     | 2 x speed
//     |\             .
//     | \            .    speed: that of flushes (for memory), or of compactions (for runs),
//     |   \          .    in the bytes that memtables take, as it is just now
//     |      \_      .
//     |         ` -._.______ speed of flushes / 8
//     +--------------.------
//    soft           hard  (memory: no write that would go beyond it is let through)
//
// What it promises:
//
//   * A write waits no longer than its bytes, and those that are let through before it, take to be
//     written out at the speed that the machine shows just now (tabletserver/work_speed.h). Nothing
//     is worked out in advance: what is left to wait is the debt, which is what was let through and
//     not worked off yet, over the rate, and both are looked at anew whenever memory was freed,
//     work has ended, somebody gave up, and every few milliseconds. Without pressure there is no
//     debt.
//   * At the hard limit writes wait for memory, as long as there is anything to flush. Where there
//     is nothing, waiting would not help, and they go on: readers have the memory.
//   * A write that would not fit below the hard limit although everything else was flushed, such as
//     one value larger than the whole budget, goes when all of that is flushed and no other such
//     write of this server is on its way. So one write at a time, of each server, may exceed it.
//   * It is fair by bytes. Each write that waits has a place by what was let through when it came
//     plus its own bytes: a writer of many bytes gets as many as each of the others while it waits,
//     and a small write passes large ones that wait, but not for ever. That holds for the writers
//     of one server. Across servers, and databases with one budget, the large write whose turn it
//     is charges the budget with its bytes while it waits for room, so that others leave it the
//     room.
//   * Sorted runs never stop writers. They slow them down to what compactions show, but not below
//     an eighth of the speed of flushes: where compactions are paused, cancelled, limited or have
//     failed, slowing writers down would not help either, and it is reads that become slower.
//   * Databases that share a budget wait for one another's flushes, which free the memory of all.
//     One that can flush nothing, because of an error, is not waited for; one whose flush stalls
//     is.
//   * A write that gives up (deadline, cancellation, error of the server, a flush that has failed
//     for five seconds) has paid for nothing: those behind it wait as if it had never come.
//     Deadlines are heard when they pass, cancellations and errors within 20 milliseconds.
//   * No clock but the steady one is looked at.
//   * Waiting costs little: each write sleeps by itself, and is woken when it is let through. Only
//     the first one wakes by itself, to look again; so there is nobody who lets the others through.
#ifndef BIGTABLE_TABLETSERVER_WRITE_CONTROLLER_H_
#define BIGTABLE_TABLETSERVER_WRITE_CONTROLLER_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/memory_budget.h"
#include "bigtable/statistics.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "base/steady_time.h"
#include "cache/budget_access.h"
#include "cache/memtable_holder.h"
#include "monitoring/listener_queue.h"
#include "tabletserver/background_work.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// Thread-safe. One for each server.
class WriteController final : public MemtableHolder {
 public:
  // Memtables and the log that they pin may take five eighths of the budget: two memtables of a
  // quarter, and some room. From a half on, writers are slowed. So they are from this many sorted
  // runs in a group on, most at the last.
  static constexpr size_t kSlowRuns = 24;
  static constexpr size_t kMostRuns = 48;
  // The part of the speed of flushes that is always let through.
  static constexpr double kLeastPart = 1.0 / 8;
  // A write of as many bytes counts as memory from when it is let through, not only once memtable
  // and log have it.
  static constexpr uint64_t kLarge = 64 << 10;

  // The way of a write from being let through to its memtable. Kept until it is there.
  class Admission {
   public:
    Admission() = default;
    ~Admission() {
      if (bytes_ > 0) [[unlikely]]
        controller_->Arrived(bytes_);
    }
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

   private:
    friend class WriteController;
    WriteController* controller_ = nullptr;
    uint64_t bytes_ = 0;  // of a large one
  };

  // `events` may be null: nobody listens.
  WriteController(MemoryBudget* budget, TabletServer* server, BackgroundWork* background,
                  ListenerQueue* events = nullptr)
      : budget_(budget), server_(server), background_(background), events_(events) {}
  WriteController(const WriteController&) = delete;
  WriteController& operator=(const WriteController&) = delete;

  // Before a write of `bytes`: waits as long as it has to. DeadlineExceeded, Cancelled, or the
  // server's error. Costs a few loads when there is no reason to wait. `admission` was given to no
  // call before.
  absl::Status Admit(uint64_t bytes, const CallLimits& limits, Admission* admission) {
    if (bytes < kLarge && WriteMemory() < SoftLimit() && background_->MostRuns() < kSlowRuns &&
        waiting_.load(std::memory_order_relaxed) == 0) [[likely]] {
      return absl::OkStatus();
    }
    return AdmitSlowly(bytes, limits, admission);
  }

  // MemtableHolder.
  bool IsWritingOut() const override { return background_->HasFlushes(); }
  uint64_t LargestMemtable() const override;
  void WriteOutLargest() override { server_->rotation().RotateLargest(); }
  void OnProgress() override;

  // Why a write that comes now would be delayed, and for how long for a thousand bytes as long as
  // there is room for them.
  StallReason reason() const;
  absl::Duration delay() const;
  // What writes have waited so far.
  absl::Duration total_delay() const { return absl::Nanoseconds(total_delay_.load()); }
  // How many writes wait.
  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  // Tells the listener if the reason is another one than when it was last told. Writers that are
  // held back do; to be called after progress, too.
  void NoteReason();

 private:
  // A write that is held back.
  struct Waiter {
    uint64_t bytes;
    uint64_t position;  // the smallest is the first to be let through
    Admission* admission;
    bool has_reserved = false;  // the budget, for the room that it waits for
    bool is_through = false;
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
  // How near memory and runs are to their limits: 0 is far, 1 is there.
  double MemoryPressure() const;
  double RunPressure() const;
  // Bytes a second that are let through; infinite: there is no reason to hold any back.
  struct Speeds {
    double flushes;
    double compactions;
  };
  double Rate(double memory_pressure, const Speeds& speeds) const;
  Speeds ReadSpeeds() const { return {background_->FlushSpeed(), background_->CompactionSpeed()}; }
  // What is let through at this moment, as far as there is anything to wait for. Looks at the
  // speeds once in a millisecond.
  double RateNow(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Status AdmitSlowly(uint64_t bytes, const CallLimits& limits, Admission* admission);
  // Until the write is let through, or gives up.
  absl::Status Wait(Waiter* waiter, const CallLimits& limits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether memory, and with a write of so many bytes, is beyond what needs no flush.
  bool WantsFlushes(uint64_t bytes) const;
  // Has the next memtables flushed, and notes whether there are any; once in a millisecond.
  void LookForFlushes(SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);

  // Lets through whoever may go now, in their order, and wakes them. How long it takes at most
  // until the first of those that are left is to be looked at again.
  absl::Duration LetThrough(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether memory has room for a write of as many bytes.
  bool HasRoom(uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A large write charges the budget while it waits for room, and gives that back.
  void Reserve(Waiter* waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unreserve(Waiter* waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets a write through.
  void Pass(uint64_t bytes, double rate, Admission* admission)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave(Waiter* waiter) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A large write is in its memtable, or has failed.
  void Arrived(uint64_t bytes);
  void Charge(int64_t bytes) {
    BudgetAccess::Charge(*budget_, MemoryBudget::Use::kMemtables, bytes);
  }
  // Takes from the debt what is worked off by now, and returns TimeOfDebt.
  absl::Duration WorkOff(double rate, SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How long the debt takes; zero if that is not worth a sleep.
  absl::Duration TimeOfDebt(double rate) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteReasonLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  MemoryBudget* const budget_;
  TabletServer* const server_;
  BackgroundWork* const background_;
  ListenerQueue* const events_;
  std::atomic<int64_t> total_delay_{0};
  std::atomic<int64_t> look_at_{SteadyTime().nanos()};  // when LookForFlushes is to look again
  std::atomic<size_t> waiting_{0};                      // the size of the queue
  std::atomic<uint64_t> reserved_{0};                   // bytes that those in it have charged

  Mutex mutex_;
  std::vector<Waiter*> queue_ ABSL_GUARDED_BY(mutex_);  // by their places
  uint64_t end_position_ ABSL_GUARDED_BY(mutex_) = 0;   // of the last one that was let through
  // Bytes that were let through under pressure and are not worked off, and when that was so.
  double debt_ ABSL_GUARDED_BY(mutex_) = 0;
  SteadyTime debt_at_ ABSL_GUARDED_BY(mutex_);
  Speeds speeds_ ABSL_GUARDED_BY(mutex_) = {};
  SteadyTime speeds_until_ ABSL_GUARDED_BY(mutex_);
  uint64_t arriving_ ABSL_GUARDED_BY(mutex_) = 0;  // bytes of large writes on their way
  bool may_flush_ ABSL_GUARDED_BY(mutex_) = true;  // as LookForFlushes has found
  StallReason notified_ ABSL_GUARDED_BY(mutex_) = StallReason::kNone;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_WRITE_CONTROLLER_H_
