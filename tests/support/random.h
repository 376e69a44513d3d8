// Random choices that are the same on every machine, unlike those of the standard library's
// distributions. One thread at a time.
#ifndef BIGTABLE_TESTS_SUPPORT_RANDOM_H_
#define BIGTABLE_TESTS_SUPPORT_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace bigtable {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64.
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // In [0, n); n >= 1.
  uint64_t Below(uint64_t n) { return Next() % n; }
  // In [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Below(static_cast<uint64_t>(high - low) + 1));
  }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  // One element of a container that is not empty.
  template <typename Container>
  const auto& Pick(const Container& container) {
    return container[Below(container.size())];
  }
  // Bytes that do not compress.
  std::string Bytes(size_t n) {
    std::string bytes(n, '\0');
    for (size_t i = 0; i < n; i += 8) {
      const uint64_t word = Next();
      for (size_t j = i; j < n && j < i + 8; ++j) {
        bytes[j] = static_cast<char>(word >> (8 * (j - i)) & 0xff);
      }
    }
    return bytes;
  }

 private:
  uint64_t state_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_RANDOM_H_
