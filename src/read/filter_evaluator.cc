#include "read/filter_evaluator.h"

#include <algorithm>

#include "base/strings.h"
#include "read/filter_program.h"
#include "read/row_pipe.h"

namespace bigtable {

FilterEvaluator::Bounded::Bounded(const FilterNode* filter,
                                  const std::shared_ptr<MemoryBudget>& budget)
    : memory(budget) {
  if (!filter->needs_row) return;
  rest = FilterProgram::Flatten(filter);
  rest.erase(rest.begin(), std::find_if(rest.begin(), rest.end(),
                                        [](const FilterNode* node) { return node->needs_row; }));
}

absl::Status FilterEvaluator::TakeExpressions(const std::shared_ptr<MemoryBudget>& budget) {
  return bounded_.emplace(spec_.filter, budget).memory.Take(spec_.filter->expression_bytes);
}

absl::Status FilterEvaluator::WithRow(const absl::Status& error, std::string_view row) {
  return Annotate(error, Cat("row ", Quoted(row)));
}

void FilterEvaluator::KeepMemoryOf(size_t cells) {
  bounded_->memory.ReturnTo(spec_.filter->expression_bytes + cells * sizeof(Cell));
}

absl::Status FilterEvaluator::PassCollected(std::string_view row, absl::Span<const Cell> cells,
                                            size_t most, std::vector<Cell>* passed) {
  absl::Status failure;
  CallPace pace(&spec_.limits, &failure);
  const RowCells of_row{row, cells, &pace};
  RowPipe pipe(&of_row);
  pipe.Append(bounded_->rest);
  pipe.Start();
  RowPipe::Cells group, sunk;
  for (size_t at = 0; at < cells.size() && !pipe.is_done();) {
    at = RowPipe::NextGroup(cells, at, &group);
    sunk.clear();
    pipe.Pass(&group, &sunk);
    if (!failure.ok() || !pace.Count(0)) break;
    BT_RETURN_IF_ERROR(AddPassed(group, row, passed));
    BT_RETURN_IF_ERROR(AddPassed(sunk, row, passed));
    if (passed->size() >= most) {
      passed->resize(most);
      break;
    }
  }
  return failure;
}

absl::Status FilterEvaluator::AddPassed(absl::Span<const Cell> cells, std::string_view row,
                                        std::vector<Cell>* passed) {
  // The destination copies the result.
  constexpr size_t kBytesOfCell = 2 * sizeof(Cell);
  const size_t size = passed->size() + cells.size();
  if (size > passed->capacity()) {
    const size_t capacity = std::max(size, 2 * passed->capacity());
    BT_RETURN_IF_ERROR(TakeMemory((capacity - passed->capacity()) * kBytesOfCell, row));
    passed->reserve(capacity);
  }
  passed->insert(passed->end(), cells.begin(), cells.end());
  return absl::OkStatus();
}

}  // namespace bigtable
