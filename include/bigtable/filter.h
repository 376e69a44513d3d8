// Filters: which cells of a row a read returns.
#ifndef BIGTABLE_FILTER_H_
#define BIGTABLE_FILTER_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/timestamp.h"

namespace bigtable {

struct FilterNode;

// A predicate on cells, named like Cloud Bigtable's filters. A filter sees the cells that garbage
// collection kept, in the order of the row. Regular expressions are RE2's and match the whole text;
// '.' is any byte. A read that uses an invalid filter (a bad expression, an empty range) returns
// InvalidArgument. Cheap to copy, immutable, thread-safe.
//
//   Filter::Chain(Filter::Family("anchor"), Filter::Latest(1))
class Filter {
 public:
  Filter() = default;  // passes everything

  static Filter PassAll() { return Filter(); }
  static Filter BlockAll();

  // The `n` newest versions of each column among the cells that reach this filter; n is at least 1.
  static Filter Latest(int64_t n);

  // Columns: by family, by a prefix of the qualifier, by a range of qualifiers [begin, end) within
  // a family (an empty end means no end), by expression. A read touches only the locality groups of
  // the families it needs. A filter that names a family which the table does not have makes the
  // read return NotFound; an expression that matches no family passes nothing.
  static Filter Family(std::string_view name);
  static Filter FamilyRegex(std::string_view regex);
  static Filter ColumnPrefix(std::string_view family, std::string_view qualifier_prefix);
  static Filter ColumnRange(std::string_view family, std::string_view begin, std::string_view end);
  // Exactly one column: Bloom filters with kRowAndColumn can exclude files that do not have it.
  static Filter Column(std::string_view family, std::string_view qualifier);
  static Filter ColumnRegex(std::string_view qualifier_regex);

  // [begin, end)
  static Filter TimestampRange(Timestamp begin, Timestamp end);

  static Filter RowKeysRegex(std::string_view regex);
  static Filter ValueRegex(std::string_view regex);

  // Among the cells of each row that reach this filter: the first `n`, at least 1; all but the
  // first `n`, at least 0.
  static Filter CellsRowLimit(int64_t n);
  static Filter CellsRowOffset(int64_t n);

  // Cells without their values.
  static Filter StripValueTransformer();

  // Each filter sees the cells that the one before it passes.
  static Filter Chain(std::vector<Filter> filters);
  template <typename... Filters>
  static Filter Chain(Filter first, Filter second, Filters... rest) {
    return Chain(
        std::vector<Filter>{std::move(first), std::move(second), Filter(std::move(rest))...});
  }

  // OK, or why the filter is invalid.
  absl::Status status() const;

 private:
  friend struct FilterNode;
  explicit Filter(std::shared_ptr<const FilterNode> node) : node_(std::move(node)) {}
  std::shared_ptr<const FilterNode> node_;  // null passes everything
};

}  // namespace bigtable

#endif  // BIGTABLE_FILTER_H_
