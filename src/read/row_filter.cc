#include "read/row_filter.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "read/filter_program.h"

namespace bigtable {
namespace {

using Cells = std::vector<Cell>;
using Chain = absl::Span<const FilterNode* const>;
using Kind = FilterNode::Kind;

// The cells of a row on their way through a filter.
class RowRun {
 public:
  explicit RowRun(std::string_view row) : row_(row) {}

  // The cells that the chain passes.
  Cells Apply(Chain chain, Cells cells) {
    while (!chain.empty() && !cells.empty()) {
      size_t plain = 0;
      while (plain < chain.size() && !chain[plain]->needs_row) ++plain;
      if (plain > 0) {
        cells = ApplyPlain(chain.subspan(0, plain), cells);
      } else {
        cells = ApplyTree(*chain.front(), std::move(cells));
        plain = 1;
      }
      chain.remove_prefix(plain);
    }
    return cells;
  }

  // In the order of the row. Cells of equal columns and timestamps stay in theirs.
  static void Sort(Cells* cells) {
    std::stable_sort(cells->begin(), cells->end(), [](const Cell& a, const Cell& b) {
      return std::tuple(a.family, a.qualifier, b.timestamp) <
             std::tuple(b.family, b.qualifier, a.timestamp);
    });
  }

  // The cells that went to a sink.
  Cells sunk;

 private:
  Cells ApplyPlain(Chain chain, const Cells& cells) {
    using Verdict = FilterProgram::Verdict;
    FilterProgram program(chain);
    program.StartRow(row_);
    Cells passed;
    const Cell* last = nullptr;
    bool column_passes = false;
    for (const Cell& cell : cells) {
      if (last == nullptr || cell.family != last->family || cell.qualifier != last->qualifier) {
        column_passes = program.StartColumn(cell.family, cell.qualifier) == Verdict::kPass;
      }
      last = &cell;
      if (!column_passes) continue;
      Cell out = cell;
      const Verdict verdict = program.Judge(cell.timestamp.micros(), &out.value);
      if (verdict == Verdict::kNextRow) break;
      if (verdict > Verdict::kNextCell || program.done_with_column()) column_passes = false;
      if (verdict == Verdict::kPass) passed.push_back(out);
    }
    return passed;
  }

  Cells ApplyTree(const FilterNode& tree, Cells cells) {
    const auto apply_part = [&](size_t i, Cells to) {
      return Apply(FilterProgram::Flatten(FilterNode::Of(tree.parts[i])), std::move(to));
    };
    switch (tree.kind) {
      case Kind::kInterleave: {
        Cells all;
        for (size_t i = 0; i < tree.parts.size(); ++i) {
          const Cells passed = apply_part(i, cells);
          all.insert(all.end(), passed.begin(), passed.end());
        }
        Sort(&all);
        return all;
      }
      case Kind::kCondition:
        return apply_part(apply_part(0, cells).empty() ? 2 : 1, cells);
      case Kind::kApplyLabel:
        for (Cell& cell : cells) cell.labels = CellLabels(tree.text);
        return cells;
      case Kind::kSink:
        sunk.insert(sunk.end(), cells.begin(), cells.end());
        return {};
      default:
        return {};  // not reached: the others do not need the row, and are applied by ApplyPlain
    }
  }

  const std::string_view row_;
};

}  // namespace

RowFilter::RowFilter(const FilterNode* filter) {
  rest_ = FilterProgram::Flatten(filter);
  rest_.erase(rest_.begin(), std::find_if(rest_.begin(), rest_.end(),
                                          [](const FilterNode* node) { return node->needs_row; }));
}

std::vector<Cell> RowFilter::Run(std::string_view row, absl::Span<const Cell> cells) const {
  RowRun run(row);
  Cells passed = run.Apply(rest_, Cells(cells.begin(), cells.end()));
  if (run.sunk.empty()) return passed;
  passed.insert(passed.end(), run.sunk.begin(), run.sunk.end());
  RowRun::Sort(&passed);
  return passed;
}

}  // namespace bigtable
