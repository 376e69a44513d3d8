// How far the heap grows while something runs.
#ifndef BIGTABLE_TESTS_SUPPORT_HEAP_PEAK_H_
#define BIGTABLE_TESTS_SUPPORT_HEAP_PEAK_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <malloc.h>
#include <thread>

#include "absl/time/clock.h"

#include "support/seeds.h"

namespace bigtable {

// Samples the heap about every millisecond, in a thread of its own. Under sanitizers, whose
// allocators do not report their memory, it never grows.
class HeapPeak {
 public:
  HeapPeak() : thread_([this] { Watch(); }) {}
  ~HeapPeak() { Stop(); }
  HeapPeak(const HeapPeak&) = delete;
  HeapPeak& operator=(const HeapPeak&) = delete;

  // Ends the samples. The most that the heap has grown by since the constructor.
  uint64_t Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return most_;
  }

 private:
  static uint64_t Now() {
    if (kSanitized) return 0;  // a sanitizer's allocator has no mallinfo2
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }
  void Watch() {
    while (!stop_) {
      const uint64_t now = Now();
      most_ = std::max(most_, now > begin_ ? now - begin_ : 0);
      absl::SleepFor(absl::Milliseconds(1));
    }
  }

  const uint64_t begin_ = Now();
  std::atomic<bool> stop_{false};
  uint64_t most_ = 0;
  std::thread thread_;  // last: it uses the others
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_HEAP_PEAK_H_
