// The smallest and the largest of doubles. A state is such a double, as an input is: 8 bytes,
// big-endian.
//
// Numbers have one order, so that neither the order nor the grouping of contributions matters:
//
//   -infinity < ... < -0.0 < +0.0 < ... < +infinity
//
// A NaN beside a number is ignored, as fmin and fmax do. The smallest or largest of NaNs alone is
// the NaN 7ff8000000000000, whatever their signs and payloads; a state has no other.
//
// Worked examples of minima: of 1.5 and -2.0 c000000000000000 (-2.0); of +0.0 and -0.0
// 8000000000000000; of fff8000000000001 and 1.5 3ff8000000000000 (1.5).
#ifndef BIGTABLE_RETENTION_DOUBLE_EXTREMES_H_
#define BIGTABLE_RETENTION_DOUBLE_EXTREMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/aggregate.h"

namespace bigtable {

// Thread-safe.
class DoubleExtreme : public AggregateOperator {
 public:
  absl::Status CheckInput(std::string_view input) const override;
  absl::Status CheckState(std::string_view state) const override;
  std::string StateOf(std::string_view input) const override;
  // Takes any NaN.
  absl::Status Merge(std::string_view older, std::string* state) const override;

 protected:
  explicit DoubleExtreme(bool is_largest) : is_largest_(is_largest) {}

 private:
  // Of the bits of two doubles.
  uint64_t Extreme(uint64_t a, uint64_t b) const;

  const bool is_largest_;
};

class DoubleMin final : public DoubleExtreme {
 public:
  DoubleMin() : DoubleExtreme(false) {}
};

class DoubleMax final : public DoubleExtreme {
 public:
  DoubleMax() : DoubleExtreme(true) {}
};

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_DOUBLE_EXTREMES_H_
