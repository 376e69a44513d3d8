#include "read/filter_rows.h"

#include <algorithm>
#include <string>

#include "re2/re2.h"

#include "base/shortcuts.h"
#include "base/status.h"
#include "read/row_ranges.h"

namespace bigtable {

namespace {

using Kind = FilterNode::Kind;

RowRange NoRows() { return RowRange::RightOpen("", ""); }

// The smallest range that contains both.
RowRange Hull(const RowRange& a, const RowRange& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  const std::string& begin = std::min(a.begin(), b.begin());
  if (!a.end().has_value() || !b.end().has_value()) return RowRange::StartingAt(begin);
  return RowRange::RightOpen(begin, std::max(*a.end(), *b.end()));
}

RowRange RowsOfRegex(const RE2& regex) {
  constexpr int kMostBytes = 64;  // of each end of the range
  std::string first, last;
  if (!regex.PossibleMatchRange(&first, &last, kMostBytes)) return RowRange::All();
  // What begins with 0xff bytes only has no end.
  if (last.empty()) return RowRange::StartingAt(first);
  return RowRange::Closed(first, last);
}

RowRange RowsOfAny(const std::vector<Filter>& parts, size_t first_part) {
  RowRange rows = NoRows();
  for (size_t i = first_part; i < parts.size(); ++i) {
    rows = Hull(rows, RowsOf(FilterNode::Of(parts[i])));
  }
  return rows;
}

// A row passes all parts, or reaches a sink in one of them.
RowRange RowsOfChain(const std::vector<Filter>& parts) {
  RowRange rows = RowRange::All();
  for (const Filter& part : parts) {
    const FilterNode* const node = FilterNode::Of(part);
    rows = Intersection(rows, RowsOf(node));
    if (node != nullptr && node->has_sink) break;
  }
  return rows;
}

}  // namespace

RowRange RowsOf(const FilterNode* filter) {
  if (filter == nullptr) return RowRange::All();
  switch (filter->kind) {
    case Kind::kBlockAll:
      return NoRows();
    case Kind::kRowRegex:
      return RowsOfRegex(*filter->regex);
    case Kind::kChain:
      return RowsOfChain(filter->parts);
    case Kind::kInterleave:
      return RowsOfAny(filter->parts, 0);
    case Kind::kCondition:
      return RowsOfAny(filter->parts, 1);  // the predicate passes nothing on
    default:
      return RowRange::All();  // always right; it only reads more
  }
}

bool ClipToFilter(const FilterNode* filter, std::vector<RowRange>* ranges) {
  if (filter == nullptr || !Shortcuts().Has(Shortcut::kFilterRows)) return false;
  const RowRange rows = RowsOf(filter);
  if (rows.begin().empty() && !rows.end().has_value()) return false;
  for (RowRange& range : *ranges) range = Intersection(range, rows);
  std::erase_if(*ranges, [](const RowRange& range) { return range.empty(); });
  return true;
}

absl::Status CheckFamilies(const FilterNode& filter, const TableLayout& layout) {
  if (TraitsOf(filter.kind).names_family && layout.FindFamily(filter.text) == nullptr) {
    return layout.NoFamilyError(filter.text);
  }
  for (const Filter& part : filter.parts) BT_RETURN_IF_ERROR(CheckFamilies(part, layout));
  return absl::OkStatus();
}

}  // namespace bigtable
