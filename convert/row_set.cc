#include "convert/row_set.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "convert/invalid.h"
#include "convert/keys.h"
#include "convert/limits.h"

namespace bigtable::convert {
namespace {

// One end of a range. An empty key is no end.
struct RangeEnd {
  std::string_view key;
  bool is_closed;
};

RangeEnd StartOf(const google::bigtable::v2::RowRange& range) {
  if (range.has_start_key_open()) return {range.start_key_open(), false};
  return {range.start_key_closed(), true};
}

RangeEnd EndOf(const google::bigtable::v2::RowRange& range) {
  if (range.has_end_key_open()) return {range.end_key_open(), false};
  return {range.end_key_closed(), true};
}

absl::Status CheckEnd(std::string_view key) {
  return key.empty() ? absl::OkStatus() : CheckRowKey(key);
}

}  // namespace

absl::StatusOr<RowRange> ToRowRange(const google::bigtable::v2::RowRange& range) {
  const RangeEnd start = StartOf(range);
  const RangeEnd end = EndOf(range);
  BT_RETURN_IF_ERROR(CheckEnd(start.key));
  BT_RETURN_IF_ERROR(CheckEnd(end.key));
  const std::string begin = std::string(start.key).append(start.is_closed ? 0 : 1, '\0');
  if (end.key.empty()) return RowRange::StartingAt(begin);
  const bool is_point = start.key == end.key && start.is_closed && end.is_closed;
  if (start.key >= end.key && !is_point) {
    return Invalid("the start key of a range must be less than its end key, and they are ",
                   Quoted(start.key), " and ", Quoted(end.key));
  }
  return end.is_closed ? RowRange::Closed(begin, end.key) : RowRange::RightOpen(begin, end.key);
}

absl::StatusOr<RowSet> ToRowSet(const google::bigtable::v2::RowSet& rows) {
  const size_t size = rows.ByteSizeLong();
  if (size > kMaxRowSetSize) {
    return Invalid("a row set must have at most ", kMaxRowSetSize, " bytes, and this one has ",
                   size);
  }
  if (rows.row_keys().empty() && rows.row_ranges().empty()) return RowSet(RowRange::All());
  RowSet set;
  for (int i = 0; i < rows.row_keys_size(); ++i) {
    const absl::Status status = CheckRowKey(rows.row_keys(i));
    if (!status.ok()) return Annotate(status, Cat("row_keys[", i, "]"));
    set.Append(std::string_view(rows.row_keys(i)));
  }
  for (int i = 0; i < rows.row_ranges_size(); ++i) {
    absl::StatusOr<RowRange> range = ToRowRange(rows.row_ranges(i));
    if (!range.ok()) return Annotate(range.status(), Cat("row_ranges[", i, "]"));
    set.Append(*std::move(range));
  }
  return set;
}

google::bigtable::v2::RowSet ToProto(const std::vector<RowRange>& ranges) {
  google::bigtable::v2::RowSet rows;
  for (const RowRange& range : ranges) {
    if (!range.begin().empty() && range == RowRange::Single(range.begin())) {
      rows.add_row_keys(range.begin());
      continue;
    }
    auto* const proto = rows.add_row_ranges();
    if (!range.begin().empty()) proto->set_start_key_closed(range.begin());
    if (range.end().has_value()) proto->set_end_key_open(*range.end());
  }
  return rows;
}

absl::StatusOr<RowSelection> ToRowSelection(const google::bigtable::v2::ReadRowsRequest& request) {
  RowSelection selection = {.limit = request.rows_limit(), .reversed = request.reversed()};
  if (selection.limit < 0) {
    return Invalid("rows_limit must not be negative, and is ", selection.limit);
  }
  BT_ASSIGN_OR_RETURN(selection.rows, ToRowSet(request.rows()));
  return selection;
}

}  // namespace bigtable::convert
