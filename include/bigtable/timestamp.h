// The third dimension of a cell (section 2 of the paper, "Timestamps").
#ifndef BIGTABLE_TIMESTAMP_H_
#define BIGTABLE_TIMESTAMP_H_

#include <compare>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"

#include "bigtable/export.h"

namespace bigtable {

// Microseconds: since 1970 if the server assigns it, otherwise whatever the caller means. Not
// negative. Plain value.
//
// A column's cells are ordered by timestamp. The order of the writes counts only between equal
// timestamps. So a cell dated in the future hides every later write at the server's time, until
// that time is reached: Filter::Latest(1) returns the future cell. With GcRule::MaxVersions(1), the
// later writes return OK, are collected at once, and no read ever sees them. Use either the
// server's timestamps or the caller's in a column, not both. The info log has a warning when cells
// dated more than a day ahead are flushed into a family with MaxVersions.
//
// Timestamps that the server assigns increase strictly within a row, in the order of the writes. So
// the oldest cell of a column shows which writer came first. To claim a row, each claimant writes a
// cell with a qualifier of its own and reads the family; the smallest timestamp has the claim. A
// queue is a column that is written with the server's time and read from the oldest cell.
class BIGTABLE_EXPORT Timestamp {
 public:
  constexpr Timestamp() = default;
  constexpr explicit Timestamp(int64_t micros) : micros_(micros) {}
  // The time, rounded down to a microsecond.
  static Timestamp FromTime(absl::Time time) { return Timestamp(absl::ToUnixMicros(time)); }
  // The largest. As the end of a range of timestamps it is no end.
  static constexpr Timestamp Max() { return Timestamp(std::numeric_limits<int64_t>::max()); }

  constexpr int64_t micros() const { return micros_; }
  absl::Time ToTime() const { return absl::FromUnixMicros(micros_); }

  friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;

 private:
  int64_t micros_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TIMESTAMP_H_
