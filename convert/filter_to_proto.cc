#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "re2/re2.h"

#include "convert/filter.h"
#include "convert/regex.h"
#include "convert/time_range.h"
#include "read/filter_node.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::RowFilter;
using Kind = FilterNode::Kind;

std::string RegexOf(const FilterNode& node) { return ApiRegex(node.regex->pattern()); }

// More cells than the message has numbers are never there.
int32_t CountOf(const FilterNode& node) {
  return static_cast<int32_t>(std::min<int64_t>(node.low, std::numeric_limits<int32_t>::max()));
}

void SetRange(const FilterNode& node, google::bigtable::v2::ColumnRange* range) {
  range->set_family_name(node.text);
  range->set_start_qualifier_closed(node.begin);
  if (!node.end.empty()) range->set_end_qualifier_open(node.end);
}

void SetRange(const FilterNode& node, google::bigtable::v2::ValueRange* range) {
  range->set_start_value_closed(node.begin);
  if (!node.end.empty()) range->set_end_value_open(node.end);
}

// No cell is between two milliseconds, so a bound passes the same cells as the next millisecond.
RowFilter ToTimes(const FilterNode& node) {
  RowFilter proto;
  const TimeRange times = WithWholeMilliseconds({.begin = node.low, .end = node.high});
  if (times.empty()) {
    proto.set_block_all_filter(true);
  } else {
    *proto.mutable_timestamp_range_filter() = ToProto(times).value();
  }
  return proto;
}

// A chain or an interleave of one filter is that filter; the API wants two.
template <typename Parts>
RowFilter ToParts(const FilterNode& node, Parts* (RowFilter::*mutable_parts)()) {
  if (node.parts.size() == 1) return ToProto(node.parts.front());
  RowFilter proto;
  if (node.parts.empty()) {
    proto.set_pass_all_filter(true);
    return proto;
  }
  Parts* const parts = (proto.*mutable_parts)();
  for (const Filter& part : node.parts) *parts->add_filters() = ToProto(part);
  return proto;
}

RowFilter ToCondition(const FilterNode& node) {
  RowFilter proto;
  RowFilter::Condition* const condition = proto.mutable_condition();
  *condition->mutable_predicate_filter() = ToProto(node.parts[0]);
  *condition->mutable_true_filter() = ToProto(node.parts[1]);
  *condition->mutable_false_filter() = ToProto(node.parts[2]);
  return proto;
}

}  // namespace

RowFilter ToProto(const Filter& filter) {
  RowFilter proto;
  const FilterNode* const node = FilterNode::Of(filter);
  if (node == nullptr) {
    proto.set_pass_all_filter(true);
    return proto;
  }
  switch (node->kind) {
    case Kind::kBlockAll:
      proto.set_block_all_filter(true);
      break;
    case Kind::kFamily:
      proto.set_family_name_regex_filter(RE2::QuoteMeta(node->text));
      break;
    case Kind::kFamilyRegex:
      proto.set_family_name_regex_filter(RegexOf(*node));
      break;
    case Kind::kColumnRange:
      SetRange(*node, proto.mutable_column_range_filter());
      break;
    case Kind::kColumnRegex:
      proto.set_column_qualifier_regex_filter(RegexOf(*node));
      break;
    case Kind::kRowRegex:
      // An empty expression is refused. It would match no row: none has an empty key.
      if (node->regex->pattern().empty()) {
        proto.set_block_all_filter(true);
      } else {
        proto.set_row_key_regex_filter(RegexOf(*node));
      }
      break;
    case Kind::kValueRegex:
      proto.set_value_regex_filter(RegexOf(*node));
      break;
    case Kind::kValueRange:
      SetRange(*node, proto.mutable_value_range_filter());
      break;
    case Kind::kRowSample:
      proto.set_row_sample_filter(node->probability);
      break;
    case Kind::kTimestamps:
      return ToTimes(*node);
    case Kind::kLatest:
      proto.set_cells_per_column_limit_filter(CountOf(*node));
      break;
    case Kind::kCellsRowLimit:
      proto.set_cells_per_row_limit_filter(CountOf(*node));
      break;
    case Kind::kCellsRowOffset:
      proto.set_cells_per_row_offset_filter(CountOf(*node));
      break;
    case Kind::kStripValue:
      proto.set_strip_value_transformer(true);
      break;
    case Kind::kApplyLabel:
      proto.set_apply_label_transformer(node->text);
      break;
    case Kind::kSink:
      proto.set_sink(true);
      break;
    case Kind::kChain:
      return ToParts(*node, &RowFilter::mutable_chain);
    case Kind::kInterleave:
      return ToParts(*node, &RowFilter::mutable_interleave);
    case Kind::kCondition:
      return ToCondition(*node);
  }
  return proto;
}

}  // namespace bigtable::convert
