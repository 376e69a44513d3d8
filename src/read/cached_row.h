// The rows of the scan cache (cache/scan_cache.h): their cells after the merge and garbage
// collection, before the filter. Thread-safe.
//
// After the CachedRowHead, for each cell, in the machine's byte order:
//
//   | timestamp, index of its family in the layout, two sizes | qualifier | value |
#ifndef BIGTABLE_READ_CACHED_ROW_H_
#define BIGTABLE_READ_CACHED_ROW_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/call_limits.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "cache/block.h"
#include "read/filter_node.h"
#include "schema/table_layout.h"

namespace bigtable {

// For ScanCache::Insert. Null if the row is too large to be cached.
Ref<Block> MakeCachedRow(const TableLayout& layout, SequenceNumber as_of, std::string_view row,
                         absl::Span<const Cell> cells);

// Calls `add` with the cells of a cached row that pass the filter, until the row ends. They are
// views of `cached` and of the layout, which must be the layout that the row was made with. Errors:
// those of the limits.
absl::Status ReadCachedRow(const Block& cached, const TableLayout& layout, const FilterNode* filter,
                           const CallLimits& limits, absl::FunctionRef<void(const Cell&)> add);

}  // namespace bigtable

#endif  // BIGTABLE_READ_CACHED_ROW_H_
