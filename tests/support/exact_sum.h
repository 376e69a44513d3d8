// A sum of doubles, computed in the tests' own way: one counter for each byte of the number, which
// is carried only in the end. It writes and reads the form of retention/double_sum.h.
#ifndef BIGTABLE_TESTS_SUPPORT_EXACT_SUM_H_
#define BIGTABLE_TESTS_SUPPORT_EXACT_SUM_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bigtable {

class ExactSum {
 public:
  static constexpr size_t kBytes = 600;

  ExactSum& Add(double number, int64_t times = 1) {
    if (std::isnan(number)) {
      flags_ |= 4;
    } else if (std::isinf(number)) {
      flags_ |= number > 0 ? 1 : 2;
    } else {
      AddFinite(number, times);
    }
    return *this;
  }
  // A state of the engine's.
  ExactSum& AddState(std::string_view state) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(state[i]); };
    flags_ |= byte(0) & 7;
    const int64_t sign = byte(0) >= 0x80 ? -1 : 1;
    if (state.size() == 1) return *this;
    size_t place = byte(1) * size_t{256} + byte(2);
    for (size_t i = state.size(); i > 3; --i) bytes_[place++] += sign * byte(i - 1);
    return *this;
  }

  // -1, 0 or 1, of the finite part.
  int Sign() const {
    const Carried sum = Carry();
    for (const int64_t byte : sum.bytes) {
      if (byte != 0) return sum.is_negative ? -1 : 1;
    }
    return 0;
  }

  std::string State() const {
    const Carried sum = Carry();
    size_t low = 0, end = kBytes;
    while (low < kBytes && sum.bytes[low] == 0) ++low;
    if (low == kBytes) return std::string(1, static_cast<char>(flags_));
    while (sum.bytes[end - 1] == 0) --end;
    std::string state = {static_cast<char>(flags_ + (sum.is_negative ? 0x80 : 0)),
                         static_cast<char>(low / 256), static_cast<char>(low % 256)};
    for (size_t i = end; i > low; --i) state.push_back(static_cast<char>(sum.bytes[i - 1]));
    return state;
  }

 private:
  struct Carried {
    bool is_negative;
    std::array<int64_t, kBytes> bytes;  // from the lowest, each from 0 to 255: of the magnitude
  };

  void AddFinite(double number, int64_t times) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(number), &exponent);
    // The bits after the point, one after the other; the last place is 2^-1074.
    double rest = fraction;
    for (int place = exponent - 1 + 1074; rest != 0 && place >= 0; --place) {
      rest *= 2;
      if (rest < 1) continue;
      rest -= 1;
      bytes_[static_cast<size_t>(place / 8)] +=
          (int64_t{1} << (place % 8)) * (number < 0 ? -times : times);
    }
  }
  static int64_t CarryInto(const std::array<int64_t, kBytes>& from, int64_t sign,
                           std::array<int64_t, kBytes>* to) {
    int64_t carry = 0;
    for (size_t i = 0; i < kBytes; ++i) {
      carry += sign * from[i];
      (*to)[i] = carry & 255;
      carry >>= 8;
    }
    return carry;
  }
  Carried Carry() const {
    Carried sum{};
    sum.is_negative = CarryInto(bytes_, 1, &sum.bytes) < 0;
    if (sum.is_negative) CarryInto(bytes_, -1, &sum.bytes);
    return sum;
  }

  std::array<int64_t, kBytes> bytes_{};  // from the lowest, each of any size and sign
  int flags_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_EXACT_SUM_H_
