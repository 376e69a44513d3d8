// The filters and indexes that are measured and tested, by name.
#ifndef BIGTABLE_BENCH_CANDIDATES_REGISTRY_H_
#define BIGTABLE_BENCH_CANDIDATES_REGISTRY_H_

#include <memory>
#include <string_view>

#include "absl/types/span.h"

#include "bench/candidates/filter.h"
#include "bench/candidates/index.h"

namespace candidates {

struct NamedFilter {
  std::string_view name;
  // An empty one that may take about `bits` for each key, 2 to 32.
  std::unique_ptr<Filter> (*make)(int bits);
  bool takes_bits = true;  // false: it takes what it takes
};
absl::Span<const NamedFilter> Filters();

struct NamedIndex {
  std::string_view name;
  std::unique_ptr<Index> (*make)();
};
absl::Span<const NamedIndex> Indexes();

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_REGISTRY_H_
