// The keys that choose rows and cells, which several verbs have: start=, end=, prefix=, columns=,
// cells-per-column= and so on.
#ifndef BIGTABLE_TOOLS_FILTERS_H_
#define BIGTABLE_TOOLS_FILTERS_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "bigtable/filter.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"

#include "tools/arguments.h"
#include "tools/verb.h"

namespace bigtable::tools {

// The meaning of each key, for Verb::keys.
std::vector<Verb::Word> RowKeys();   // start, end, prefix
std::vector<Verb::Word> CellKeys();  // columns, cells-per-column

// The rows of start=, end= and prefix=. UsageError: prefix= beside one of the others.
absl::StatusOr<RowRange> ParseRows(const Arguments& arguments);

// The cells of regex=, columns=, cells-per-column= and value-regex=, applied in this order, so that
// value-regex= sees the newest versions alone. NotFound: a family that `table` does not have.
absl::StatusOr<Filter> ParseCellFilter(const Arguments& arguments, std::string_view table,
                                       const TableSchema& schema);

// The filters one after the other; of none, the filter that passes everything.
Filter ChainOf(std::vector<Filter> filters);

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_FILTERS_H_
