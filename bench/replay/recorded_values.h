// Values of recorded sizes. A recording has no values.
#ifndef BIGTABLE_BENCH_REPLAY_RECORDED_VALUES_H_
#define BIGTABLE_BENCH_REPLAY_RECORDED_VALUES_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/workload.h"

namespace bench {

// Each 64 bytes are half random and half zeros, so they compress to about a half. Thread-safe.
class RecordedValues {
 public:
  RecordedValues() : bytes_(kBuffer, '\0') {
    Random random(1);
    for (size_t i = 0; i < kBuffer; i += sizeof(uint64_t)) {
      if (i % 64 >= 32) continue;
      const uint64_t word = random.Next();
      std::memcpy(&bytes_[i], &word, sizeof word);
    }
  }
  std::string Next(uint64_t size) {
    const uint64_t from = next_.fetch_add(64 * 1021, std::memory_order_relaxed) % kBuffer;
    std::string value;
    value.reserve(size);
    for (uint64_t i = from; value.size() < size; i = 0) {
      value.append(bytes_, i, std::min<uint64_t>(size - value.size(), kBuffer - i));
    }
    return value;
  }

 private:
  static constexpr uint64_t kBuffer = 4 << 20;
  std::string bytes_;
  std::atomic<uint64_t> next_{0};
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_REPLAY_RECORDED_VALUES_H_
