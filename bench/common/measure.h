// Measurements besides the clock.
#ifndef BIGTABLE_BENCH_COMMON_MEASURE_H_
#define BIGTABLE_BENCH_COMMON_MEASURE_H_

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bench {

// CPU time of all threads of this process, those that have ended included, in user and system mode.
absl::StatusOr<absl::Duration> CpuTime();
// The same for the calling thread only.
absl::Duration ThreadCpuTime();

// Bytes that this process has passed to write calls, of any kind and to anywhere.
absl::StatusOr<uint64_t> BytesWritten();

struct Memory {
  uint64_t anonymous = 0;
  uint64_t resident = 0;  // with the pages of mapped files
};
absl::StatusOr<Memory> ResidentMemory();

// Bytes allocated for the files below `directory`, be they written or preallocated.
absl::StatusOr<uint64_t> SpaceUsed(const std::string& directory);

// Syncs all files below `directory`, so that the kernel does not write them during the next
// measurement.
absl::Status SyncFileSystem(const std::string& directory);

// Times of single operations. Two readings of the clock cost up to a tenth of a fast read, so only
// one operation in `interval` is timed. One thread at a time.
class Latencies {
 public:
  Latencies(uint64_t interval, uint64_t operations) : interval_(interval) {
    nanoseconds_.reserve(operations / interval + 1);
  }

  // Runs `operation`, and returns its result.
  template <typename Operation>
  auto Time(Operation&& operation) {
    if (++untimed_ < interval_) return operation();
    untimed_ = 0;
    const auto start = std::chrono::steady_clock::now();
    auto result = operation();
    Record(std::chrono::steady_clock::now() - start);
    return result;
  }
  // Records an operation that the caller has timed. Times above 4.2 seconds count as 4.2.
  void Record(std::chrono::steady_clock::duration time) {
    const int64_t count = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
    nanoseconds_.push_back(static_cast<uint32_t>(count < std::numeric_limits<uint32_t>::max()
                                                     ? count
                                                     : std::numeric_limits<uint32_t>::max()));
  }

  void Add(const Latencies& other);
  // The time, in microseconds, that `share` of the operations do not exceed; share 0 to 1. Sorts
  // the recorded times; NaN if there are none.
  double Percentile(double share);

 private:
  uint64_t interval_;
  uint64_t untimed_ = 0;
  std::vector<uint32_t> nanoseconds_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_MEASURE_H_
