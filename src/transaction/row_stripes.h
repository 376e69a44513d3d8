// Queues of the atomic operations of a process, by the hash of their row, so that operations on one
// row do not make each other fail and try again. The correctness of an operation does not depend on
// them: operations of other processes, and plain writes, do not queue.
//
// A thread that runs takes a free stripe before threads that sleep, because waking one for every
// operation would cost more than the operation: at most one thread is waking up at a time, and the
// threads that run go on until it does. To keep this fair, a thread that was passed over a few
// times closes the stripe to newcomers until it has had it.
#ifndef BIGTABLE_TRANSACTION_ROW_STRIPES_H_
#define BIGTABLE_TRANSACTION_ROW_STRIPES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/call_limits.h"
#include "base/checksum.h"
#include "base/mutex.h"
#include "base/stripe.h"

namespace bigtable {

// Thread-safe.
class RowStripes {
 private:
  class Stripe;

 public:
  RowStripes() = default;
  RowStripes(const RowStripes&) = delete;
  RowStripes& operator=(const RowStripes&) = delete;

  // The time in which a thread has the stripe of a row. The thread must not take a second one.
  class Hold {
   public:
    Hold(RowStripes* stripes, uint64_t table_id, std::string_view row)
        : stripe_(&stripes->stripes_[(Checksum(row) + table_id) % kCount]) {}
    ~Hold() {
      if (has_it_) stripe_->Leave();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    // Waits for the stripe. Errors of the limits. At most once.
    absl::Status Take(const CallLimits& limits) {
      ABSL_ASSERT(!has_it_ && "a hold is taken once");
      const absl::Status status = stripe_->Enter(limits);
      has_it_ = status.ok();
      return status;
    }

   private:
    Stripe* const stripe_;
    bool has_it_ = false;
  };

 private:
  static constexpr size_t kCount = 256;

  // No wake-up is lost. A waiting thread counts itself before it looks at `held_`, and Leave clears
  // `held_` before it looks at the count, so one of them sees the other. Leave may rely on the
  // thread that is waking up, because that one clears `is_waking_` before it looks at `held_`:
  // either it finds the stripe free, or the thread that has it by then wakes the next one. All of
  // these accesses are sequentially consistent.
  class alignas(kCacheLine) Stripe {
   public:
    absl::Status Enter(const CallLimits& limits) {
      if (passed_over_.load() == 0 && TryTake()) [[likely]]
        return absl::OkStatus();
      return Await(limits);
    }
    void Leave() {
      ABSL_ASSERT(held_.load() && "the thread has the stripe");
      held_.store(false);
      if (waiting_.load() > 0 && !is_waking_.load()) [[unlikely]]
        Wake();
    }

   private:
    bool TryTake() {
      bool held = false;
      return held_.compare_exchange_strong(held, true);
    }
    bool SpinToTake();
    absl::Status Await(const CallLimits& limits);
    absl::Status Sleep(const CallLimits& limits);
    void Wake();

    std::atomic<bool> held_{false};
    std::atomic<bool> is_waking_{false};  // a thread was woken and has not looked at `held_`
    std::atomic<int> waiting_{0};         // threads that sleep, or are about to, or wake up
    std::atomic<int> passed_over_{0};     // those of them that were, often
    Mutex mutex_;
    CondVar freed_;  // signalled under the mutex
  };

  std::array<Stripe, kCount> stripes_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSACTION_ROW_STRIPES_H_
