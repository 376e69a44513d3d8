// Which rows a read covers.
#ifndef BIGTABLE_ROW_RANGE_H_
#define BIGTABLE_ROW_RANGE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bigtable/export.h"

namespace bigtable {

// The rows in [begin(), end()). This form covers every kind of interval, since row + '\0' is the
// next possible row. Plain value.
class BIGTABLE_EXPORT RowRange {
 public:
  RowRange() = default;  // all rows

  // Every row, or a single one.
  static RowRange All() { return RowRange(); }
  static RowRange Single(std::string_view row) { return Closed(row, row); }
  // The rows whose keys begin with `prefix`.
  static RowRange Prefix(std::string_view prefix);
  static RowRange StartingAt(std::string_view begin) { return RowRange(begin, std::nullopt); }
  static RowRange EndingAt(std::string_view last) { return Closed("", last); }
  // [begin, end), [begin, last], (begin, end), (begin, last]
  static RowRange RightOpen(std::string_view begin, std::string_view end) {
    return RowRange(begin, std::string(end));
  }
  static RowRange Closed(std::string_view begin, std::string_view last) {
    return RowRange(begin, Next(last));
  }
  static RowRange Open(std::string_view begin, std::string_view end) {
    return RowRange(Next(begin), std::string(end));
  }
  static RowRange LeftOpen(std::string_view begin, std::string_view last) {
    return RowRange(Next(begin), Next(last));
  }

  const std::string& begin() const { return begin_; }
  // No end: up to the last row of the table.
  const std::optional<std::string>& end() const { return end_; }

  bool empty() const { return end_.has_value() && *end_ <= begin_; }
  // Whether the row is in the range.
  bool Contains(std::string_view row) const {
    return row >= begin_ && (!end_.has_value() || row < *end_);
  }

  friend bool operator==(const RowRange&, const RowRange&) = default;

 private:
  RowRange(std::string_view begin, std::optional<std::string> end)
      : begin_(begin), end_(std::move(end)) {}
  static std::string Next(std::string_view row) { return std::string(row).append(1, '\0'); }

  std::string begin_;
  std::optional<std::string> end_;
};

// Rows and ranges, in any order; they may overlap. A read returns each row once, in key order. An
// empty set has no rows. Plain value.
class BIGTABLE_EXPORT RowSet {
 public:
  RowSet() = default;
  RowSet(RowRange range) { Append(std::move(range)); }  // NOLINT: a range is a set

  void Append(std::string_view row) { ranges_.push_back(RowRange::Single(row)); }
  void Append(RowRange range) { ranges_.push_back(std::move(range)); }

  const std::vector<RowRange>& ranges() const { return ranges_; }
  // The same rows as ranges that are sorted, not empty, and neither overlap nor touch.
  std::vector<RowRange> Normalized() const;

 private:
  std::vector<RowRange> ranges_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ROW_RANGE_H_
