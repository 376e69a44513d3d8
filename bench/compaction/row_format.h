// The sizes of keys and values, and the keys of rows. Immutable.
#ifndef BIGTABLE_BENCH_COMPACTION_ROW_FORMAT_H_
#define BIGTABLE_BENCH_COMPACTION_ROW_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/workload.h"

namespace bench {

constexpr size_t kMostKeySize = 200;

// Number `n` in `size` decimal digits, 16 to kMostKeySize, so that keys sort as their numbers do.
class RowKey {
 public:
  RowKey(uint64_t n, size_t size) : size_(size) {
    for (size_t i = size; i-- > 0; n /= 10) digits_[i] = static_cast<char>('0' + n % 10);
  }
  std::string_view view() const { return {digits_.data(), size_}; }

 private:
  const size_t size_;
  std::array<char, kMostKeySize> digits_;
};

struct RowFormat {
  size_t key_size = kKeySize;
  size_t value_size = kValueSize;

  size_t row_size() const { return key_size + value_size; }
  // A row number of the workload is an even key, so that odd keys between them are missing.
  RowKey KeyOf(uint64_t row) const { return {2 * row, key_size}; }
  RowKey MissingKeyOf(uint64_t row) const { return {2 * row + 1, key_size}; }
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_ROW_FORMAT_H_
