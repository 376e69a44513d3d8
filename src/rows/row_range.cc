#include "bigtable/row_range.h"

#include <algorithm>
#include <utility>

#include "base/entry_key.h"

namespace bigtable {

RowRange RowRange::Prefix(std::string_view prefix) {
  std::string end = PrefixSuccessor(prefix);
  if (end.empty()) return StartingAt(prefix);  // no row is larger than all that begin with it
  return RowRange(prefix, std::move(end));
}

std::vector<RowRange> RowSet::Normalized() const {
  std::vector<RowRange> sorted = ranges_;
  std::erase_if(sorted, [](const RowRange& range) { return range.empty(); });
  std::sort(sorted.begin(), sorted.end(),
            [](const RowRange& a, const RowRange& b) { return a.begin() < b.begin(); });
  std::vector<RowRange> joined;
  for (RowRange& range : sorted) {
    RowRange* const last = joined.empty() ? nullptr : &joined.back();
    if (last == nullptr || (last->end().has_value() && *last->end() < range.begin())) {
      joined.push_back(std::move(range));
    } else if (last->end().has_value() &&
               (!range.end().has_value() || *range.end() > *last->end())) {
      *last = range.end().has_value() ? RowRange::RightOpen(last->begin(), *range.end())
                                      : RowRange::StartingAt(last->begin());
    }
  }
  return joined;
}

}  // namespace bigtable
