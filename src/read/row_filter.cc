#include "read/row_filter.h"

#include <algorithm>

#include "base/call_limits.h"
#include "base/status.h"
#include "base/strings.h"
#include "read/filter_program.h"
#include "read/row_pipe.h"

namespace bigtable {
namespace {

// Adds cells to a result, whose memory is taken before it is allocated.
absl::Status AddCells(absl::Span<const Cell> cells, const RowFilter::Bounds& bounds,
                      std::vector<Cell>* passed) {
  // The caller copies the result.
  constexpr size_t kBytesOfCell = 2 * sizeof(Cell);
  const size_t size = passed->size() + cells.size();
  if (size > passed->capacity()) {
    const size_t capacity = std::max(size, 2 * passed->capacity());
    BT_RETURN_IF_ERROR(bounds.memory->Take((capacity - passed->capacity()) * kBytesOfCell));
    passed->reserve(capacity);
  }
  passed->insert(passed->end(), cells.begin(), cells.end());
  return absl::OkStatus();
}

}  // namespace

RowFilter::RowFilter(const FilterNode* filter) {
  rest_ = FilterProgram::Flatten(filter);
  rest_.erase(rest_.begin(), std::find_if(rest_.begin(), rest_.end(),
                                          [](const FilterNode* node) { return node->needs_row; }));
}

absl::Status RowFilter::Run(std::string_view row, absl::Span<const Cell> cells,
                            const Bounds& bounds, std::vector<Cell>* passed) const {
  passed->clear();
  absl::Status failure;
  CallPace pace(&bounds.limits, &failure);
  const RowCells of_row{row, cells, &pace};
  RowPipe pipe(&of_row);
  pipe.Append(rest_);
  pipe.Start();
  RowPipe::Cells group, sunk;
  for (size_t at = 0; at < cells.size() && !pipe.is_done();) {
    at = RowPipe::NextGroup(cells, at, &group);
    sunk.clear();
    pipe.Pass(&group, &sunk);
    if (!failure.ok() || !pace.Count(0)) break;
    absl::Status added = AddCells(group, bounds, passed);
    if (added.ok()) added = AddCells(sunk, bounds, passed);
    if (!added.ok()) return Annotate(added, Cat("row ", Quoted(row)));
    if (passed->size() >= bounds.most_cells) {
      passed->resize(bounds.most_cells);
      break;
    }
  }
  return failure;
}

}  // namespace bigtable
