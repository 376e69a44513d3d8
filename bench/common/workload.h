// Keys, values, and the order of writes and reads. The same for every engine.
#ifndef BIGTABLE_BENCH_COMMON_WORKLOAD_H_
#define BIGTABLE_BENCH_COMMON_WORKLOAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

constexpr size_t kKeySize = 16;
constexpr size_t kValueSize = 1000;

// SplitMix64: a few cycles a number, so that its cost is negligible compared to an operation.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t Next() { return Mix(state_ += 0x9e3779b97f4a7c15); }
  // Below `n`, which is at most 2^32.
  uint64_t Below(uint64_t n) { return ((Next() >> 32) * n) >> 32; }

 private:
  uint64_t state_;
};

// Row number `n` as sixteen decimal digits, so that keys sort as their numbers do.
class Key {
 public:
  explicit Key(uint64_t n) {
    for (size_t i = kKeySize; i-- > 0; n /= 10) digits_[i] = static_cast<char>('0' + n % 10);
  }
  std::string_view view() const { return {digits_.data(), digits_.size()}; }

 private:
  std::array<char, kKeySize> digits_;
};

// The keys of the first rows of all parts but the first, if `rows` rows are divided into `parts`
// parts as evenly as possible.
inline std::vector<std::string> EvenSplitRows(uint64_t rows, uint64_t parts) {
  std::vector<std::string> keys;
  for (uint64_t i = 1; i < parts; ++i) keys.emplace_back(Key(rows * i / parts).view());
  return keys;
}

// The value of each row: a slice of one buffer of random bytes. So compression has no effect, and a
// value costs only the copy that the engine makes of it. Thread-safe once constructed.
class Values {
 public:
  explicit Values(size_t value_size = kValueSize)
      : bytes_(kBufferSize, '\0'), value_size_(value_size) {
    Random random(1);
    for (size_t i = 0; i < kBufferSize; i += sizeof(uint64_t)) {
      const uint64_t word = random.Next();
      std::memcpy(&bytes_[i], &word, sizeof(word));
    }
  }
  std::string_view Of(uint64_t row) const {
    return {bytes_.data() + Random::Mix(row) % (kBufferSize - value_size_), value_size_};
  }

 private:
  static constexpr size_t kBufferSize = 4 << 20;
  std::string bytes_;
  const size_t value_size_;  // less than kBufferSize
};

// The rows 0 to `rows` - 1, each once, in a pseudo-random order.
inline std::vector<uint32_t> Permutation(uint64_t rows, uint64_t seed) {
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  for (uint64_t i = rows; i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  return order;
}

// Reads a word of every cache line of `value`, so that an engine that returns a view has loaded the
// same bytes as one that copies them.
inline void Touch(std::string_view value) {
  constexpr size_t kCacheLine = 64;
  uint64_t sum = 0;
  uint64_t word = 0;
  for (size_t i = 0; i + sizeof(word) <= value.size(); i += kCacheLine) {
    std::memcpy(&word, value.data() + i, sizeof(word));
    sum += word;
  }
  if (value.size() >= sizeof(word)) {  // the last line, if the value is not aligned
    std::memcpy(&word, value.data() + value.size() - sizeof(word), sizeof(word));
    sum += word;
  }
  asm volatile("" : : "r"(sum));  // the sum counts as used
}

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_WORKLOAD_H_
