// A compaction policy as given on the command line: a style, and optionally a factor, or a policy
// that a shared object has registered.
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
  std::string style;  // as in the CSV; of a registered policy its name
  bigtable::CompactionStyle value = bigtable::CompactionStyle::kSizeTiered;
  int factor = 0;               // 0: the default of the style
  bool is_rocksdb = false;      // RocksDB with this style
  std::string registered = {};  // its name; empty: `value` applies

  // "leveled", or "leveled:4".
  std::string Name() const;
};

// Each style once, RocksDB's too if this build has it.
std::vector<Policy> AllPolicies();

// Comma-separated names, with factors as in "size_tiered,size_tiered:8"; all styles if the list is
// empty.
absl::StatusOr<std::vector<Policy>> ParsePolicies(std::string_view list);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_POLICY_H_
