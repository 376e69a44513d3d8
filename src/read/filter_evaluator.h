// Evaluates the filter of a read within what bounds it: the limits of the call, and the memory that
// the read may take for its filter. One thread at a time.
//
// It takes the cells of a row from a source, and leaves those that the filter passes in the row
// that is built. A FilterProgram judges cells one by one. Interleave, Condition, ApplyLabel, Sink,
// and chains that have one of these need the whole row: the cells that the program passes are
// collected in the row first, and their memory is taken. Cells come from three places:
// * A MergedRow, the cells of a CellCursor. The cursor runs the program itself, because a verdict
//   also says what to read next: the cursor seeks past a column, a family or a row.
// * A CachedRow, or other CellsInMemory. The program is run on each cell (PassedCells).
// * The collected row. Its cells pass what follows the program, which is a RowPipe.
//
// A program and a pipe need the pace of a call to start a row, so none is run without its limits.
//
// Why a cursor is not CellsInMemory too: it would have to return each cell of the columns that the
// filter excludes. The cursor excludes a column before it looks at its deletions and versions, and
// often seeks past it. Therefore a stream whose filter needs no whole row takes the cells straight
// from the cursor, and has an evaluator only for the memory of its regular expressions.
#ifndef BIGTABLE_READ_FILTER_EVALUATOR_H_
#define BIGTABLE_READ_FILTER_EVALUATOR_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/memory_budget.h"
#include "bigtable/row.h"

#include "base/call_limits.h"
#include "base/ref_counted.h"
#include "base/status.h"
#include "cache/read_memory.h"
#include "read/cell_cursor.h"
#include "read/cell_filter.h"
#include "read/filter_node.h"
#include "read/read_spec.h"

namespace bigtable {

// The cells of a row, in order, before the filter. Next() returns false at the end; the texts of a
// cell stay valid as long as the owner.
template <typename Source>
concept CellsInMemory = requires(Source source, Cell* cell) {
  { source.row() } -> std::same_as<std::string_view>;
  { source.Next(cell) } -> std::same_as<bool>;
  { source.owner() } -> std::convertible_to<const RefCounted*>;
};

// The row of a cursor, from its next cell on, or from the cell at which it stands.
class MergedRow {
 public:
  enum class From { kNextCell, kThisCell };
  explicit MergedRow(CellCursor* cells, From from = From::kNextCell) : cells_(cells), from_(from) {}

  bool First() { return from_ == From::kThisCell || cells_->Next(); }
  bool Next() { return cells_->NextInRow(); }
  const absl::Status& status() const { return cells_->status(); }
  // Memory of the cell if it is collected: with its value if that is not in memory anyway.
  uint64_t bytes() const {
    const uint64_t value = cells_->value_owner() != nullptr ? cells_->value().size() : 0;
    return sizeof(Cell) + cells_->qualifier().size() + value;
  }
  template <typename Row>
  void AddTo(Row* row) const {
    row->Add(*cells_);
  }

 private:
  CellCursor* const cells_;
  const From from_;
};

// Those of a row's cells that the program of the read's filter passes.
template <CellsInMemory Source>
class PassedCells {
 public:
  PassedCells(Source* source, const ReadSpec& spec)
      : source_(source), pace_(&spec.limits, &status_) {
    if (spec.filter != nullptr) filter_.emplace(spec.filter).StartRow(source->row(), &pace_);
  }
  PassedCells(const PassedCells&) = delete;
  PassedCells& operator=(const PassedCells&) = delete;

  bool First() { return Next(); }
  [[gnu::always_inline]] bool Next() {
    while (source_->Next(&cell_) && pace_.Count(cell_.value.size())) {
      if (!filter_.has_value() || filter_->Pass(&cell_)) return true;
      if (filter_->is_done()) return false;
    }
    return false;
  }
  const absl::Status& status() const { return status_; }
  uint64_t bytes() const { return sizeof(Cell) + cell_.qualifier.size() + cell_.value.size(); }
  template <typename Row>
  void AddTo(Row* row) const {
    row->AddInPlace(cell_, source_->owner());
  }

 private:
  Source* const source_;
  absl::Status status_;
  CallPace pace_;  // sets the status
  std::optional<CellFilter> filter_;
  Cell cell_;
};

class FilterEvaluator {
 public:
  // The spec outlives this, and its filter the labels of the cells.
  explicit FilterEvaluator(const ReadSpec& spec) : spec_(spec) {}
  FilterEvaluator(const FilterEvaluator&) = delete;
  FilterEvaluator& operator=(const FilterEvaluator&) = delete;

  // First, and also for streams that read without an evaluator: takes the memory of the filter's
  // regular expressions. Null: only ReadMemory::kMost is a limit. ResourceExhausted: it was
  // refused.
  absl::Status Begin(const std::shared_ptr<MemoryBudget>& budget) {
    if (spec_.filter == nullptr || !spec_.filter->takes_memory()) [[likely]]
      return absl::OkStatus();
    return TakeExpressions(budget);
  }

  // Whether the filter is evaluated only when all cells of a row are there.
  bool needs_row() const { return spec_.filter != nullptr && spec_.filter->needs_row; }

  // Leaves in the row, which is empty, the first `most` cells that the filter passes. Errors: those
  // of the source, of the limits, and of the memory, which name the row. After one the row may have
  // any of the source's cells. Memory of the row that was read before is returned, and that of this
  // one except for the cells that are left. The row is built by:
  //
  //   void Add(const CellCursor&)                       the cell of a MergedRow
  //   void AddInPlace(const Cell&, const RefCounted*)   one of CellsInMemory, with its owner
  //   std::string_view key() const
  //   absl::Span<const Cell> cells() const              all that were added
  //   void Replace(absl::Span<const Cell>)              these are the cells now
  template <CellsInMemory Source, typename Row>
  absl::Status ReadRow(Source* source, size_t most, Row* row) {
    PassedCells<Source> passed(source, spec_);
    return Read(&passed, most, row);
  }
  template <typename Row>
  absl::Status ReadRow(MergedRow* source, size_t most, Row* row) {
    return Read(source, most, row);
  }

 private:
  // What bounds a filter that takes memory.
  struct Bounded {
    Bounded(const FilterNode* filter, const std::shared_ptr<MemoryBudget>& budget);

    ReadMemory memory;
    std::vector<const FilterNode*> rest;  // from the first filter that needs the whole row
  };

  template <typename Source, typename Row>
  absl::Status Read(Source* source, size_t most, Row* row) {
    if (needs_row()) [[unlikely]]
      return ReadWhole(source, most, row);
    for (bool more = source->First(); more; more = --most > 0 && source->Next()) source->AddTo(row);
    return source->status();
  }
  template <typename Source, typename Row>
  [[gnu::noinline]] absl::Status ReadWhole(Source* source, size_t most, Row* row) {
    ABSL_ASSERT(bounded_.has_value() && "Begin comes first");
    KeepMemoryOf(0);
    const absl::Status status = Collect(source, most, row);
    KeepMemoryOf(status.ok() ? row->cells().size() : 0);
    return status;
  }
  template <typename Source, typename Row>
  absl::Status Collect(Source* source, size_t most, Row* row) {
    for (bool more = source->First(); more; more = source->Next()) {
      BT_RETURN_IF_ERROR(TakeMemory(source->bytes(), row->key()));
      source->AddTo(row);
    }
    BT_RETURN_IF_ERROR(source->status());
    std::vector<Cell> passed;
    BT_RETURN_IF_ERROR(PassCollected(row->key(), row->cells(), most, &passed));
    row->Replace(passed);
    return absl::OkStatus();
  }

  absl::Status TakeExpressions(const std::shared_ptr<MemoryBudget>& budget);
  absl::Status TakeMemory(uint64_t bytes, std::string_view row) {
    absl::Status taken = bounded_->memory.Take(bytes);
    return taken.ok() ? taken : WithRow(taken, row);
  }
  static absl::Status WithRow(const absl::Status& error, std::string_view row);
  // Besides that of the expressions.
  void KeepMemoryOf(size_t cells);
  absl::Status PassCollected(std::string_view row, absl::Span<const Cell> cells, size_t most,
                             std::vector<Cell>* passed);
  // Adds to the cells that passed, whose memory is taken before it is allocated.
  absl::Status AddPassed(absl::Span<const Cell> cells, std::string_view row,
                         std::vector<Cell>* passed);

  const ReadSpec& spec_;
  std::optional<Bounded> bounded_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_FILTER_EVALUATOR_H_
