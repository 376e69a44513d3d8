// Filters: which cells of a row a read returns.
#ifndef BIGTABLE_FILTER_H_
#define BIGTABLE_FILTER_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/export.h"
#include "bigtable/timestamp.h"

namespace bigtable {

struct FilterNode;

// A predicate on cells, named like Cloud Bigtable's filters. A filter sees the cells that garbage
// collection kept, in the order of the row. Regular expressions are RE2's and match the whole text;
// '.' is any byte. A read that uses an invalid filter (a bad expression, an empty range) returns
// InvalidArgument. Cheap to copy, immutable, thread-safe.
//
//   Filter::Chain(Filter::Family("anchor"), Filter::Latest(1))
class BIGTABLE_EXPORT Filter {
 public:
  Filter() = default;  // passes everything

  // Passes every cell, or none.
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

  // [begin, end). An end of Timestamp::Max() is no end: that timestamp passes too.
  static Filter TimestampRange(Timestamp begin, Timestamp end);

  // A stream reads only the rows between the smallest and the largest key that may match.
  static Filter RowKeysRegex(std::string_view regex);
  // Each row with this probability, between 0 and 1, both excluded. Whether a row is in the sample
  // depends on its key alone, so every read returns the same sample, and a larger probability
  // returns a superset.
  static Filter RowSample(double probability);
  static Filter ValueRegex(std::string_view regex);
  // Values in [begin, end) by their bytes; an empty end means no end.
  static Filter ValueRange(std::string_view begin, std::string_view end);

  // Among the cells of each row that reach this filter: the first `n`, at least 1; all but the
  // first `n`, at least 0.
  static Filter CellsRowLimit(int64_t n);
  static Filter CellsRowOffset(int64_t n);

  // Cells without their values.
  static Filter StripValueTransformer();

  // The cells with this label (Cell::labels): 1 to 15 characters of [a-z0-9-]. A Chain may have it
  // in only one of its parts. So a read can show which filter of an Interleave passed a cell.
  static Filter ApplyLabel(std::string_view label);

  // Each filter sees the cells that the one before it passes.
  static Filter Chain(std::vector<Filter> filters);
  template <typename... Filters>
  static Filter Chain(Filter first, Filter second, Filters... rest) {
    return Chain(
        std::vector<Filter>{std::move(first), std::move(second), Filter(std::move(rest))...});
  }

  // The cells that each of the filters passes, together and in the order of the row. A cell that
  // several of them pass is there several times, in the order of the filters.
  //
  //   Filter::Interleave(Filter::Column("a", "x"), Filter::Column("a", "y"))  // one or the other
  static Filter Interleave(std::vector<Filter> filters);
  template <typename... Filters>
  static Filter Interleave(Filter first, Filter second, Filters... rest) {
    return Interleave(
        std::vector<Filter>{std::move(first), std::move(second), Filter(std::move(rest))...});
  }

  // `if_true` for the rows of which `predicate` passes a cell, `if_false` for the others. All three
  // see the same cells, and the read sees one state of the row.
  static Filter Condition(Filter predicate, Filter if_true, Filter if_false = BlockAll());

  // Passes nothing on: its cells are in the result as they are here, whatever filters follow. For
  // seeing what a filter inside a Chain passes. Not within a Condition.
  static Filter Sink();

  // Interleave, Condition, ApplyLabel and Sink hold the cells of a row in memory until the last one
  // was read. Filters may be nested 50 deep, have 1,000 parts, and pass a cell 1,000 times.
  //
  // A read takes memory for its filter (MemoryBudget::Use::kReads): for the cells of a row that it
  // holds, and for the regular expressions, which share 8 MB, or have 32 KB each if that is more.
  // It returns ResourceExhausted if it would take more than 4 MB and also more than 256 MB, or more
  // than half of the memory budget (at least 32 MB) together with all other reads.

  // OK, or why the filter is invalid.
  absl::Status status() const;
  // The instructions of the programs of its regular expressions (RE2::ProgramSize()). A filter has
  // at most 100,000.
  int64_t program_size() const;

 private:
  friend struct FilterNode;
  explicit Filter(std::shared_ptr<const FilterNode> node) : node_(std::move(node)) {}
  std::shared_ptr<const FilterNode> node_;  // null passes everything
};

}  // namespace bigtable

#endif  // BIGTABLE_FILTER_H_
