#include "compaction/cell_filters.h"

#include <string_view>

#include "absl/status/status.h"

#include "bigtable/row_mutation.h"
#include "bigtable/timestamp.h"

#include "base/catch_thrown.h"
#include "base/entry_key.h"
#include "base/strings.h"

namespace bigtable {

bool CellFilters::Applies(EntryVersion version) {
  const RetainedFamily* const family = column_.family();
  const Retention& retention = column_.retention();
  if (!major_ || family == nullptr || family->filter == nullptr || retention.held) return false;
  const bool is_seen = retention.defers_filters || !column_.Resolves(version);
  if (is_seen) ++cells_unfiltered_;
  return !is_seen;
}

CompactionFilter::Decision CellFilters::Apply() {
  const RetainedFamily& family = *column_.family();
  const std::string_view row = column_.row_prefix();
  const std::string_view column = std::string_view(column_.prefix()).substr(row.size());
  const CompactedCell cell{
      .row = Unescape(row, &row_scratch_),
      .family = family.name,
      .qualifier = Unescape(column.substr(family.name.size() + 1), &qualifier_scratch_),
      .timestamp = Timestamp(column_.timestamp()),
      .value = input_.value(),
      .now = column_.retention().now};
  value_.clear();
  CompactionFilter::Decision decision = CompactionFilter::Decision::kKeep;
  const auto name = [&] { return Cat("the compaction filter of family ", Quoted(family.name)); };
  if (absl::Status thrown =
          CatchThrown(name, [&] { decision = family.filter->Filter(cell, &value_); });
      !thrown.ok()) {
    input_.Fail(std::move(thrown));
  } else if (decision == CompactionFilter::Decision::kReplace &&
             value_.size() > RowMutation::kMaxValueSize) {
    input_.Fail(absl::InvalidArgumentError(Cat(name(), " has returned a value of ", value_.size(),
                                               " bytes; a value must be at most ",
                                               RowMutation::kMaxValueSize)));
  }
  return decision;
}

}  // namespace bigtable
