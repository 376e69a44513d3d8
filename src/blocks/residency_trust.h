// Whether pages of a mapped file that were not touched yet are assumed to be in memory without
// querying the kernel. A query (mincore) takes a third of the time that it takes to map pages that
// are in memory. Pages that were not touched are mostly in memory together: all pages of a file
// that was just written or copied, and none of a file that was not read for long.
//
// So a file is trusted once several consecutive queries have found their ranges in memory, until a
// page is missing. Each time the trust was wrong, several times as many queries are needed before
// the file is trusted again. So the cost of page faults that queries would have avoided is bounded
// by the logarithm of the file's size.
//
// Thread-safe. It is a hint: a wrong one only costs time.
#ifndef BIGTABLE_BLOCKS_RESIDENCY_TRUST_H_
#define BIGTABLE_BLOCKS_RESIDENCY_TRUST_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace bigtable {

class ResidencyTrust {
 public:
  bool is_trusted() const {
    return found_.load(std::memory_order_relaxed) >= needed_.load(std::memory_order_relaxed);
  }

  // A range was queried, and was in memory or was not.
  void CountFound() { found_.fetch_add(1, std::memory_order_relaxed); }
  void CountMissing() { found_.store(0, std::memory_order_relaxed); }
  // A range was not queried, and was not in memory.
  void RecordWrong() {
    CountMissing();
    const uint32_t needed = needed_.load(std::memory_order_relaxed);
    needed_.store(std::min(needed, kMost) * kLonger, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kFirst = 4;
  static constexpr uint32_t kLonger = 8;
  static constexpr uint32_t kMost = 1 << 24;

  std::atomic<uint32_t> found_{0};  // since the last that was missing
  std::atomic<uint32_t> needed_{kFirst};
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_RESIDENCY_TRUST_H_
