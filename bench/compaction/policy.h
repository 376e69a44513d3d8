// A compaction policy as given on the command line: a style, or a policy that a shared object has
// registered, and optionally a factor.
#ifndef BIGTABLE_BENCH_COMPACTION_POLICY_H_
#define BIGTABLE_BENCH_COMPACTION_POLICY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "bigtable/schema.h"

namespace bench {

// Plain value.
struct Policy {
  // Bounds of a factor, as in a schema.
  static constexpr int kLeastFactor = 2;
  static constexpr int kMostFactor = 100;

  std::string style;  // as in the CSV; of a registered policy its name
  bigtable::CompactionStyle value = bigtable::CompactionStyle::kSizeTiered;
  // 0: the default of the style. Of RocksDB: of the leveled style its
  // max_bytes_for_level_multiplier, of the universal one its level0_file_num_compaction_trigger.
  int factor = 0;
  bool is_rocksdb = false;      // RocksDB with this style
  std::string registered = {};  // its name; empty: `value` applies

  // "leveled", or "leveled:4".
  std::string Name() const;
  // Whether a factor changes anything. A registered policy may ignore it.
  bool TakesFactor() const;
};

// Each style once, RocksDB's too if this build has it.
std::vector<Policy> AllPolicies();

// Comma-separated names, with factors as in "size_tiered,size_tiered:8"; all styles if the list is
// empty. `loaded` policies may be named too. Those that are not follow behind the others.
absl::StatusOr<std::vector<Policy>> ParsePolicies(std::string_view list,
                                                  const std::vector<Policy>& loaded);

// For each policy that takes a factor and was given none, one with each factor of the sweep, as in
// "factor=2..10" or "factor=2,4,8". An empty sweep changes nothing.
absl::StatusOr<std::vector<Policy>> Sweep(const std::vector<Policy>& policies,
                                          std::string_view sweep);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_POLICY_H_
