// Which cells of a row a read returns.
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

// A test that each cell passes or not, after the names of Cloud Bigtable's filters. Filters see
// what garbage collection left, in the order of the row. Regular expressions are RE2's, match the
// whole text, and '.' is any byte. A filter that cannot be (a bad expression, an empty range)
// is InvalidArgument from the read that uses it. Cheap to copy, immutable, thread-safe.
//
//   Filter::Chain(Filter::Family("anchor"), Filter::Latest(1))
class Filter {
 public:
  Filter() = default;  // passes everything

  static Filter PassAll() { return Filter(); }
  static Filter BlockAll();

  // The `n` newest versions of each column that get this far; n at least 1.
  static Filter Latest(int64_t n);

  // Columns: by family, by the bytes their qualifier begins with, by a range of qualifiers
  // [begin, end) within a family (an empty end is no end), by expression. A read touches only the
  // locality groups that its families need. A read with a filter that names a family which the
  // table does not have is NotFound; an expression that matches none passes nothing.
  static Filter Family(std::string_view name);
  static Filter FamilyRegex(std::string_view regex);
  static Filter ColumnPrefix(std::string_view family, std::string_view qualifier_prefix);
  static Filter ColumnRange(std::string_view family, std::string_view begin, std::string_view end);
  // Exactly one column: Bloom filters with kRowAndColumn can tell which files do not have it.
  static Filter Column(std::string_view family, std::string_view qualifier);
  static Filter ColumnRegex(std::string_view qualifier_regex);

  // [begin, end)
  static Filter TimestampRange(Timestamp begin, Timestamp end);

  static Filter RowKeysRegex(std::string_view regex);
  static Filter ValueRegex(std::string_view regex);

  // Of the cells of each row that get this far: the first `n`; all but the first `n`.
  static Filter CellsRowLimit(int64_t n);
  static Filter CellsRowOffset(int64_t n);

  // Cells without their values.
  static Filter StripValueTransformer();

  // Each filter sees what the one before it lets through.
  static Filter Chain(std::vector<Filter> filters);
  template <typename... Filters>
  static Filter Chain(Filter first, Filter second, Filters... rest) {
    return Chain(
        std::vector<Filter>{std::move(first), std::move(second), Filter(std::move(rest))...});
  }

  // What is wrong with the filter, if anything.
  absl::Status status() const;

 private:
  friend struct FilterNode;
  explicit Filter(std::shared_ptr<const FilterNode> node) : node_(std::move(node)) {}
  std::shared_ptr<const FilterNode> node_;  // null passes everything
};

}  // namespace bigtable

#endif  // BIGTABLE_FILTER_H_
