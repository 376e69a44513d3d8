// How fast background work of one kind goes just now: bytes a second of the time in which any of it
// was under way.
//
// It is known without asking the work how far it is: what has ended counts with what it took, the
// last two seconds of work most; and what is under way is not faster than if all of it ended now.
// So a disk that stalls shows while it stalls, and not when it is over.
//
//   Begin(64 MiB) ... 0.4 s ... End       160 MiB/s
//   Begin(64 MiB) ... 4 s later, and nothing has ended: 30 MiB/s, and falling
//
// Small pieces of work count less than in proportion: what they take is mostly the same for each,
// and says little about work that writers would have to wait for.
#ifndef BIGTABLE_TABLETSERVER_WORK_SPEED_H_
#define BIGTABLE_TABLETSERVER_WORK_SPEED_H_

#include <algorithm>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

#include "base/mutex.h"
#include "base/steady_time.h"

namespace bigtable {

// Thread-safe.
class WorkSpeed {
 public:
  // What is assumed of a machine that has not shown its speed yet, and the least that is ever said:
  // whoever divides by it gets a number.
  static constexpr double kAssumed = 200e6;
  static constexpr double kLeast = 1e6;

  // Work on so many bytes begins; it ends, and has done so many. Nothing (it failed, it was
  // cancelled) says nothing.
  void Begin(uint64_t bytes, SteadyTime now = SteadyTime::Now()) {
    MutexLock lock(&mutex_);
    if (running_++ == 0) since_ = now;
    begun_ += static_cast<double>(bytes);
  }
  void End(uint64_t begun, uint64_t done, SteadyTime now = SteadyTime::Now()) {
    MutexLock lock(&mutex_);
    --running_;
    begun_ -= static_cast<double>(begun);
    Note(static_cast<double>(done), absl::ToDoubleSeconds(now - since_));
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
  static constexpr double kWhole = 4 << 20;       // bytes: what is smaller counts less
  static constexpr double kAssumedSeconds = 0.1;  // that the assumption counts for

  void Note(double bytes, double seconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const double weight = std::min(bytes / kWhole, 1.0);
    bytes_ += weight * bytes;
    seconds_ += weight * std::max(seconds, 0.0);
    if (seconds_ > kRemembered) {
      bytes_ *= kRemembered / seconds_;
      seconds_ = kRemembered;
    }
  }

  mutable Mutex mutex_;
  // What has ended, the older the less of it.
  double bytes_ ABSL_GUARDED_BY(mutex_) = kAssumed * kAssumedSeconds;
  double seconds_ ABSL_GUARDED_BY(mutex_) = kAssumedSeconds;
  // What is under way, and since when nothing of it has ended.
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  double begun_ ABSL_GUARDED_BY(mutex_) = 0;
  SteadyTime since_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_WORK_SPEED_H_
