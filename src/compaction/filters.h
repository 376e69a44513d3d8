// The compaction filters that the program has registered (bigtable/compaction_filter.h).
// Thread-safe.
#ifndef BIGTABLE_COMPACTION_FILTERS_H_
#define BIGTABLE_COMPACTION_FILTERS_H_

#include <string_view>

#include "bigtable/compaction_filter.h"

namespace bigtable {

// Null if no filter with this name is registered.
const CompactionFilter* FindCompactionFilter(std::string_view name);
// For tests: as if the filter had never been registered. It is not deleted.
void ForgetCompactionFilter(std::string_view name);

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_FILTERS_H_
