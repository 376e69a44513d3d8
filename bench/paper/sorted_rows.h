// Rows in memory, added in any order and then sorted, for engines whose files must be written in
// order. Not slower than what this library has for the same purpose.
#ifndef BIGTABLE_BENCH_PAPER_SORTED_ROWS_H_
#define BIGTABLE_BENCH_PAPER_SORTED_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

class SortedRows {
 public:
  void Add(std::string_view key, std::string_view value) {
    const size_t size = key.size() + value.size();
    if (size > left_) {
      chunks_.push_back(std::make_unique_for_overwrite<char[]>(std::max(size, kChunk)));
      next_ = chunks_.back().get();
      left_ = std::max(size, kChunk);
    }
    std::memcpy(next_, key.data(), key.size());
    std::memcpy(next_ + key.size(), value.data(), value.size());
    rows_.push_back(
        {0, next_, static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size())});
    next_ += size;
    left_ -= size;
  }
  std::string_view key(size_t i) const { return KeyOf(rows_[i]); }
  std::string_view value(size_t i) const {
    return {rows_[i].at + rows_[i].key_size, rows_[i].value_size};
  }
  // Sorts with so many threads. Returns as many parts.
  std::vector<std::pair<size_t, size_t>> Sort(int threads) {
    std::vector<std::pair<size_t, size_t>> parts;
    if (rows_.empty()) return parts;
    std::string_view common = key(0);
    for (const Row& row : rows_) {
      const std::string_view other = KeyOf(row);
      size_t n = 0;
      while (n < std::min(common.size(), other.size()) && common[n] == other[n]) ++n;
      common = common.substr(0, n);
    }
    for (Row& row : rows_) {
      unsigned char bytes[8] = {};
      const std::string_view rest = KeyOf(row).substr(common.size());
      std::memcpy(bytes, rest.data(), std::min(sizeof bytes, rest.size()));
      for (const unsigned char byte : bytes) row.number = row.number << 8 | byte;
    }
    const auto less = [](const Row& a, const Row& b) {
      return a.number != b.number ? a.number < b.number : KeyOf(a) < KeyOf(b);
    };
    size_t begin = 0;
    for (int i = 1; i <= threads; ++i) {
      const size_t end = rows_.size() * static_cast<size_t>(i) / static_cast<size_t>(threads);
      if (i < threads) {
        std::nth_element(At(begin), At(end), rows_.end(), less);
      }
      parts.emplace_back(begin, end);
      begin = end;
    }
    std::vector<std::thread> sorting;
    for (const auto& [first, last] : parts) {
      sorting.emplace_back(
          [this, less, first = first, last = last] { std::sort(At(first), At(last), less); });
    }
    for (std::thread& thread : sorting) thread.join();
    return parts;
  }

 private:
  struct Row {
    uint64_t number;  // of the key behind what all keys have in common
    const char* at;   // the key, then the value
    uint32_t key_size;
    uint32_t value_size;
  };
  static constexpr size_t kChunk = 256 << 10;
  static std::string_view KeyOf(const Row& row) { return {row.at, row.key_size}; }
  std::vector<Row>::iterator At(size_t i) { return rows_.begin() + static_cast<ptrdiff_t>(i); }

  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  std::vector<Row> rows_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_PAPER_SORTED_ROWS_H_
