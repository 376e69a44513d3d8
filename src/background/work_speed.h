// The present speed of background work of one kind, in bytes a second, over the time in which such
// work was under way.
//
// Work does not report its progress. Work that has ended counts with its duration, and about the
// last two seconds of it count. The work under way is taken to be no faster than if all of it ended
// now. So a disk that stalls lowers the speed while it stalls, and not only afterwards.
//
//   Begin(64 MiB) ... 0.4 s ... End       160 MiB/s
//   Begin(64 MiB) ... 4 s later, and nothing has ended: 30 MiB/s, and falling
//
// Small pieces of work count less than in proportion: most of their duration is a fixed cost, which
// tells little about the work that writers would have to wait for.
#ifndef BIGTABLE_BACKGROUND_WORK_SPEED_H_
#define BIGTABLE_BACKGROUND_WORK_SPEED_H_

#include <algorithm>
#include <cstdint>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

#include "base/mutex.h"
#include "base/steady_time.h"

namespace bigtable {

// Thread-safe.
class WorkSpeed {
 public:
  // The speed that is assumed before any work has ended, and the least speed that is returned, so
  // that callers can divide by it.
  static constexpr double kAssumed = 200e6;
  static constexpr double kLeast = 1e6;

  // Work on so many bytes begins, and ends with so many bytes done. Zero bytes (it failed or was
  // cancelled) do not change the speed.
  void Begin(uint64_t bytes, SteadyTime now = SteadyTime::Now()) {
    MutexLock lock(&mutex_);
    if (running_++ == 0) since_ = now;
    begun_ += static_cast<double>(bytes);
  }
  void End(uint64_t begun, uint64_t done, SteadyTime now = SteadyTime::Now()) {
    MutexLock lock(&mutex_);
    ABSL_ASSERT(running_ > 0 && "what ends has begun");
    --running_;
    begun_ -= static_cast<double>(begun);
    Record(static_cast<double>(done), absl::ToDoubleSeconds(now - since_));
    since_ = now;
  }

  // Bytes a second.
  double Now(SteadyTime now = SteadyTime::Now()) const {
    MutexLock lock(&mutex_);
    double speed = bytes_ / seconds_;
    if (running_ > 0) {
      const double at_best =
          (bytes_ + begun_) / (seconds_ + std::max(absl::ToDoubleSeconds(now - since_), 0.0));
      speed = std::min(speed, at_best);
    }
    return std::max(speed, kLeast);
  }

 private:
  static constexpr double kRemembered = 2;        // seconds
  static constexpr double kWhole = 4 << 20;       // bytes; smaller work counts less
  static constexpr double kAssumedSeconds = 0.1;  // the weight of the assumption

  void Record(double bytes, double seconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const double weight = std::min(bytes / kWhole, 1.0);
    bytes_ += weight * bytes;
    seconds_ += weight * std::max(seconds, 0.0);
    if (seconds_ > kRemembered) {
      bytes_ *= kRemembered / seconds_;
      seconds_ = kRemembered;
    }
  }

  mutable Mutex mutex_;
  // Of work that has ended, with less weight for older work.
  double bytes_ ABSL_GUARDED_BY(mutex_) = kAssumed * kAssumedSeconds;
  double seconds_ ABSL_GUARDED_BY(mutex_) = kAssumedSeconds;
  // Of work under way, and since when none of it has ended.
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  double begun_ ABSL_GUARDED_BY(mutex_) = 0;
  SteadyTime since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_WORK_SPEED_H_
