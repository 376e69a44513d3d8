// Queues of the atomic operations of a process, by the hash of their row, so that operations on one
// row do not make each other fail and try again. The correctness of an operation does not depend on
// them: operations of other processes, and plain writes, do not queue.
//
// A thread that runs takes a free stripe before threads that sleep, because waking one for every
// operation would cost more than the operation. To keep this fair, a thread that was passed over a
// few times closes the stripe to newcomers until it has had it.
#ifndef BIGTABLE_CLIENT_ROW_STRIPES_H_
#define BIGTABLE_CLIENT_ROW_STRIPES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "base/call_limits.h"
#include "base/checksum.h"
#include "base/mutex.h"
#include "base/stripe.h"
#include "monitoring/thread_calls.h"

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

  class alignas(kCacheLine) Stripe {
   public:
    absl::Status Enter(const CallLimits& limits) {
      MutexLock lock(&mutex_);
      if (!held_ && passed_over_ == 0) [[likely]] {
        held_ = true;
        return absl::OkStatus();
      }
      return Await(limits);
    }
    void Leave() {
      MutexLock lock(&mutex_);
      held_ = false;
      if (waiting_ > 0) freed_.Signal();
    }

   private:
    absl::Status Await(const CallLimits& limits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      constexpr int kMostWakes = 3;
      const WaitTimer timer;
      absl::Status status;
      int wakes = 0;
      ++waiting_;
      // A newcomer lets those that were passed over go first; all of these are equal.
      while (held_ || (wakes == 0 && passed_over_ > 0)) {
        status = limits.Check();
        if (!status.ok()) break;
        freed_.WaitFor(&mutex_, limits.MostSleep());
        if (++wakes == kMostWakes) ++passed_over_;
      }
      --waiting_;
      if (wakes >= kMostWakes) --passed_over_;
      if (status.ok()) {
        held_ = true;
      } else if (!held_ && waiting_ > 0) {
        freed_.Signal();  // which this thread may have received instead of another
      }
      return status;
    }

    Mutex mutex_;
    CondVar freed_;
    bool held_ ABSL_GUARDED_BY(mutex_) = false;
    int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
    int passed_over_ ABSL_GUARDED_BY(mutex_) = 0;  // waiting threads that were, often
  };

  std::array<Stripe, kCount> stripes_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_ROW_STRIPES_H_
