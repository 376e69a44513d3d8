#include "read/filter_program.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/base/macros.h"

#include "base/checksum.h"

namespace bigtable {
namespace {

using Kind = FilterNode::Kind;

// Branches are followed by all that follows their tree, so trees in a chain multiply.
constexpr int kMostPrograms = 256;
constexpr uint64_t kSampleSeed = 0x726f7773;  // not that of any checksum that is stored

bool MatchesAll(const FilterNode& node, std::string_view text) {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *node.regex);
}

// By the key's checksum: in every process and on every server the same.
bool IsInSample(const FilterNode& node, std::string_view row) {
  return static_cast<double>(Checksum(row, kSampleSeed)) < std::ldexp(node.probability, 64);
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
      return MatchesAll(node, family);
    case Kind::kColumnRegex:
    case Kind::kRowRegex:
    case Kind::kRowSample:
    case Kind::kValueRegex:
    case Kind::kValueRange:
    case Kind::kTimestamps:
    case Kind::kLatest:
    case Kind::kCellsRowLimit:
    case Kind::kCellsRowOffset:
    case Kind::kStripValue:
    case Kind::kApplyLabel:
    case Kind::kSink:
    case Kind::kChain:
    case Kind::kInterleave:
    case Kind::kCondition:
      break;
  }
  return true;  // the family is read, its access list is checked, and Judge decides
}

}  // namespace

FilterProgram::FilterProgram(const FilterNode* filter) {
  if (filter != nullptr && filter->needs_row) {
    int programs_left = kMostPrograms;
    AppendChain(Flatten(filter), &programs_left);
  } else if (filter != nullptr) {
    Append(filter);
  }
  FindProperties();
}

FilterProgram::FilterProgram(absl::Span<const FilterNode* const> chain) {
  int programs_left = kMostPrograms;
  AppendChain(chain, &programs_left);
  FindProperties();
}

FilterProgram::FilterProgram(absl::Span<const FilterNode* const> chain, int* programs_left) {
  AppendChain(chain, programs_left);
  FindProperties();
}

FilterProgram::FilterProgram(FilterProgram&&) noexcept = default;
FilterProgram::~FilterProgram() = default;

std::vector<const FilterNode*> FilterProgram::Flatten(const FilterNode* filter) {
  if (filter == nullptr) return {};
  if (filter->kind != Kind::kChain) return {filter};
  std::vector<const FilterNode*> chain;
  for (const Filter& part : filter->parts) {
    const std::vector<const FilterNode*> of_part = Flatten(FilterNode::Of(part));
    chain.insert(chain.end(), of_part.begin(), of_part.end());
  }
  return chain;
}

void FilterProgram::Append(const FilterNode* node) {
  if (node->kind != Kind::kChain) {
    steps_.push_back({node, TraitsOf(node->kind)});
    return;
  }
  for (const Filter& part : node->parts) {
    if (FilterNode::Of(part) != nullptr) Append(FilterNode::Of(part));
  }
}

void FilterProgram::AppendChain(absl::Span<const FilterNode* const> chain, int* programs_left) {
  for (size_t i = 0; i < chain.size(); ++i) {
    if (chain[i]->needs_row) return AddBranches(*chain[i], chain.subspan(i + 1), programs_left);
    Append(chain[i]);
  }
}

// A cell takes one of the branches and then the rest, or counts for the predicate.
void FilterProgram::AddBranches(const FilterNode& tree, absl::Span<const FilterNode* const> rest,
                                int* programs_left) {
  std::vector<std::vector<const FilterNode*>> branches;
  if (tree.kind == Kind::kApplyLabel) branches.emplace_back();
  for (const Filter& part : tree.parts) branches.push_back(Flatten(FilterNode::Of(part)));
  const size_t predicate = tree.kind == Kind::kCondition ? 0 : SIZE_MAX;
  branches_ = std::make_unique<std::vector<FilterProgram>>();
  *programs_left -= static_cast<int>(branches.size());
  // A sink passes all that comes to it. So do branches that are too many to look at.
  if (tree.kind == Kind::kSink || *programs_left < 0) branches = {{}};
  for (size_t i = 0; i < branches.size(); ++i) {
    if (i != predicate && tree.kind != Kind::kSink && *programs_left >= 0) {
      branches[i].insert(branches[i].end(), rest.begin(), rest.end());
    }
    branches_->push_back(FilterProgram(branches[i], programs_left));
  }
}

void FilterProgram::FindProperties() {
  const auto counting = std::find_if(steps_.begin(), steps_.end(), [](const Step& step) {
    return step.traits.counts == FilterCount::kCellsOfRow;
  });
  first_counting_ = static_cast<size_t>(counting - steps_.begin());
  const auto about_values = std::find_if(steps_.begin(), steps_.end(), [](const Step& step) {
    const Kind kind = step.node->kind;
    return kind == Kind::kStripValue || kind == Kind::kValueRegex || kind == Kind::kValueRange;
  });
  needs_values_ = about_values == steps_.end() || about_values->node->kind != Kind::kStripValue;
}

bool FilterProgram::MayPassFamily(std::string_view family) const {
  // Behind a step that counts the cells of a row, those of all families count.
  for (size_t i = 0; i < first_counting_; ++i) {
    if (!FamilyMayPass(*steps_[i].node, family)) return false;
  }
  return !AppliesBranches() ||
         std::any_of(branches_->begin(), branches_->end(),
                     [&](const FilterProgram& branch) { return branch.MayPassFamily(family); });
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
    *last = node.last_timestamp();
    return true;
  }
  if (!AppliesBranches() || branches_->empty()) return false;
  *first = std::numeric_limits<int64_t>::max();
  *last = std::numeric_limits<int64_t>::min();
  for (const FilterProgram& branch : *branches_) {
    int64_t from = 0, to = 0;
    if (!branch.BoundsTimestamps(&from, &to)) return false;
    *first = std::min(*first, from);
    *last = std::max(*last, to);
  }
  return true;
}

bool FilterProgram::Matches(const FilterNode& node, std::string_view text) {
  return pace_->Count(text.size()) && MatchesAll(node, text);
}

void FilterProgram::StartRow(std::string_view row, CallPace* pace) {
  row_passes_ = true;
  row_ = row;
  pace_ = pace;
  for (Step& step : steps_) {
    step.count = 0;
    if (step.traits.scope == FilterScope::kRow) {
      row_passes_ &= JudgeStep(step, 0, nullptr) == Verdict::kPass;
    }
  }
  if (branches_ == nullptr) return;
  for (FilterProgram& branch : *branches_) branch.StartRow(row, pace);
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
  if (verdict == Verdict::kPass && AppliesBranches()) [[unlikely]] {
    verdict = StartBranches(family, qualifier);
  }
  return verdict;
}

// What no branch needs is left out.
FilterProgram::Verdict FilterProgram::StartBranches(std::string_view family,
                                                    std::string_view qualifier) {
  Verdict verdict = Verdict::kNextRow;
  bool may_be_next = false;  // the next column may be one that a branch needs
  for (FilterProgram& branch : *branches_) {
    const Verdict of_branch = branch.StartColumn(family, qualifier);
    if (of_branch == Verdict::kPass) return Verdict::kPass;
    may_be_next |= of_branch == Verdict::kNextColumn;
    if (of_branch == Verdict::kSeekColumn &&
        (verdict != Verdict::kSeekColumn || branch.seek_qualifier() < seek_qualifier_)) {
      seek_qualifier_ = branch.seek_qualifier();
    }
    verdict = std::min(verdict, of_branch);
  }
  return may_be_next ? Verdict::kNextColumn : verdict;
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
    case Kind::kRowSample:
      return IsInSample(node, row_) ? Verdict::kPass : Verdict::kNextRow;
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
      if (timestamp > node.last_timestamp()) return Verdict::kNextCell;
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
    case Kind::kValueRange:
      return *value >= node.begin && (node.end.empty() || *value < node.end) ? Verdict::kPass
                                                                             : Verdict::kNextCell;
    case Kind::kStripValue:
      *value = {};
      return Verdict::kPass;
    case Kind::kChain:  // Append takes it apart
    case Kind::kApplyLabel:
    case Kind::kSink:
    case Kind::kInterleave:
    case Kind::kCondition:
      break;  // AppendChain ends at them
  }
  ABSL_ASSERT(false && "a step is none of these");
  return Verdict::kNextRow;
}

}  // namespace bigtable
