// One filter, or one index, on the same keys as the others.
#ifndef BIGTABLE_BENCH_CANDIDATES_TRIAL_H_
#define BIGTABLE_BENCH_CANDIDATES_TRIAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "bench/candidates/key_set.h"
#include "bench/candidates/registry.h"

namespace candidates {

// Nanoseconds of a call in each round: adding a key, looking up one that exists, and one that does
// not.
struct Times {
  std::vector<double> add;
  std::vector<double> existing;
  std::vector<double> missing;

  // The medians, as cells of a table.
  std::vector<std::string> Cells() const;
};

// The keys of all trials of one kind.
struct TrialKeys {
  KeyList added;
  KeyList existing;  // at random
  KeyList missing;   // at random, each between two that exist
};
// Row prefixes of `keys` rows, for filters.
TrialKeys FilterKeys(const KeySet& set, uint64_t keys, uint64_t lookups, uint64_t seed);
// Last keys of blocks of `block_rows` rows, keys of entries, and row prefixes, for indexes.
TrialKeys IndexKeys(const KeySet& set, uint64_t keys, uint64_t block_rows, uint64_t lookups,
                    uint64_t seed);

class FilterTrial {
 public:
  FilterTrial(const NamedFilter& kind, int bits) : kind_(kind), bits_(bits) {}

  // One round. DataLoss if it excludes a key that was added.
  absl::Status Run(const TrialKeys& keys);

  static std::vector<std::string> Header();
  std::vector<std::string> Cells(const TrialKeys& keys) const;

 private:
  const NamedFilter kind_;
  const int bits_;
  // The same in each round.
  size_t memory_ = 0;
  size_t passed_ = 0;  // of the missing keys
  double expected_rate_ = 0;
  Times times_;
};

class IndexTrial {
 public:
  explicit IndexTrial(const NamedIndex& kind) : kind_(kind) {}

  void Run(const TrialKeys& keys);

  static std::vector<std::string> Header();
  std::vector<std::string> Cells(const TrialKeys& keys) const;

 private:
  const NamedIndex kind_;
  size_t memory_ = 0;
  Times times_;
};

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_TRIAL_H_
