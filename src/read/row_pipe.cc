#include "read/row_pipe.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/base/macros.h"

#include "read/cell_filter.h"
#include "read/filter_program.h"

namespace bigtable {
namespace {

using Kind = FilterNode::Kind;
using Cells = RowPipe::Cells;

}  // namespace

// Either for filters that examine cells one by one, or for one of the other filters.
struct RowPipe::Stage {
  explicit Stage(Chain chain) : plain(std::in_place, chain) {}
  explicit Stage(const FilterNode& node) : tree(&node), has_sink(node.kind == Kind::kSink) {}

  void Start(const RowCells& row);
  void Pass(Cells* group, Cells* sunk, CallPace* pace);
  void PassPlain(Cells* group);
  void PassBranches(Cells* group, Cells* sunk, CallPace* pace);

  std::optional<CellFilter> plain;

  const FilterNode* tree = nullptr;
  std::vector<RowPipe> branches;
  Cells all, copy;  // of a group, while it passes the branches

  bool has_sink = false;
  bool is_done = false;  // passes nothing any more
};

void RowPipe::Stage::Start(const RowCells& row) {
  is_done = false;
  for (RowPipe& branch : branches) branch.Start();
  if (plain.has_value()) plain->StartRow(row.row, row.pace);
}

void RowPipe::Stage::Pass(Cells* group, Cells* sunk, CallPace* pace) {
  if (is_done) return group->clear();
  if (plain.has_value()) return PassPlain(group);
  switch (tree->kind) {
    case Kind::kInterleave:
      return PassBranches(group, sunk, pace);
    case Kind::kApplyLabel:
      for (Cell& cell : *group) cell.labels = CellLabels(tree->text);
      return;
    case Kind::kSink:
      if (sunk != nullptr) sunk->insert(sunk->end(), group->begin(), group->end());
      return group->clear();
    default:
      ABSL_ASSERT(false && "a branch is in the place of a Condition");
      return group->clear();
  }
}

void RowPipe::Stage::PassPlain(Cells* group) {
  size_t passed = 0;
  for (size_t i = 0; i < group->size() && plain->GoToColumn((*group)[i]); ++i) {
    Cell cell = (*group)[i];
    if (plain->PassInColumn(&cell)) (*group)[passed++] = cell;
  }
  group->resize(passed);
  is_done = plain->is_done();
}

// In the group, all that the first branch passes comes before what the second one passes.
void RowPipe::Stage::PassBranches(Cells* group, Cells* sunk, CallPace* pace) {
  all.clear();
  is_done = true;
  for (RowPipe& branch : branches) {
    if (branch.is_done()) continue;
    if (!pace->Count(group->size() * sizeof(Cell))) break;
    copy.assign(group->begin(), group->end());
    branch.Pass(&copy, sunk);
    all.insert(all.end(), copy.begin(), copy.end());
    is_done &= branch.is_done();
  }
  group->swap(all);
}

RowPipe::RowPipe(const RowCells* row) : row_(row) {}
RowPipe::RowPipe(RowPipe&&) noexcept = default;
RowPipe::~RowPipe() = default;

void RowPipe::Append(Chain chain, const Upstream* before) {
  while (!chain.empty()) {
    size_t plain = 0;
    while (plain < chain.size() && !chain[plain]->needs_row) ++plain;
    if (plain > 0) {
      stages_.emplace_back(chain.subspan(0, plain));
    } else {
      AppendTree(*chain.front(), before);
      plain = 1;
    }
    chain.remove_prefix(plain);
  }
}

void RowPipe::AppendTree(const FilterNode& tree, const Upstream* before) {
  if (tree.kind == Kind::kCondition) {
    const bool passes = PassesAny(FilterNode::Of(tree.parts[0]), before);
    const Filter& chosen = tree.parts[passes ? 1 : 2];
    return Append(FilterProgram::Flatten(FilterNode::Of(chosen)), before);
  }
  Stage stage(tree);
  if (tree.kind == Kind::kInterleave) {
    const Upstream here{this, before};
    for (const Filter& part : tree.parts) {
      RowPipe& branch = stage.branches.emplace_back(row_);
      branch.Append(FilterProgram::Flatten(FilterNode::Of(part)), &here);
      stage.has_sink |= branch.has_sink_;
    }
  }
  has_sink_ |= stage.has_sink;
  stages_.push_back(std::move(stage));
}

bool RowPipe::PassesAny(const FilterNode* predicate, const Upstream* before) {
  const Upstream here{this, before};
  RowPipe pipe(row_);
  pipe.Append(FilterProgram::Flatten(predicate), &here);
  const Upstream last{&pipe, &here};
  StartAll(last);
  Cells group;
  for (size_t at = 0; at < row_->cells.size();) {
    at = NextGroup(row_->cells, at, &group);
    if (!row_->pace->Count(0) || !PassAll(last, &group)) return false;
    if (!group.empty()) return true;
  }
  return false;
}

void RowPipe::StartAll(const Upstream& last) {
  if (last.before != nullptr) StartAll(*last.before);
  last.pipe->Start();
}

bool RowPipe::PassAll(const Upstream& last, Cells* group) {
  if (last.before != nullptr && !PassAll(*last.before, group)) return false;
  if (last.pipe->is_done_) return false;
  last.pipe->Pass(group, nullptr);
  return true;
}

void RowPipe::Start() {
  is_done_ = false;
  for (Stage& stage : stages_) stage.Start(*row_);
}

void RowPipe::Pass(Cells* group, Cells* sunk) {
  bool may_sink = false;  // one of the stages so far
  for (Stage& stage : stages_) {
    if (group->empty()) return;
    stage.Pass(group, sunk, row_->pace);
    // What was passed before it was done still passes the stages after it.
    is_done_ |= stage.is_done && !may_sink;
    may_sink |= stage.has_sink;
  }
}

size_t RowPipe::NextGroup(absl::Span<const Cell> cells, size_t at, Cells* group) {
  ABSL_ASSERT(at < cells.size() && "there is a next group");
  const Cell& first = cells[at];
  group->clear();
  do {
    group->push_back(cells[at++]);
  } while (at < cells.size() && cells[at].timestamp == first.timestamp &&
           cells[at].family == first.family && cells[at].qualifier == first.qualifier);
  return at;
}

}  // namespace bigtable
