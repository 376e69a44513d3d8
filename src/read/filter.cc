#include "bigtable/filter.h"

#include <utility>

#include "base/entry_key.h"
#include "base/strings.h"
#include "read/filter_node.h"

namespace bigtable {
namespace {

using Kind = FilterNode::Kind;

std::shared_ptr<FilterNode> MakeNode(Kind kind) {
  return std::make_shared<FilterNode>(FilterNode{.kind = kind});
}

// Bytes, not UTF-8: keys and values are arbitrary.
std::shared_ptr<FilterNode> MakeRegex(Kind kind, std::string_view regex) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_dot_nl(true);
  auto node = MakeNode(kind);
  node->regex = std::make_unique<RE2>(re2::StringPiece(regex.data(), regex.size()), options);
  if (!node->regex->ok()) {
    node->status = absl::InvalidArgumentError(
        Cat("bad regular expression ", Quoted(regex), ": ", node->regex->error()));
  }
  return node;
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
  if (end <= begin) {
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

Filter Filter::CellsRowLimit(int64_t n) {
  return Filter(MakeCount(Kind::kCellsRowLimit, "CellsRowLimit", n, 1));
}

Filter Filter::CellsRowOffset(int64_t n) {
  return Filter(MakeCount(Kind::kCellsRowOffset, "CellsRowOffset", n, 0));
}

Filter Filter::StripValueTransformer() { return Filter(MakeNode(Kind::kStripValue)); }

Filter Filter::Chain(std::vector<Filter> filters) {
  auto node = MakeNode(Kind::kChain);
  for (const Filter& filter : filters) {
    if (node->status.ok()) node->status = filter.status();
  }
  node->chain = std::move(filters);
  return Filter(node);
}

absl::Status Filter::status() const { return node_ == nullptr ? absl::OkStatus() : node_->status; }

}  // namespace bigtable
