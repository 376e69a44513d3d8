// Whether the pages of a mapped file that were not touched yet are taken to be in memory without
// asking the kernel. To ask (mincore) takes a third of the time that it takes to bring pages which
// are there into the page table, and pages that nobody has touched are there together, mostly: a
// file that was just written, or just copied, or none of a file that was not read for long.
//
// So a file is trusted once some stretches of it, one after the other, were asked for and were
// there, until a page turns out to be missing. After each time that it was trusted wrongly it takes
// several times as many stretches to be trusted again: what the page faults cost that asking would
// have saved is bounded by the logarithm of the file's size.
//
// Thread-safe. Only advice: a wrong one costs time.
#ifndef BIGTABLE_SSTABLE_RESIDENCY_TRUST_H_
#define BIGTABLE_SSTABLE_RESIDENCY_TRUST_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace bigtable {

class ResidencyTrust {
 public:
  bool is_trusted() const {
    return found_.load(std::memory_order_relaxed) >= needed_.load(std::memory_order_relaxed);
  }

  // A stretch was asked for, and was in memory or was not.
  void NoteFound() { found_.fetch_add(1, std::memory_order_relaxed); }
  void NoteMissing() { found_.store(0, std::memory_order_relaxed); }
  // A stretch was not asked for, and was not in memory.
  void NoteWrong() {
    NoteMissing();
    const uint32_t needed = needed_.load(std::memory_order_relaxed);
    needed_.store(std::min(needed, kMost) * kLonger, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kFirst = 4;
  static constexpr uint32_t kLonger = 8;
  static constexpr uint32_t kMost = 1 << 24;

  std::atomic<uint32_t> found_{0};  // since one was missing
  std::atomic<uint32_t> needed_{kFirst};
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_RESIDENCY_TRUST_H_
