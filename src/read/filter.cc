#include "bigtable/filter.h"

#include <algorithm>
#include <utility>

#include "base/entry_key.h"
#include "base/strings.h"
#include "base/time_range.h"
#include "read/filter_expressions.h"
#include "read/filter_node.h"

namespace bigtable {
namespace {

using Kind = FilterNode::Kind;

constexpr size_t kMostLabelBytes = 15;
// More than any filter may have. Trees that share their parts could have more than can be counted.
constexpr int64_t kManyInstructions = int64_t{1} << 40;

std::shared_ptr<FilterNode> MakeNode(Kind kind) {
  auto node = std::make_shared<FilterNode>(FilterNode{.kind = kind});
  node->needs_row = TraitsOf(kind).needs_row;
  node->has_label = kind == Kind::kApplyLabel;
  node->has_sink = kind == Kind::kSink;
  return node;
}

void SetExpression(FilterNode* node, std::string_view regex, uint64_t memory) {
  node->regex = MakeExpression(regex, memory);
  node->expressions = 1;
  node->expression_memory = memory;
  if (!node->regex->ok()) {
    node->status = absl::InvalidArgumentError(
        Cat("bad regular expression ", Quoted(regex), ": ", node->regex->error()));
    return;
  }
  node->instructions = node->regex->ProgramSize();
  node->expression_bytes = MostBytesOf(*node->regex);
}

std::shared_ptr<FilterNode> MakeRegex(Kind kind, std::string_view regex) {
  auto node = MakeNode(kind);
  SetExpression(node.get(), regex, kMostExpressionMemory);
  return node;
}

void ShareMemory(FilterNode* tree, uint64_t memory);

// The same filter, with so much memory for each of its regular expressions.
Filter WithMemory(const Filter& filter, uint64_t memory) {
  const FilterNode* const node = FilterNode::Of(filter);
  if (node == nullptr || node->expressions == 0 || node->expression_memory <= memory) return filter;
  const auto copy = std::make_shared<FilterNode>(*node);
  if (node->regex != nullptr) {
    SetExpression(copy.get(), node->regex->pattern(), memory);
  } else {
    ShareMemory(copy.get(), memory);
  }
  return FilterNode::ToFilter(copy);
}

// Each regular expression of the tree gets so much memory. The memory is a power of two, so an
// expression is made ten times at most, however deep it is in a tree.
void ShareMemory(FilterNode* tree, uint64_t memory) {
  tree->expression_memory = memory;
  tree->expression_bytes = 0;
  for (Filter& part : tree->parts) {
    part = WithMemory(part, memory);
    const FilterNode* const node = FilterNode::Of(part);
    if (node != nullptr) tree->expression_bytes += node->expression_bytes;
  }
}

std::shared_ptr<FilterNode> MakeCount(Kind kind, std::string_view name, int64_t n, int64_t least) {
  auto node = MakeNode(kind);
  node->low = n;
  if (n < least) {
    node->status = absl::InvalidArgumentError(
        Cat(name, " takes a number of at least ", least, ", and got ", n));
  }
  return node;
}

// What is wrong with a tree whose parts are right. `labelled`: how many of them apply labels.
absl::Status CheckTree(const FilterNode& tree, int labelled) {
  if (tree.depth > kMostFilterDepth || tree.nodes > kMostFilterNodes) {
    return absl::InvalidArgumentError(Cat("a filter must have at most ", kMostFilterNodes,
                                          " parts, nested at most ", kMostFilterDepth, " deep"));
  }
  if (tree.copies > kMostFilterCopies) {
    return absl::InvalidArgumentError(
        Cat("the Interleaves of a filter must pass a cell at most ", kMostFilterCopies, " times"));
  }
  if (tree.instructions > kMostFilterInstructions) {
    return absl::InvalidArgumentError(
        Cat("the regular expressions of a filter must have at most ", kMostFilterInstructions,
            " instructions together, and these ", tree.expressions, " have ", tree.instructions));
  }
  if (tree.kind == Kind::kChain && labelled > 1) {
    return absl::InvalidArgumentError("a Chain may have ApplyLabel in only one of its parts");
  }
  if (tree.kind == Kind::kCondition && tree.has_sink) {
    return absl::InvalidArgumentError("a Condition must not have a Sink in it");
  }
  return absl::OkStatus();
}

// The copies of a tree with one more part.
int CopiesWith(Kind kind, int copies, int of_part) {
  if (kind == Kind::kChain) return copies * of_part;
  return kind == Kind::kInterleave ? copies + of_part : std::max(copies, of_part);
}

// A filter that has others as its parts.
std::shared_ptr<FilterNode> MakeTree(Kind kind, std::vector<Filter> parts) {
  auto node = MakeNode(kind);
  node->copies = kind == Kind::kInterleave ? 0 : 1;
  int labelled = 0;
  for (const Filter& filter : parts) {
    if (node->status.ok()) node->status = filter.status();
    const FilterNode* const part = FilterNode::Of(filter);
    const int copies = part == nullptr ? 1 : part->copies;
    node->copies = std::min(CopiesWith(kind, node->copies, copies), kMostFilterCopies + 1);
    node->depth = std::max(node->depth, part == nullptr ? 2 : part->depth + 1);
    node->nodes = std::min(node->nodes + (part == nullptr ? 1 : part->nodes), kMostFilterNodes + 1);
    if (part == nullptr) continue;
    node->expressions = std::min(node->expressions + part->expressions, kMostFilterNodes + 1);
    node->instructions = std::min(node->instructions + part->instructions, kManyInstructions);
    node->needs_row |= part->needs_row;
    node->has_sink |= part->has_sink;
    labelled += part->has_label ? 1 : 0;
  }
  node->has_label = labelled > 0;
  if (node->status.ok()) node->status = CheckTree(*node, labelled);
  // A refused tree has no parts, so that none is deeper than its limit: not even for its
  // destructor.
  if (!node->status.ok()) return node;
  node->parts = std::move(parts);
  if (node->expressions > 0) ShareMemory(node.get(), ExpressionMemory(node->expressions));
  return node;
}

}  // namespace

Filter Filter::BlockAll() { return Filter(MakeNode(Kind::kBlockAll)); }

Filter Filter::Latest(int64_t n) { return Filter(MakeCount(Kind::kLatest, "Latest", n, 1)); }

Filter Filter::Family(std::string_view name) {
  auto node = MakeNode(Kind::kFamily);
  node->text = name;
  return Filter(node);
}

Filter Filter::FamilyRegex(std::string_view regex) {
  return Filter(MakeRegex(Kind::kFamilyRegex, regex));
}

Filter Filter::ColumnPrefix(std::string_view family, std::string_view qualifier_prefix) {
  auto node = MakeNode(Kind::kColumnRange);
  node->text = family;
  node->begin = qualifier_prefix;
  node->end = PrefixSuccessor(qualifier_prefix);
  return Filter(node);
}

Filter Filter::ColumnRange(std::string_view family, std::string_view begin, std::string_view end) {
  auto node = MakeNode(Kind::kColumnRange);
  node->text = family;
  node->begin = begin;
  node->end = end;
  if (!end.empty() && end <= begin) {
    node->status = absl::InvalidArgumentError(
        Cat("a column range must end after it begins: [", Quoted(begin), ", ", Quoted(end), ")"));
  }
  return Filter(node);
}

Filter Filter::Column(std::string_view family, std::string_view qualifier) {
  return ColumnRange(family, qualifier, std::string(qualifier).append(1, '\0'));
}

Filter Filter::ColumnRegex(std::string_view qualifier_regex) {
  return Filter(MakeRegex(Kind::kColumnRegex, qualifier_regex));
}

Filter Filter::TimestampRange(Timestamp begin, Timestamp end) {
  auto node = MakeNode(Kind::kTimestamps);
  node->low = begin.micros();
  node->high = end.micros();
  if (TimeRange{node->low, node->high}.empty()) {
    node->status =
        absl::InvalidArgumentError(Cat("a range of timestamps must end after it begins: [",
                                       begin.micros(), ", ", end.micros(), ")"));
  }
  return Filter(node);
}

Filter Filter::RowKeysRegex(std::string_view regex) {
  return Filter(MakeRegex(Kind::kRowRegex, regex));
}

Filter Filter::ValueRegex(std::string_view regex) {
  return Filter(MakeRegex(Kind::kValueRegex, regex));
}

Filter Filter::ValueRange(std::string_view begin, std::string_view end) {
  auto node = MakeNode(Kind::kValueRange);
  node->begin = begin;
  node->end = end;
  if (!end.empty() && end <= begin) {
    node->status = absl::InvalidArgumentError(
        Cat("a value range must end after it begins: [", Quoted(begin), ", ", Quoted(end), ")"));
  }
  return Filter(node);
}

Filter Filter::RowSample(double probability) {
  auto node = MakeNode(Kind::kRowSample);
  node->probability = probability;
  if (!(probability > 0 && probability < 1)) {
    node->status = absl::InvalidArgumentError(
        Cat("RowSample takes a probability between 0 and 1, both excluded, and got ", probability));
  }
  return Filter(node);
}

Filter Filter::CellsRowLimit(int64_t n) {
  return Filter(MakeCount(Kind::kCellsRowLimit, "CellsRowLimit", n, 1));
}

Filter Filter::CellsRowOffset(int64_t n) {
  return Filter(MakeCount(Kind::kCellsRowOffset, "CellsRowOffset", n, 0));
}

Filter Filter::ApplyLabel(std::string_view label) {
  auto node = MakeNode(Kind::kApplyLabel);
  node->text = label;
  const bool is_valid =
      !label.empty() && label.size() <= kMostLabelBytes &&
      label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
  if (!is_valid) {
    node->status =
        absl::InvalidArgumentError(Cat("a label is 1 to ", kMostLabelBytes,
                                       " characters of [a-z0-9-], and this is ", Quoted(label)));
  }
  return Filter(node);
}

Filter Filter::Sink() { return Filter(MakeNode(Kind::kSink)); }

Filter Filter::StripValueTransformer() { return Filter(MakeNode(Kind::kStripValue)); }

Filter Filter::Chain(std::vector<Filter> filters) {
  return Filter(MakeTree(Kind::kChain, std::move(filters)));
}

Filter Filter::Interleave(std::vector<Filter> filters) {
  return Filter(MakeTree(Kind::kInterleave, std::move(filters)));
}

Filter Filter::Condition(Filter predicate, Filter if_true, Filter if_false) {
  return Filter(
      MakeTree(Kind::kCondition, {std::move(predicate), std::move(if_true), std::move(if_false)}));
}

int64_t Filter::program_size() const { return node_ == nullptr ? 0 : node_->instructions; }

absl::Status Filter::status() const { return node_ == nullptr ? absl::OkStatus() : node_->status; }

}  // namespace bigtable
