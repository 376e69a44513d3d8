// A workload: the operations on a table, the same for every policy, and the rows that exist after
// each.
#ifndef BIGTABLE_BENCH_COMPACTION_WORKLOADS_WORKLOAD_H_
#define BIGTABLE_BENCH_COMPACTION_WORKLOADS_WORKLOAD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "common/workload.h"

namespace bench {

constexpr uint64_t kScannedRows = 50;

struct Operation {
  // kReadModifyWrite reads the row and then writes it.
  enum class Kind { kWrite, kDelete, kRead, kScan, kReadModifyWrite };
  Kind kind = Kind::kWrite;
  uint64_t row = 0;
  uint64_t scanned_rows = kScannedRows;  // of kScan, from `row`
};

// One thread at a time. Reads are of rows that exist, and so are deletions.
class Workload {
 public:
  virtual ~Workload() = default;

  // The rows that are written beforehand, which is not measured.
  virtual std::vector<uint32_t> Preparation() const { return {}; }
  // The number of operations for which a row exists; nullopt: without limit.
  virtual std::optional<uint64_t> lifetime() const { return std::nullopt; }

  // The number of operations, and the next operation.
  virtual uint64_t operations() const = 0;
  virtual Operation Next() = 0;

  // After the operations so far: the number of rows, and a random one of them.
  virtual uint64_t live_rows() const = 0;
  virtual uint64_t DrawLiveRow(Random& random) const = 0;
};

struct WorkloadOptions {
  static constexpr double kDefaultSkew = 0.99;  // that of YCSB

  uint64_t rows = 0;
  // Other seeds give other random operations. The same seed gives the same operations.
  uint64_t seed = 0;
  // The exponent of Zipf distributions: 0, at which all rows are equal, to 2.
  double skew = kDefaultSkew;
};

// The seed of the random numbers for a purpose. The preparation has a seed of its own, so that two
// workloads with the same preparation may differ in their operations.
enum class SeedPurpose : uint64_t { kPreparation = 2, kOperations = 3, kRanks = 4 };
inline uint64_t SeedFor(SeedPurpose purpose, uint64_t seed) {
  return static_cast<uint64_t>(purpose) ^ Random::Mix(seed);  // Mix(0) is 0
}

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_WORKLOADS_WORKLOAD_H_
