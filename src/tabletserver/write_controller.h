// Slows writers down when they outrun background work, smoothly: the nearer memory or the number of
// sorted runs comes to its limit, the longer each byte takes.
//
//   delay of a byte
//     |            :   /
//     |           _:--'      at the hard limit of memory, writers wait for memtables
//     |      __--' :         to be written out
//     +-----'------:----
//        soft    hard
#ifndef BIGTABLE_TABLETSERVER_WRITE_CONTROLLER_H_
#define BIGTABLE_TABLETSERVER_WRITE_CONTROLLER_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/memory_budget.h"
#include "bigtable/statistics.h"

#include "base/mutex.h"
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

  // `events` may be null: nobody listens.
  WriteController(MemoryBudget* budget, TabletServer* server, BackgroundWork* background,
                  ListenerQueue* events = nullptr)
      : budget_(budget), server_(server), background_(background), events_(events) {}
  WriteController(const WriteController&) = delete;
  WriteController& operator=(const WriteController&) = delete;

  // Before a write of `bytes`: waits as long as it has to. DeadlineExceeded, Cancelled, or the
  // server's error. Costs a few loads when there is no reason to wait.
  absl::Status Admit(uint64_t bytes, const CallLimits& limits) {
    if (WriteMemory() < budget_->limit() / 2 && background_->MostRuns() < kSlowRuns) [[likely]] {
      return absl::OkStatus();
    }
    return AdmitSlowly(bytes, limits);
  }

  // MemtableHolder.
  bool IsWritingOut() const override { return background_->HasFlushes(); }
  uint64_t LargestMemtable() const override;
  void WriteOutLargest() override { server_->FreezeLargest(); }

  // Why a write that comes now would be delayed, and for how long for a thousand bytes.
  StallReason reason() const;
  absl::Duration delay() const;
  absl::Duration total_delay() const { return absl::Nanoseconds(total_delay_.load()); }
  // Tells the listener if the reason is another one than when it was last told. Writers that are
  // held back do; to be called after progress, too.
  void NoteReason();

 private:
  uint64_t WriteMemory() const {
    return budget_->used(MemoryBudget::Use::kMemtables) + budget_->used(MemoryBudget::Use::kLog);
  }
  uint64_t MostWriteMemory() const { return budget_->limit() / 8 * 5; }
  // How near memory and runs are to their limits: 0 is far, 1 is there.
  double MemoryPressure() const;
  double RunPressure() const;
  // Bytes a second that are let through.
  double Rate() const;

  absl::Status AdmitSlowly(uint64_t bytes, const CallLimits& limits);
  absl::Status WaitForMemory(const CallLimits& limits);

  MemoryBudget* const budget_;
  TabletServer* const server_;
  BackgroundWork* const background_;
  ListenerQueue* const events_;
  std::atomic<int64_t> total_delay_{0};

  Mutex mutex_;
  absl::Time paid_until_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  StallReason told_ ABSL_GUARDED_BY(mutex_) = StallReason::kNone;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_WRITE_CONTROLLER_H_
