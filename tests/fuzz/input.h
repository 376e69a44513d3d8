// Takes apart the bytes of a fuzz target: small numbers and pieces, from the front. At the end it
// gives zeros and empty pieces. One thread at a time.
#ifndef BIGTABLE_TESTS_FUZZ_INPUT_H_
#define BIGTABLE_TESTS_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace bigtable {

class FuzzInput {
 public:
  explicit FuzzInput(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }
  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  // Below `n`, which is not 0.
  uint8_t Below(uint8_t n) { return static_cast<uint8_t>(Byte() % n); }
  // Lowest byte first.
  uint64_t Number(int bytes = 8) {
    uint64_t number = 0;
    for (int i = 0; i < bytes; ++i) number |= uint64_t{Byte()} << (8 * i);
    return number;
  }
  // A piece that has its size, two bytes, before it.
  std::string_view Piece() {
    const size_t stated = Number(2);
    const size_t size = std::min(stated, rest_.size());
    const std::string_view piece = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return piece;
  }
  std::string_view Rest() { return std::exchange(rest_, {}); }

 private:
  std::string_view rest_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_FUZZ_INPUT_H_
