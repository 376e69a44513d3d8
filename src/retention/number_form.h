// Numbers as the values of aggregates: 8 bytes, big-endian, of an int64_t in two's complement or of
// a double of IEEE 754. Pure functions.
#ifndef BIGTABLE_RETENTION_NUMBER_FORM_H_
#define BIGTABLE_RETENTION_NUMBER_FORM_H_

#include <bit>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "base/strings.h"

namespace bigtable {

inline absl::Status CheckNumber(std::string_view number) {
  if (number.size() == sizeof(int64_t)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("a number has 8 bytes, big-endian, and ", Quoted(number), " has ", number.size()));
}

// The one NaN among the bits of doubles that is written: it is quiet, and has no sign or payload.
inline constexpr uint64_t kNanBits = 0x7ff8000000000000;

inline constexpr bool IsNan(uint64_t bits) {
  return (bits & ~(uint64_t{1} << 63)) > 0x7ff0000000000000;
}

inline uint64_t BitsOf(double number) {
  const auto bits = std::bit_cast<uint64_t>(number);
  return IsNan(bits) ? kNanBits : bits;
}

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_NUMBER_FORM_H_
