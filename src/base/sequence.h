// Sequence numbers: the order of all mutations of a database, in memory, in the log and on disk.
#ifndef BIGTABLE_BASE_SEQUENCE_H_
#define BIGTABLE_BASE_SEQUENCE_H_

#include <atomic>
#include <compare>
#include <cstdint>

#include "absl/base/macros.h"

namespace bigtable {

// Every row mutation has its own; the first is 1. They fit into 56 bits: a million per second for
// two thousand years.
using SequenceNumber = uint64_t;
inline constexpr SequenceNumber kMaxSequence = (uint64_t{1} << 56) - 1;

// A table or a family that is created leaves so many numbers unused: entries that are ingested as
// older than everything else get them (master/ingestion.h).
inline constexpr uint64_t kLeftForOldest = 4096;

// Both ends are in it.
struct SequenceRange {
  SequenceNumber first = 0;
  SequenceNumber last = 0;

  bool has(SequenceNumber sequence) const { return first <= sequence && sequence <= last; }
  friend bool operator==(const SequenceRange&, const SequenceRange&) = default;
};

// The operations of one mutation are numbered from 0 in call order.
inline constexpr uint32_t kMaxOrdinal = (uint32_t{1} << 24) - 1;

// The order of an entry among all writes: (sequence, ordinal).
struct EntryVersion {
  SequenceNumber sequence = 0;
  uint32_t ordinal = 0;

  friend auto operator<=>(const EntryVersion&, const EntryVersion&) = default;
};

// Assigns sequence numbers. Thread-safe.
class SequenceSource {
 public:
  explicit SequenceSource(SequenceNumber last = 0) : last_(last) {}
  SequenceSource(const SequenceSource&) = delete;
  SequenceSource& operator=(const SequenceSource&) = delete;

  // Takes `count` consecutive numbers and returns the first.
  SequenceNumber Take(uint64_t count) {
    ABSL_ASSERT(count > 0 && "the first number is the caller's only if it takes one");
    return last_.fetch_add(count) + 1;
  }
  // The largest number assigned so far.
  SequenceNumber last() const { return last_.load(); }
  // Numbers up to `sequence` are in use: recovery found them.
  void AdvanceTo(SequenceNumber sequence) {
    SequenceNumber last = last_.load();
    while (last < sequence && !last_.compare_exchange_weak(last, sequence)) {
    }
  }

 private:
  std::atomic<SequenceNumber> last_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_SEQUENCE_H_
