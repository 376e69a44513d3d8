// Operations on ranges of rows that reads need.
#ifndef BIGTABLE_READ_ROW_RANGES_H_
#define BIGTABLE_READ_ROW_RANGES_H_

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "bigtable/row_range.h"

namespace bigtable {

inline bool IsSingleRow(const RowRange& range) {
  return range.end().has_value() && range.end()->size() == range.begin().size() + 1 &&
         range.end()->back() == '\0' && range.end()->starts_with(range.begin());
}

// The rows from `begin`, and before `end` if there is one.
inline RowRange RowsBetween(std::string_view begin, const std::optional<std::string>& end) {
  return end.has_value() ? RowRange::RightOpen(begin, *end) : RowRange::StartingAt(begin);
}

// The rows that are in both.
inline RowRange Intersection(const RowRange& a, const RowRange& b) {
  const std::string& begin = std::max(a.begin(), b.begin());
  if (!a.end().has_value()) return RowsBetween(begin, b.end());
  if (!b.end().has_value()) return RowsBetween(begin, a.end());
  return RowRange::RightOpen(begin, std::min(*a.end(), *b.end()));
}

}  // namespace bigtable

#endif  // BIGTABLE_READ_ROW_RANGES_H_
