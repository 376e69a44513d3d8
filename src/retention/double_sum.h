// A sum of doubles that is exact, so that it depends neither on the order nor on the grouping in
// which compactions and reads merge its contributions, as a rounded sum would.
//
// Every finite double is an integer multiple of 2^-1074, the smallest one. The finite part of a sum
// is kept as this integer, whatever its size: a sum beyond the largest double is exact too.
//
// The state as bytes, in the only form that a sum has:
//
//   +-------+-----------+-------------------+
//   | flags | zeros     | magnitude         |    zeros and magnitude: not there if the finite sum
//   | 1     | 2         | 1 to kMostBytes   |    is zero
//   +-------+-----------+-------------------+
//   flags      bit 0: +infinity was added; bit 1: -infinity; bit 2: a NaN; bit 7: the finite sum is
//              negative, which zero is not. The others are 0.
//   zeros      big-endian; how many zero bytes the integer has below its lowest byte that is not
//              zero
//   magnitude  the integer's other bytes, big-endian: neither the first nor the last is zero
//
// `zeros` and the magnitude have together at most kMostBytes. MergeToCell takes at most
// kMostWrittenBytes, which hold 2^64 times the largest double. Merged ones may be larger: no number
// of merges that can be done reaches kMostBytes, so a cell stays readable.
//
// Worked examples:
//   0.0 and -0.0      00
//   5e-324, 2^-1074   00 | 00 00 | 01
//   1.0, 2^1074       00 | 00 86 | 04                      134 zero bytes, 2^(1074 - 8 * 134) = 4
//   -1.5              80 | 00 86 | 06
//   0.1               00 | 00 7f | 66 66 66 66 66 66 68
//   1.0 + 2^-1074     00 | 00 00 | 04, 133 times 00, 01
//   -infinity + 1.0   02 | 00 86 | 04
#ifndef BIGTABLE_RETENTION_DOUBLE_SUM_H_
#define BIGTABLE_RETENTION_DOUBLE_SUM_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/aggregate.h"

namespace bigtable {

// Thread-safe.
class DoubleSum final : public AggregateOperator {
 public:
  static constexpr size_t kMostWrittenBytes = 272;
  static constexpr size_t kMostBytes = 512;

  // A double of 8 bytes (EncodeDouble).
  absl::Status CheckInput(std::string_view input) const override;
  absl::Status CheckState(std::string_view state) const override;
  std::string StateOf(std::string_view input) const override;
  absl::Status Merge(std::string_view older, std::string* state) const override;

  // The double that is nearest to the sum. Requires a state that Merge takes.
  static double Value(std::string_view state);
};

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_DOUBLE_SUM_H_
