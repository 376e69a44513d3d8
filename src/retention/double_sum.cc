#include "retention/double_sum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/base/macros.h"

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "retention/number_form.h"

namespace bigtable {
namespace {

constexpr uint8_t kPlusInfinity = 0x01;
constexpr uint8_t kMinusInfinity = 0x02;
constexpr uint8_t kNan = 0x04;
constexpr uint8_t kNegative = 0x80;
constexpr uint8_t kNotFinite = kPlusInfinity | kMinusInfinity | kNan;

constexpr size_t kHeaderSize = 3;         // flags and zeros
constexpr int kSmallestExponent = -1074;  // of the unit that is counted
constexpr int kMantissaBits = 52;
constexpr uint64_t kMostExponent = 0x7ff;  // as a double has it: of infinities and NaNs

uint8_t ByteOf(std::string_view bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }

absl::Status NotASum(std::string_view what) {
  return absl::InvalidArgumentError(Cat("not the state of a sum of doubles: ", what));
}

// A well-formed state. The places of bytes are counted from the integer's lowest one.
struct Sum {
  uint8_t flags = 0;
  size_t low = 0;              // the place of the last byte of the magnitude
  std::string_view magnitude;  // empty: zero

  size_t end() const { return low + magnitude.size(); }
  bool is_zero() const { return magnitude.empty(); }
  bool is_negative() const { return (flags & kNegative) != 0; }
  unsigned ByteAt(size_t place) const {
    return place >= low && place < end() ? ByteOf(magnitude, end() - 1 - place) : 0;
  }
};

Sum ParseChecked(std::string_view state) {
  Sum sum;
  sum.flags = ByteOf(state, 0);
  if (state.size() == 1) return sum;
  sum.low = size_t{ByteOf(state, 1)} << 8 | ByteOf(state, 2);
  sum.magnitude = state.substr(kHeaderSize);
  return sum;
}

absl::Status CheckForm(std::string_view state, size_t most_bytes) {
  if (state.empty()) return NotASum("it is empty");
  const uint8_t flags = ByteOf(state, 0);
  if ((flags & ~(kNotFinite | kNegative)) != 0) return NotASum(Cat("its flags are ", flags));
  if (state.size() == 1) {
    return (flags & kNegative) == 0 ? absl::OkStatus() : NotASum("its zero is negative");
  }
  if (state.size() <= kHeaderSize) return NotASum(Cat("it has ", state.size(), " bytes"));
  const Sum sum = ParseChecked(state);
  if (sum.magnitude.front() == '\0' || sum.magnitude.back() == '\0') {
    return NotASum("its magnitude begins or ends with a zero byte");
  }
  if (sum.end() <= most_bytes) return absl::OkStatus();
  return NotASum(
      Cat("its number has ", sum.end(), " bytes, and at most ", most_bytes, " are allowed"));
}

// Whether |a| < |b|. The first bytes of both are not zero, nor are the last.
bool IsLess(const Sum& a, const Sum& b) {
  return a.end() != b.end() ? a.end() < b.end() : a.magnitude < b.magnitude;
}

// The integer while it is computed, in an array that is filled from its end.
class Digits {
 public:
  explicit Digits(size_t low) : low_(low) {}

  // The byte above those that were added before.
  void Add(unsigned byte) {
    ABSL_ASSERT(first_ > 0 && "the caller has checked the sizes");
    bytes_[--first_] = static_cast<char>(byte);
  }
  // As a state. Zero is never negative.
  void Store(uint8_t not_finite, bool is_negative, std::string* state) const {
    std::string_view magnitude(bytes_.data() + first_, bytes_.size() - first_);
    magnitude.remove_prefix(std::min(magnitude.find_first_not_of('\0'), magnitude.size()));
    if (magnitude.empty()) {
      state->assign(1, static_cast<char>(not_finite));
      return;
    }
    const size_t zeros = magnitude.size() - 1 - magnitude.find_last_not_of('\0');
    magnitude.remove_suffix(zeros);
    const size_t low = low_ + zeros;
    state->resize(kHeaderSize + magnitude.size());
    (*state)[0] = static_cast<char>(not_finite | (is_negative ? kNegative : 0));
    (*state)[1] = static_cast<char>(low >> 8);
    (*state)[2] = static_cast<char>(low);
    std::copy(magnitude.begin(), magnitude.end(), state->begin() + kHeaderSize);
  }

 private:
  const size_t low_;
  std::array<char, DoubleSum::kMostBytes + 1> bytes_;  // with a carry
  size_t first_ = bytes_.size();
};

void AddMagnitudes(const Sum& a, const Sum& b, Digits* sum) {
  unsigned carry = 0;
  for (size_t place = std::min(a.low, b.low); place < std::max(a.end(), b.end()); ++place) {
    carry += a.ByteAt(place) + b.ByteAt(place);
    sum->Add(carry & 0xff);
    carry >>= 8;
  }
  sum->Add(carry);
}

// |larger| - |smaller|.
void SubtractMagnitudes(const Sum& larger, const Sum& smaller, Digits* difference) {
  unsigned borrow = 0;
  for (size_t place = std::min(larger.low, smaller.low); place < larger.end(); ++place) {
    const unsigned byte = larger.ByteAt(place) - smaller.ByteAt(place) - borrow;
    difference->Add(byte & 0xff);
    borrow = byte >> 8 & 1;  // it has wrapped around
  }
  ABSL_ASSERT(borrow == 0 && "the larger one is at least the smaller one");
}

// The finite parts, neither of which is zero; `state` may be where one of them is.
void AddFinite(const Sum& a, const Sum& b, uint8_t not_finite, std::string* state) {
  Digits digits(std::min(a.low, b.low));
  bool is_negative = a.is_negative();
  if (a.is_negative() == b.is_negative()) {
    AddMagnitudes(a, b, &digits);
  } else if (IsLess(a, b)) {
    SubtractMagnitudes(b, a, &digits);
    is_negative = b.is_negative();
  } else {
    SubtractMagnitudes(a, b, &digits);
  }
  digits.Store(not_finite, is_negative, state);
}

// Its highest bits as an integer: at least 57, of which the lowest is set if lower ones are.
double FiniteValue(const Sum& sum) {
  uint64_t high = 0;
  const size_t size = std::min(sum.magnitude.size(), sizeof high);
  for (size_t i = 0; i < size; ++i) high = high << 8 | ByteOf(sum.magnitude, i);
  if (size < sum.magnitude.size()) high |= 1;
  const auto place = static_cast<int>(sum.end() - size);
  // Only the conversion rounds. A result below the normal doubles has at most 52 bits: it is exact.
  const double value = std::ldexp(static_cast<double>(high), 8 * place + kSmallestExponent);
  return sum.is_negative() ? -value : value;
}

}  // namespace

absl::Status DoubleSum::CheckInput(std::string_view input) const { return CheckNumber(input); }

absl::Status DoubleSum::CheckState(std::string_view state) const {
  return CheckForm(state, kMostWrittenBytes);
}

std::string DoubleSum::StateOf(std::string_view input) const {
  const uint64_t bits = LoadBigEndian64(input.data());
  const bool is_negative = bits >> 63 != 0;
  const uint64_t exponent = bits >> kMantissaBits & kMostExponent;
  uint64_t mantissa = bits & ((uint64_t{1} << kMantissaBits) - 1);
  std::string state;
  if (exponent == kMostExponent) {
    const uint8_t infinity = is_negative ? kMinusInfinity : kPlusInfinity;
    state.assign(1, static_cast<char>(mantissa != 0 ? kNan : infinity));
    return state;
  }
  // Without the leading one bit the exponent 0 is that of 1.
  if (exponent != 0) mantissa |= uint64_t{1} << kMantissaBits;
  const uint64_t shift = exponent == 0 ? 0 : exponent - 1;
  Digits digits(shift / 8);
  for (mantissa <<= shift % 8; mantissa != 0; mantissa >>= 8) digits.Add(mantissa & 0xff);
  digits.Store(0, is_negative, &state);
  return state;
}

absl::Status DoubleSum::Merge(std::string_view older, std::string* state) const {
  BT_RETURN_IF_ERROR(CheckForm(older, kMostBytes));
  BT_RETURN_IF_ERROR(CheckForm(*state, kMostBytes));
  const Sum a = ParseChecked(older), b = ParseChecked(*state);
  const uint8_t not_finite = (a.flags | b.flags) & kNotFinite;
  if (!a.is_zero() && !b.is_zero()) {
    AddFinite(a, b, not_finite, state);
    return absl::OkStatus();
  }
  const bool is_negative = a.is_negative() || b.is_negative();
  if (b.is_zero()) state->assign(older);
  (*state)[0] = static_cast<char>(not_finite | (is_negative ? kNegative : 0));
  return absl::OkStatus();
}

double DoubleSum::Value(std::string_view state) {
  ABSL_ASSERT(CheckForm(state, kMostBytes).ok() && "the caller has checked it");
  const Sum sum = ParseChecked(state);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (sum.flags & kNotFinite) {
    case 0:
      return FiniteValue(sum);
    case kPlusInfinity:
      return kInfinity;
    case kMinusInfinity:
      return -kInfinity;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

absl::StatusOr<double> DoubleSumValue(std::string_view state) {
  BT_RETURN_IF_ERROR(CheckForm(state, DoubleSum::kMostBytes));
  return DoubleSum::Value(state);
}

}  // namespace bigtable
