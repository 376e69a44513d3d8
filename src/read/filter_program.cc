#include "read/filter_program.h"

#include <algorithm>

#include "read/filter_node.h"

namespace bigtable {
namespace {

using Kind = FilterNode::Kind;

bool Matches(const FilterNode& node, std::string_view text) {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *node.regex);
}

// Whether a cell of this family can pass the filter.
bool FamilyMayPass(const FilterNode& node, std::string_view family) {
  switch (node.kind) {
    case Kind::kBlockAll:
      return false;
    case Kind::kFamily:
    case Kind::kColumnRange:
      return node.text == family;
    case Kind::kFamilyRegex:
      return Matches(node, family);
    case Kind::kColumnRegex:
    case Kind::kRowRegex:
    case Kind::kValueRegex:
    case Kind::kTimestamps:
    case Kind::kLatest:
    case Kind::kCellsRowLimit:
    case Kind::kCellsRowOffset:
    case Kind::kStripValue:
    case Kind::kChain:
      break;
  }
  return true;  // the family is read, its access list is checked, and Judge decides
}

}  // namespace

FilterProgram::FilterProgram(const FilterNode* filter) {
  if (filter != nullptr) Append(filter);
  const auto counting = std::find_if(steps_.begin(), steps_.end(), [](const Step& step) {
    return step.traits.counts == FilterCount::kCellsOfRow;
  });
  first_counting_ = static_cast<size_t>(counting - steps_.begin());
}

void FilterProgram::Append(const FilterNode* node) {
  if (node->kind != Kind::kChain) {
    steps_.push_back({node, TraitsOf(node->kind)});
    return;
  }
  for (const Filter& filter : node->chain) {
    if (FilterNode::Of(filter) != nullptr) Append(FilterNode::Of(filter));
  }
}

bool FilterProgram::MayPassFamily(std::string_view family) const {
  // After a step that counts the cells of a row, the cells of all families count.
  for (size_t i = 0; i < first_counting_; ++i) {
    if (!FamilyMayPass(*steps_[i].node, family)) return false;
  }
  return true;
}

bool FilterProgram::IsOneColumn(std::string_view* family, std::string_view* qualifier) const {
  for (size_t i = 0; i < first_counting_; ++i) {
    const FilterNode& node = *steps_[i].node;
    if (node.kind != Kind::kColumnRange || node.end.size() != node.begin.size() + 1 ||
        node.end.back() != '\0' || !node.end.starts_with(node.begin)) {
      continue;
    }
    *family = node.text;
    *qualifier = node.begin;
    return true;
  }
  return false;
}

bool FilterProgram::BoundsTimestamps(int64_t* first, int64_t* last) const {
  for (size_t i = 0; i < first_counting_; ++i) {
    const FilterNode& node = *steps_[i].node;
    // After Latest, the range selects among the newest cells, so the others must be read to find
    // them.
    if (steps_[i].traits.counts == FilterCount::kCellsOfColumn) return false;
    if (node.kind != Kind::kTimestamps) continue;
    *first = node.low;
    *last = node.high - 1;
    return true;
  }
  return false;
}

void FilterProgram::StartRow(std::string_view row) {
  row_passes_ = true;
  row_ = row;
  for (Step& step : steps_) {
    step.count = 0;
    if (step.traits.scope == FilterScope::kRow) {
      row_passes_ &= JudgeStep(step, 0, nullptr) == Verdict::kPass;
    }
  }
}

FilterProgram::Verdict FilterProgram::StartColumn(std::string_view family,
                                                  std::string_view qualifier) {
  if (!row_passes_) return Verdict::kNextRow;
  family_ = family;
  qualifier_ = qualifier;
  done_with_column_ = false;
  Verdict verdict = Verdict::kPass;
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (step.traits.counts == FilterCount::kCellsOfColumn) step.count = 0;
    if (i < first_counting_ && step.traits.scope == FilterScope::kColumn) {
      verdict = std::max(verdict, JudgeStep(step, 0, nullptr));
    }
  }
  return verdict;
}

FilterProgram::Verdict FilterProgram::Judge(int64_t timestamp, std::string_view* value) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (step.traits.scope == FilterScope::kRow) continue;  // applied in StartRow
    if (step.traits.scope == FilterScope::kColumn) {
      if (i < first_counting_) continue;  // applied in StartColumn
      if (JudgeStep(step, timestamp, value) != Verdict::kPass) {
        return Verdict::kNextCell;  // the cells of the column still count in the steps before
      }
      continue;
    }
    const Verdict verdict = JudgeStep(step, timestamp, value);
    if (verdict == Verdict::kPass) continue;
    // A cell that reaches a step after a counting step must not be skipped because of this step.
    const bool counts_row = step.traits.counts == FilterCount::kCellsOfRow;
    return i < first_counting_ || counts_row ? verdict : Verdict::kNextCell;
  }
  return Verdict::kPass;
}

FilterProgram::Verdict FilterProgram::JudgeStep(Step& step, int64_t timestamp,
                                                std::string_view* value) {
  const FilterNode& node = *step.node;
  switch (node.kind) {
    case Kind::kRowRegex:
      return Matches(node, row_) ? Verdict::kPass : Verdict::kNextRow;
    case Kind::kBlockAll:
      return Verdict::kNextRow;
    case Kind::kFamily:
      return node.text == family_ ? Verdict::kPass : Verdict::kNextFamily;
    case Kind::kFamilyRegex:
      return Matches(node, family_) ? Verdict::kPass : Verdict::kNextFamily;
    case Kind::kColumnRange:
      if (node.text != family_) return Verdict::kNextFamily;
      if (!node.end.empty() && qualifier_ >= node.end) return Verdict::kNextFamily;
      if (qualifier_ >= node.begin) return Verdict::kPass;
      seek_qualifier_ = node.begin;
      return Verdict::kSeekColumn;
    case Kind::kColumnRegex:
      return Matches(node, qualifier_) ? Verdict::kPass : Verdict::kNextColumn;
    case Kind::kTimestamps:
      if (timestamp >= node.high) return Verdict::kNextCell;
      return timestamp >= node.low ? Verdict::kPass : Verdict::kNextColumn;
    case Kind::kLatest:
      if (step.count == node.low) return Verdict::kNextColumn;
      // The last cell that passes here ends the column, unless a step before counts the row's
      // cells.
      if (++step.count == node.low && first_counting_ >= steps_.size()) done_with_column_ = true;
      return Verdict::kPass;
    case Kind::kCellsRowLimit:
      return step.count++ < node.low ? Verdict::kPass : Verdict::kNextRow;
    case Kind::kCellsRowOffset:
      return step.count++ < node.low ? Verdict::kNextCell : Verdict::kPass;
    case Kind::kValueRegex:
      return Matches(node, *value) ? Verdict::kPass : Verdict::kNextCell;
    case Kind::kStripValue:
      *value = {};
      return Verdict::kPass;
    case Kind::kChain:
      break;  // Append has flattened it
  }
  return Verdict::kNextRow;  // not reached
}

}  // namespace bigtable
