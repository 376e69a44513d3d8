// Shared by the micro-benchmarks: the entries of the paper's benchmark, as in memtables and
// SSTables, and error handling.
#ifndef BIGTABLE_BENCH_MICRO_COMMON_H_
#define BIGTABLE_BENCH_MICRO_COMMON_H_

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "benchmark/benchmark.h"

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "common/workload.h"

namespace bigtable {

// Small values show the cost of an entry, large ones the cost of its bytes.
constexpr size_t kSmallValue = 10;
constexpr size_t kLargeValue = bench::kValueSize;

inline std::vector<uint32_t> AscendingRows(uint32_t rows) {
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  return order;
}
// Each once.
inline std::vector<uint32_t> ShuffledRows(uint32_t rows) { return bench::Permutation(rows, 1); }
// `n` of the rows, at random.
inline std::vector<uint32_t> DrawnRows(uint32_t rows, size_t n) {
  bench::Random random(2);
  std::vector<uint32_t> drawn(n);
  for (uint32_t& row : drawn) row = static_cast<uint32_t>(random.Below(rows));
  return drawn;
}

// The only entry of a row: a cell in column "f:q".
inline std::string EntryKeyOf(uint64_t row, uint64_t sequence) {
  std::string key = RowPrefix(bench::Key(row).view());
  AppendColumn(&key, "f", "q");
  AppendTrailer(&key, /*timestamp=*/1, {.sequence = sequence}, EntryKind::kCell);
  return key;
}
inline std::string EntryKeyOf(uint64_t row) { return EntryKeyOf(row, row + 1); }
// The seek target of a read of the row.
inline std::string SeekTargetOf(uint64_t row) { return RowPrefix(bench::Key(row).view()); }

// Random bytes, `size` of them, at most kLargeValue.
inline std::string_view ValueOf(uint64_t row, size_t size) {
  static const bench::Values values;
  return values.Of(row).substr(0, size);
}

// Keys of one size, made beforehand and adjacent in memory, so that the next one is in the CPU's
// cache when the timed loop needs it.
class KeyList {
 public:
  KeyList(const std::vector<uint32_t>& rows, std::string (*key_of)(uint64_t row))
      : size_(rows.size()) {
    for (const uint32_t row : rows) bytes_ += key_of(row);
    key_size_ = bytes_.size() / size_;
  }
  size_t size() const { return size_; }
  std::string_view operator[](size_t i) const { return {bytes_.data() + i * key_size_, key_size_}; }
  // The keys in turn, and from the first again.
  std::string_view Next() {
    if (next_ == size_) next_ = 0;
    return (*this)[next_++];
  }

 private:
  const size_t size_;
  std::string bytes_;
  size_t key_size_;
  size_t next_ = 0;
};

// Whether there was an error: then the benchmark shows it instead of a time, and must leave its
// loop.
inline bool Failed(benchmark::State& state, const absl::Status& status) {
  if (status.ok()) [[likely]]
    return false;
  state.SkipWithError(std::string(status.ToString()).c_str());
  return true;
}
// The same for a cursor that must be at an entry.
inline bool Missed(benchmark::State& state, const EntryCursor& cursor) {
  if (cursor.valid()) [[likely]]
    return false;
  return Failed(state,
                cursor.status().ok() ? absl::NotFoundError("no entry there") : cursor.status());
}

}  // namespace bigtable

#endif  // BIGTABLE_BENCH_MICRO_COMMON_H_
