#include "rpc/filter_format.h"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "read/filter_expressions.h"
#include "read/filter_node.h"

namespace bigtable {
namespace {

using Kind = FilterNode::Kind;

// Codes of the encoding, independent of FilterNode::Kind; with the fields that follow each.
enum Code : uint8_t {
  kEverything = 0,
  kBlockAll = 1,
  kLatest = 2,           // n: varint
  kFamily = 3,           // name: length, bytes
  kFamilyRegex = 4,      // expression: length, bytes
  kColumnRange = 5,      // family, begin, end: length, bytes each
  kColumnRegex = 6,      // expression
  kRowRegex = 7,         // expression
  kValueRegex = 8,       // expression
  kTimestamps = 9,       // begin, end: fixed64 each
  kCellsRowLimit = 10,   // n
  kCellsRowOffset = 11,  // n
  kStripValue = 12,
  kChain = 13,       // count: varint, then as many filters
  kValueRange = 14,  // begin, end: length, bytes each
  kRowSample = 15,   // probability: the bits of a double, fixed64
  kApplyLabel = 16,  // label: length, bytes
  kSink = 17,
  kInterleave = 18,  // as kChain
  kCondition = 19,   // as kChain, of three filters
};

absl::Status TooLarge() {
  return absl::InvalidArgumentError(Cat("a filter must have at most ", kMostFilterNodes,
                                        " parts, and chains nested at most ", kMostFilterDepth,
                                        " deep"));
}

// Counts the filters of a tree during its traversal, and the instructions of its regular
// expressions, so that one that is too large is refused before it is in memory as a whole.
class Budget {
 public:
  bool Enter() { return ++depth_ <= kMostFilterDepth && ++nodes_ <= kMostFilterNodes; }
  void Leave() { --depth_; }
  // For a filter that has no parts.
  absl::Status TakeInstructions(const Filter& filter) {
    instructions_ += filter.program_size();
    if (instructions_ <= kMostFilterInstructions) return absl::OkStatus();
    return absl::InvalidArgumentError(
        Cat("the regular expressions of a filter must have at most ", kMostFilterInstructions,
            " instructions together, and with ", Quoted(FilterNode::Of(filter)->regex->pattern()),
            " they have ", instructions_));
  }

 private:
  int depth_ = 0;
  int nodes_ = 0;
  int64_t instructions_ = 0;
};

// --- To bytes ---

void AppendText(std::string* out, Code code, std::string_view text) {
  out->push_back(static_cast<char>(code));
  AppendLengthPrefixed(out, text);
}

void AppendRegex(std::string* out, Code code, const FilterNode& node) {
  AppendText(out, code, node.regex->pattern());
}

void AppendCount(std::string* out, Code code, const FilterNode& node) {
  out->push_back(static_cast<char>(code));
  AppendVarint64(out, static_cast<uint64_t>(node.low));
}

absl::Status Append(std::string* out, const Filter& filter, Budget* budget);

absl::Status AppendParts(std::string* out, Code code, const FilterNode& node, Budget* budget) {
  out->push_back(static_cast<char>(code));
  AppendVarint64(out, node.parts.size());
  for (const Filter& part : node.parts) BT_RETURN_IF_ERROR(Append(out, part, budget));
  return absl::OkStatus();
}

// Longer than a screen, because each kind of filter has its lines here.
absl::Status AppendNode(std::string* out, const FilterNode& node, Budget* budget) {
  switch (node.kind) {
    case Kind::kBlockAll:
      out->push_back(kBlockAll);
      break;
    case Kind::kFamily:
      AppendText(out, kFamily, node.text);
      break;
    case Kind::kFamilyRegex:
      AppendRegex(out, kFamilyRegex, node);
      break;
    case Kind::kColumnRange:
      AppendText(out, kColumnRange, node.text);
      AppendLengthPrefixed(out, node.begin);
      AppendLengthPrefixed(out, node.end);
      break;
    case Kind::kColumnRegex:
      AppendRegex(out, kColumnRegex, node);
      break;
    case Kind::kRowRegex:
      AppendRegex(out, kRowRegex, node);
      break;
    case Kind::kValueRegex:
      AppendRegex(out, kValueRegex, node);
      break;
    case Kind::kTimestamps:
      out->push_back(kTimestamps);
      AppendFixed64(out, static_cast<uint64_t>(node.low));
      AppendFixed64(out, static_cast<uint64_t>(node.high));
      break;
    case Kind::kLatest:
      AppendCount(out, kLatest, node);
      break;
    case Kind::kCellsRowLimit:
      AppendCount(out, kCellsRowLimit, node);
      break;
    case Kind::kCellsRowOffset:
      AppendCount(out, kCellsRowOffset, node);
      break;
    case Kind::kValueRange:
      out->push_back(kValueRange);
      AppendLengthPrefixed(out, node.begin);
      AppendLengthPrefixed(out, node.end);
      break;
    case Kind::kRowSample:
      out->push_back(kRowSample);
      AppendFixed64(out, std::bit_cast<uint64_t>(node.probability));
      break;
    case Kind::kStripValue:
      out->push_back(kStripValue);
      break;
    case Kind::kApplyLabel:
      AppendText(out, kApplyLabel, node.text);
      break;
    case Kind::kSink:
      out->push_back(kSink);
      break;
    case Kind::kChain:
      return AppendParts(out, kChain, node, budget);
    case Kind::kInterleave:
      return AppendParts(out, kInterleave, node, budget);
    case Kind::kCondition:
      return AppendParts(out, kCondition, node, budget);
  }
  return absl::OkStatus();
}

absl::Status Append(std::string* out, const Filter& filter, Budget* budget) {
  if (!budget->Enter()) return TooLarge();
  if (const FilterNode* const node = FilterNode::Of(filter)) {
    BT_RETURN_IF_ERROR(AppendNode(out, *node, budget));
  } else {
    out->push_back(kEverything);
  }
  budget->Leave();
  return absl::OkStatus();
}

// --- From bytes ---

absl::StatusOr<Filter> Parse(Decoder* in, Budget* budget);

absl::StatusOr<std::vector<Filter>> ParseParts(Decoder* in, Budget* budget) {
  std::vector<Filter> parts;
  for (uint64_t left = in->Varint(); left > 0 && in->ok(); --left) {
    BT_ASSIGN_OR_RETURN(Filter part, Parse(in, budget));
    parts.push_back(std::move(part));
  }
  return parts;
}

// Parses the fields after the code. Long for the same reason as AppendNode.
absl::StatusOr<Filter> ParseFields(uint8_t code, Decoder* in, Budget* budget) {
  switch (static_cast<Code>(code)) {
    case kEverything:
      return Filter();
    case kBlockAll:
      return Filter::BlockAll();
    case kLatest:
      return Filter::Latest(static_cast<int64_t>(in->Varint()));
    case kFamily:
      return Filter::Family(in->LengthPrefixed());
    case kFamilyRegex:
      return Filter::FamilyRegex(in->LengthPrefixed());
    case kColumnRange: {
      const std::string_view family = in->LengthPrefixed();
      const std::string_view begin = in->LengthPrefixed();
      return Filter::ColumnRange(family, begin, in->LengthPrefixed());
    }
    case kColumnRegex:
      return Filter::ColumnRegex(in->LengthPrefixed());
    case kRowRegex:
      return Filter::RowKeysRegex(in->LengthPrefixed());
    case kValueRegex:
      return Filter::ValueRegex(in->LengthPrefixed());
    case kTimestamps: {
      const Timestamp begin(static_cast<int64_t>(in->Fixed64()));
      return Filter::TimestampRange(begin, Timestamp(static_cast<int64_t>(in->Fixed64())));
    }
    case kCellsRowLimit:
      return Filter::CellsRowLimit(static_cast<int64_t>(in->Varint()));
    case kCellsRowOffset:
      return Filter::CellsRowOffset(static_cast<int64_t>(in->Varint()));
    case kStripValue:
      return Filter::StripValueTransformer();
    case kValueRange: {
      const std::string_view begin = in->LengthPrefixed();
      return Filter::ValueRange(begin, in->LengthPrefixed());
    }
    case kRowSample:
      return Filter::RowSample(std::bit_cast<double>(in->Fixed64()));
    case kApplyLabel:
      return Filter::ApplyLabel(in->LengthPrefixed());
    case kSink:
      return Filter::Sink();
    case kChain: {
      BT_ASSIGN_OR_RETURN(std::vector<Filter> parts, ParseParts(in, budget));
      return Filter::Chain(std::move(parts));
    }
    case kInterleave: {
      BT_ASSIGN_OR_RETURN(std::vector<Filter> parts, ParseParts(in, budget));
      return Filter::Interleave(std::move(parts));
    }
    case kCondition: {
      BT_ASSIGN_OR_RETURN(std::vector<Filter> parts, ParseParts(in, budget));
      if (parts.size() != 3) {
        return absl::InvalidArgumentError(
            Cat("a condition has three filters, and not ", parts.size()));
      }
      return Filter::Condition(parts[0], parts[1], parts[2]);
    }
  }
  return absl::InvalidArgumentError(Cat("there is no filter with the code ", int{code}));
}

absl::StatusOr<Filter> Parse(Decoder* in, Budget* budget) {
  if (!budget->Enter()) return TooLarge();
  const uint8_t code = in->Byte();
  BT_ASSIGN_OR_RETURN(Filter filter, ParseFields(code, in, budget));
  if (!in->ok()) return absl::InvalidArgumentError("the filter is cut short");
  BT_RETURN_IF_ERROR(filter.status());
  const FilterNode* const node = FilterNode::Of(filter);
  if (node != nullptr && node->regex != nullptr) {
    BT_RETURN_IF_ERROR(budget->TakeInstructions(filter));
  }
  budget->Leave();
  return filter;
}

}  // namespace

absl::StatusOr<std::string> EncodeFilter(const Filter& filter) {
  BT_RETURN_IF_ERROR(filter.status());
  std::string bytes;
  if (FilterNode::Of(filter) == nullptr) return bytes;
  Budget budget;
  BT_RETURN_IF_ERROR(Append(&bytes, filter, &budget));
  return bytes;
}

absl::StatusOr<Filter> DecodeFilter(std::string_view bytes) {
  if (bytes.empty()) return Filter();
  Decoder in(bytes);
  Budget budget;
  BT_ASSIGN_OR_RETURN(Filter filter, Parse(&in, &budget));
  if (!in.at_end())
    return absl::InvalidArgumentError("there are bytes after the end of the filter");
  return filter;
}

}  // namespace bigtable
