// A HyperLogLog: counts distinct inputs in a fixed number of registers, by the longest run of zero
// bits among the hashes of each register.
//
// The state as bytes. Precision: 14 bits of the hash choose one of 2^14 registers; a register's
// rank is 1 plus the number of zero bits before the first one bit of the other 50: 1 to 51.
//
//   sparse   +------+---------+---------+----        ascending, one for each register that is not
//            | 01   | entry   | entry   | ...        zero; at most kMostSparse
//            | 1    | 3       | 3       |            entry = register << 6 | rank, big-endian
//            +------+---------+---------+----
//   dense    +------+---------------------+
//            | 02   | rank of each        |          0: the register is zero
//            | 1    | register, 2^14      |
//            +------+---------------------+
//
// A state becomes dense when it would have more than kMostSparse entries, and stays dense. The hash
// is XXH3 of 64 bits with seed 0: like the layout it is on disk, and never changes.
//
// Worked example: no input is 01. An input whose hash is 0x0004000000000001 has the register 1 and
// 49 zero bits before its one: 01 | 00 00 72.
#ifndef BIGTABLE_RETENTION_HYPER_LOG_LOG_H_
#define BIGTABLE_RETENTION_HYPER_LOG_LOG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/aggregate.h"

namespace bigtable {

// Thread-safe.
class HyperLogLog final : public AggregateOperator {
 public:
  static constexpr int kPrecision = 14;
  static constexpr size_t kRegisters = size_t{1} << kPrecision;
  static constexpr int kRestBits = 64 - kPrecision;
  static constexpr size_t kMostSparse = kRegisters / 4;

  // Any input is counted.
  absl::Status CheckState(std::string_view state) const override;
  std::string StateOf(std::string_view input) const override;
  absl::Status Merge(std::string_view older, std::string* state) const override;

  static std::string StateOfHash(uint64_t hash);
  // Requires a state that CheckState passes.
  static uint64_t Estimate(std::string_view state);
};

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_HYPER_LOG_LOG_H_
