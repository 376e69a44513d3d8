// The third dimension of a cell (section 2 of the paper, "Timestamps").
#ifndef BIGTABLE_TIMESTAMP_H_
#define BIGTABLE_TIMESTAMP_H_

#include <compare>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"

namespace bigtable {

// Microseconds; since 1970 where the server assigns it, whatever the caller means otherwise. Not
// negative. Plain value.
class Timestamp {
 public:
  constexpr Timestamp() = default;
  constexpr explicit Timestamp(int64_t micros) : micros_(micros) {}
  static Timestamp FromTime(absl::Time time) { return Timestamp(absl::ToUnixMicros(time)); }
  static constexpr Timestamp Max() { return Timestamp(std::numeric_limits<int64_t>::max()); }

  constexpr int64_t micros() const { return micros_; }
  absl::Time ToTime() const { return absl::FromUnixMicros(micros_); }

  friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;

 private:
  int64_t micros_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TIMESTAMP_H_
