// The stages that the cells of a row pass one after another, for filters that need the whole row
// (filter_evaluator.h).
//
// Cells pass in groups: a cell of the row and its copies, which have the same column and timestamp,
// in the order in which they will be in the result. A stage makes of each group another group of
// the same column and timestamp, so the groups leave in the order of the row, and no stage keeps
// more than one. A limit therefore ends the work before copies are made that it would exclude.
//
// Which branch a Condition takes depends on the whole row, so that is decided while the stages are
// made: the predicate sees what the stages before it pass, until it passes a cell. Then the branch
// takes the Condition's place.
//
// One thread at a time.
#ifndef BIGTABLE_READ_ROW_PIPE_H_
#define BIGTABLE_READ_ROW_PIPE_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

#include "bigtable/row.h"

#include "base/call_limits.h"
#include "read/filter_node.h"

namespace bigtable {

// The cells of a row, in order, and the pace of the call. All that it points to outlives the pipe.
struct RowCells {
  std::string_view row;
  absl::Span<const Cell> cells;
  CallPace* pace;
};

class RowPipe {
 public:
  using Cells = std::vector<Cell>;
  using Chain = absl::Span<const FilterNode* const>;
  // The stages before those of a pipe, for the predicates of its Conditions.
  struct Upstream {
    RowPipe* pipe;
    const Upstream* before;  // null: the row comes to `pipe`
  };

  explicit RowPipe(const RowCells* row);
  RowPipe(RowPipe&&) noexcept;
  ~RowPipe();

  // Adds the filters of the chain as stages. After a limit has ended the call (CallPace), the
  // stages are of no use.
  void Append(Chain chain, const Upstream* before = nullptr);

  // To be called before the first group of a row.
  void Start();
  // Makes of a group what the stages pass of it. Cells that come to a Sink are added to `*sunk`.
  void Pass(Cells* group, Cells* sunk);
  // Whether nothing passes any more, and nothing comes to a sink.
  bool is_done() const { return is_done_; }

  // Makes `*group` the one that begins at this cell of the row. Returns the place of the next one.
  static size_t NextGroup(absl::Span<const Cell> cells, size_t at, Cells* group);

 private:
  struct Stage;

  void AppendTree(const FilterNode& tree, const Upstream* before);
  // Whether the filter passes any of the cells that come to the end of this pipe.
  bool PassesAny(const FilterNode* predicate, const Upstream* before);
  static void StartAll(const Upstream& last);
  // False: nothing passes any more.
  static bool PassAll(const Upstream& last, Cells* group);

  const RowCells* row_;
  std::vector<Stage> stages_;
  bool has_sink_ = false;
  bool is_done_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_ROW_PIPE_H_
