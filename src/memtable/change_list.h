// The changes of a table with a change stream that a memtable notes beside its entries: each
// mutation of the tablet once, whole, in the order of the commits. They are flushed together with
// the memtable (changes/change_file.h).
//
// One thread adds, any number of threads read without locks, and no thread waits for another.
#ifndef BIGTABLE_MEMTABLE_CHANGE_LIST_H_
#define BIGTABLE_MEMTABLE_CHANGE_LIST_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

#include "absl/base/macros.h"

#include "base/arena.h"
#include "base/sequence.h"

namespace bigtable {

// A mutation that was committed. A view: what has made it keeps the bytes.
struct LoggedChange {
  SequenceNumber sequence = 0;
  // The last number of its batch, over all tablets; 0: it was applied alone.
  SequenceNumber batch = 0;
  int64_t micros = 0;  // the server timestamp: when it was committed, ascending in its tablet
  std::string_view row;
  std::string_view operations;  // schema/mutation_format.h
};

class ChangeList {
 public:
  ChangeList() = default;
  ChangeList(const ChangeList&) = delete;
  ChangeList& operator=(const ChangeList&) = delete;

  // The bytes of `change` live as long as the list, and so does `arena`, which gets the list's own
  // memory. Only for the memtable's writer.
  void Add(const LoggedChange& change, Arena* arena) {
    const size_t size = size_.load(std::memory_order_relaxed);
    const auto [chunk, offset] = PlaceOf(size);
    LoggedChange* memory = chunks_[chunk].load(std::memory_order_relaxed);
    if (offset == 0) {
      memory = reinterpret_cast<LoggedChange*>(
          arena->Allocate((kFirstChunk << chunk) * sizeof(LoggedChange)));
      chunks_[chunk].store(memory, std::memory_order_relaxed);
    }
    new (memory + offset) LoggedChange(change);
    if (change.sequence <= last_) ascends_.store(false, std::memory_order_relaxed);
    last_ = change.sequence;
    size_.store(size + 1, std::memory_order_release);
  }

  // --- Any thread ---

  size_t size() const { return size_.load(std::memory_order_acquire); }
  // Requires i < size().
  const LoggedChange& at(size_t i) const {
    const auto [chunk, offset] = PlaceOf(i);
    return chunks_[chunk].load(std::memory_order_relaxed)[offset];
  }
  // Whether the sequence numbers ascend. They do unless a sorted log was replayed, which is before
  // the tablet is served.
  bool ascends() const { return ascends_.load(std::memory_order_relaxed); }
  // The number of changes among the first `size` that have sequence numbers up to `sequence`.
  // Requires that they ascend.
  size_t CountThrough(SequenceNumber sequence, size_t size) const {
    ABSL_ASSERT(ascends() && "a binary search needs an order");
    size_t low = 0;
    for (size_t high = size; low < high;) {
      const size_t middle = low + (high - low) / 2;
      if (at(middle).sequence <= sequence) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

 private:
  // Chunk k has kFirstChunk * 2^k changes, so that neither a change nor a chunk ever moves.
  static constexpr size_t kFirstChunk = 16;
  static constexpr size_t kMostChunks = 40;

  struct Place {
    size_t chunk;
    size_t offset;
  };
  static Place PlaceOf(size_t i) {
    const size_t chunk = static_cast<size_t>(std::bit_width(i / kFirstChunk + 1)) - 1;
    return {chunk, i - kFirstChunk * ((size_t{1} << chunk) - 1)};
  }

  std::array<std::atomic<LoggedChange*>, kMostChunks> chunks_{};
  std::atomic<size_t> size_{0};
  std::atomic<bool> ascends_{true};
  SequenceNumber last_ = 0;  // the writer's
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMTABLE_CHANGE_LIST_H_
