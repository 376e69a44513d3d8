// A compaction policy as given on the command line: a style, or a policy that a shared object has
// registered, and optionally a factor.
#ifndef BIGTABLE_BENCH_COMPACTION_POLICY_H_
#define BIGTABLE_BENCH_COMPACTION_POLICY_H_

#include <functional>
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

// Whether there is a registered policy of this name, which may be made for it (RegisterByName).
using FindPolicy = std::function<bool(const std::string& name)>;

// Comma-separated names, with factors as in "size_tiered,size_tiered:8"; all styles if the list is
// empty. `loaded` policies may be named too, and those that `find` has, as in "fluid(K=2/Z=1)".
// Loaded ones that are not named follow behind the others.
absl::StatusOr<std::vector<Policy>> ParsePolicies(std::string_view list,
                                                  const std::vector<Policy>& loaded,
                                                  const FindPolicy& find);

// For each policy that takes the parameter and was given none, one with each of its numbers, as in
// "factor=2..10" or "K=1,2,4"; several are between semicolons, as in "K=1..3;Z=1,2". Parameters
// other than the factor are in the names that `find` has. An empty sweep changes nothing.
// InvalidArgument: no policy takes it.
absl::StatusOr<std::vector<Policy>> Sweep(const std::vector<Policy>& policies,
                                          std::string_view sweep, const FindPolicy& find);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_POLICY_H_
