// The parts of CellCursor that run once in a read, or once a row: the beginning of its rows, the
// previous row of a reverse read, and the rest of a row after a source has failed.
#include <algorithm>
#include <limits>
#include <utility>

#include "read/cell_cursor.h"

namespace bigtable {
namespace {

int64_t NewestThatPasses(const FilterProgram& filter) {
  int64_t first;
  int64_t last;
  if (!Shortcuts().Has(Shortcut::kPassNewer) || !filter.BoundsTimestamps(&first, &last)) {
    return std::numeric_limits<int64_t>::max();
  }
  return std::max<int64_t>(last, 0);
}

}  // namespace

CellCursor::CellCursor(const TabletVersion* version, const ReadSpec& spec)
    : version_(version),
      spec_(spec),
      sequence_(spec.sequence),
      reverse_(spec.reverse),
      has_limits_(!spec.limits.deadline.is_never() || spec.limits.cancellation != nullptr),
      enters_first_(!has_limits_ && Shortcuts().Has(Shortcut::kEnterFirst)),
      enters_same_column_(!has_limits_ && !spec.reverse &&
                          Shortcuts().Has(Shortcut::kEnterSameColumn)),
      takes_plain_keys_(Shortcuts().Has(Shortcut::kPlainKeys)),
      counts_versions_(Shortcuts().Has(Shortcut::kCountVersions)),
      steps_before_seek_(Shortcuts().Has(Shortcut::kSeekForward) ? kStepsBeforeSeek
                                                                 : std::numeric_limits<int>::max()),
      filter_(spec.filter),
      newest_(NewestThatPasses(filter_)),
      sources_(version, spec.settings, &filter_, &input_) {}

void CellCursor::Reset() {
  sources_.Clear();
  status_ = absl::OkStatus();
  fresh_ = true;
  has_cell_ = false;
  skip_row_ = false;
  behind_row_ = absl::OkStatus();
  reverse_row_.clear();
  row_prefix_size_ = 0;
  same_column_size_ = 0;
  column_prefix_.clear();
  begin_.clear();
  end_.clear();
  single_row_ = false;
  single_row_is_plain_ = false;
}

void CellCursor::ReadRow(const RowProbe& row) {
  Reset();
  single_row_ = true;
  begin_.assign(row.prefix());
  single_row_is_plain_ = row.is_plain() && takes_plain_keys_;
  sources_.AddRow(row);
}

void CellCursor::ReadRange(const RowRange& range) {
  Reset();
  if (range.empty()) return;
  if (!range.begin().empty()) AppendRowPrefix(&begin_, range.begin());
  if (range.end().has_value()) AppendRowPrefix(&end_, *range.end());
  sources_.AddRange(begin_.view(), end_.view());
}

// For a reverse read: moves the input to the beginning of the last row before the current one, or
// of the range.
bool CellCursor::StartPreviousRow() {
  if (!reverse_row_.empty()) {
    input_.SeekBefore(reverse_row_.view());
  } else if (end_.empty()) {
    input_.SeekToLast();
  } else {
    input_.SeekBefore(end_.view());
  }
  behind_row_ = absl::OkStatus();
  row_prefix_size_ = 0;
  column_prefix_.clear();
  if (!input_.valid()) return input_.status().ok() ? false : Fail(input_.status());
  if (input_.key() < begin_.view()) return false;
  reverse_row_.assign(input_.key().substr(0, RowPrefixSize(input_.key())));
  input_.Seek(reverse_row_.view());
  return true;
}

bool CellCursor::LeaveFailed(std::string_view row_prefix) {
  absl::Status failure = input_.status();
  if (row_prefix.empty() || !input_.LeaveFailed(row_prefix)) return Fail(std::move(failure));
  behind_row_ = std::move(failure);
  if (!reverse_ && !single_row_) end_.assign(PrefixSuccessor(row_prefix));
  return true;
}

}  // namespace bigtable
