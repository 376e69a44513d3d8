#include "read/filter_families.h"

#include "base/status.h"

namespace bigtable {

absl::Status CheckFamilies(const FilterNode& filter, const TableLayout& layout) {
  switch (filter.kind) {
    case FilterNode::Kind::kFamily:
    case FilterNode::Kind::kColumnRange:
      return layout.FindFamily(filter.text) != nullptr ? absl::OkStatus()
                                                       : layout.NoFamilyError(filter.text);
    case FilterNode::Kind::kChain:
      for (const Filter& part : filter.chain) {
        BT_RETURN_IF_ERROR(CheckFamilies(part, layout));
      }
      return absl::OkStatus();
    case FilterNode::Kind::kBlockAll:
    case FilterNode::Kind::kFamilyRegex:
    case FilterNode::Kind::kColumnRegex:
    case FilterNode::Kind::kRowRegex:
    case FilterNode::Kind::kValueRegex:
    case FilterNode::Kind::kTimestamps:
    case FilterNode::Kind::kLatest:
    case FilterNode::Kind::kCellsRowLimit:
    case FilterNode::Kind::kCellsRowOffset:
    case FilterNode::Kind::kStripValue:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace bigtable
