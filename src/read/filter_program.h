// A filter compiled for one read: a list of steps that each visible cell passes in order. Steps
// that need only the column are applied first, so that columns, families and locality groups that
// cannot pass are not read. One thread at a time.
//
// A filter that needs a whole row (read/filter_evaluator.h) ends the list. Of it and of what
// follows it the program only knows which columns they can use: those that a cell has to be in to
// reach the end of one of the tree's branches, or the predicate of a Condition.
#ifndef BIGTABLE_READ_FILTER_PROGRAM_H_
#define BIGTABLE_READ_FILTER_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "bigtable/filter.h"

#include "base/call_limits.h"
#include "read/filter_node.h"

namespace bigtable {

class FilterProgram {
 public:
  // `filter` outlives the program, and is OK. Null passes everything.
  explicit FilterProgram(const FilterNode* filter);
  // The same for filters that apply one after another.
  explicit FilterProgram(absl::Span<const FilterNode* const> chain);
  FilterProgram(FilterProgram&&) noexcept;
  ~FilterProgram();

  // The filters that apply one after another: the filter itself, or the parts of its chains.
  static std::vector<const FilterNode*> Flatten(const FilterNode* filter);

  // What to read next. Later values skip more.
  enum class Verdict { kPass, kNextCell, kSeekColumn, kNextColumn, kNextFamily, kNextRow };

  bool passes_everything() const { return steps_.empty() && branches_ == nullptr; }
  // Whether what passes depends on values, or has them.
  bool needs_values() const { return needs_values_; }
  // Whether a cell of this family can pass at all.
  bool MayPassFamily(std::string_view family) const;

  // The one column that can pass, if the filter names one.
  bool IsOneColumn(std::string_view* family, std::string_view* qualifier) const;
  // The timestamps [first, last] that can pass, if the filter bounds them.
  bool BoundsTimestamps(int64_t* first, int64_t* last) const;

  // The pace counts the bytes that regular expressions look at, because a value may have a hundred
  // million. After a limit has ended the call, nothing passes. Both outlive the row.
  void StartRow(std::string_view row, CallPace* pace);
  // Called for each column before its cells. kSeekColumn: nothing before seek_qualifier() passes.
  Verdict StartColumn(std::string_view family, std::string_view qualifier);
  std::string_view seek_qualifier() const { return seek_qualifier_; }
  // Called for each visible cell of a column that passed, newest first. May clear the value. After
  // a verdict other than kPass the cell is not returned; kPass may come with done_with_column().
  Verdict Judge(int64_t timestamp, std::string_view* value);
  // Whether no further cell of the column can pass after the one that just did.
  bool done_with_column() const { return done_with_column_; }

 private:
  struct Step {
    const FilterNode* node;
    FilterTraits traits;
    int64_t count = 0;  // of the cells that traits.counts names
  };

  FilterProgram(absl::Span<const FilterNode* const> chain, int* programs_left);
  void Append(const FilterNode* node);
  void AppendChain(absl::Span<const FilterNode* const> chain, int* programs_left);
  void AddBranches(const FilterNode& tree, absl::Span<const FilterNode* const> rest,
                   int* programs_left);
  // What is known once the program has all its steps.
  void FindProperties();
  // Whether the column tests of the branches may be applied before cells are counted.
  bool AppliesBranches() const { return branches_ != nullptr && first_counting_ == steps_.size(); }
  // False also after a limit has ended the call.
  bool Matches(const FilterNode& node, std::string_view text);
  Verdict StartBranches(std::string_view family, std::string_view qualifier);
  // The verdict of a step on the current row, the current column, or a cell of it. Only steps with
  // cell scope examine the cell.
  Verdict JudgeStep(Step& step, int64_t timestamp, std::string_view* value);

  absl::InlinedVector<Step, 4> steps_;
  std::unique_ptr<std::vector<FilterProgram>> branches_;  // null: the steps are the whole filter
  // Steps before this one do not count cells of a row, so their column tests can be applied early.
  size_t first_counting_ = 0;
  bool needs_values_ = true;
  CallPace* pace_ = nullptr;  // in StartRow
  bool row_passes_ = true;
  std::string_view row_;
  std::string_view family_;
  std::string_view qualifier_;
  std::string_view seek_qualifier_;
  bool done_with_column_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_FILTER_PROGRAM_H_
