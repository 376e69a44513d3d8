// The representation of a Filter: a node of an immutable tree.
#ifndef BIGTABLE_READ_FILTER_NODE_H_
#define BIGTABLE_READ_FILTER_NODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "re2/re2.h"

#include "bigtable/filter.h"

#include "base/time_range.h"

namespace bigtable {

struct FilterNode {
  enum class Kind {
    kBlockAll,
    kFamily,          // text
    kFamilyRegex,     // regex
    kColumnRange,     // text is the family; [begin, end) of qualifiers, an empty end is no end
    kColumnRegex,     // regex
    kRowRegex,        // regex
    kValueRegex,      // regex
    kValueRange,      // [begin, end), an empty end is no end
    kRowSample,       // probability
    kTimestamps,      // [low, high), a high of Timestamp::Max() is no end
    kLatest,          // low
    kCellsRowLimit,   // low
    kCellsRowOffset,  // low
    kStripValue,
    kApplyLabel,  // text
    kSink,
    kChain,       // parts
    kInterleave,  // parts
    kCondition,   // parts: the predicate, the filter for yes, the filter for no
  };

  // Null passes everything. The filter outlives it.
  static const FilterNode* Of(const Filter& filter) { return filter.node_.get(); }
  static Filter ToFilter(std::shared_ptr<const FilterNode> node) { return Filter(std::move(node)); }

  // Of kTimestamps: the last one that passes.
  int64_t last_timestamp() const { return high == TimeRange::kNoEnd ? high : high - 1; }

  Kind kind;
  std::string text = {};
  std::string begin = {};
  std::string end = {};
  int64_t low = 0;
  int64_t high = 0;
  double probability = 0;
  std::shared_ptr<const RE2> regex = nullptr;
  std::vector<Filter> parts = {};  // only if the status is OK
  absl::Status status = {};        // what is wrong with it

  // Properties of the tree below this node, itself included.
  int depth = 1;
  int nodes = 1;
  int copies = 1;          // at most so many of a cell are in its result
  bool needs_row = false;  // its result is known only after the whole row was read
  bool has_label = false;
  bool has_sink = false;
  // Of regular expressions (filter_expressions.h): their number, the instructions of their
  // programs, the memory that each was made with, and the bytes that all may hold.
  int expressions = 0;
  int64_t instructions = 0;
  uint64_t expression_memory = 0;
  uint64_t expression_bytes = 0;

  // Whether a read with it takes memory (filter_evaluator.h).
  bool takes_memory() const { return needs_row || expressions > 0; }
};

// The limits of a tree. Evaluation recurses, and servers build filters of other processes.
inline constexpr int kMostFilterDepth = 50;
inline constexpr int kMostFilterNodes = 1000;
// A Chain of Interleaves multiplies the cells.
inline constexpr int kMostFilterCopies = 1000;

// What a filter examines. It is applied as soon as that is known.
enum class FilterScope : uint8_t { kRow, kColumn, kCell };
// What a filter counts. Then its result depends on which cells reach it.
enum class FilterCount : uint8_t { kNothing, kCellsOfColumn, kCellsOfRow };

// The properties of a kind of filter besides its verdicts, which are in filter_program.cc.
struct FilterTraits {
  FilterScope scope;
  FilterCount counts = FilterCount::kNothing;
  bool names_family = false;  // text is the name of a family that the table must have
  bool needs_row = false;     // see FilterNode::needs_row
};

constexpr FilterTraits TraitsOf(FilterNode::Kind kind) {
  using Kind = FilterNode::Kind;
  switch (kind) {
    case Kind::kRowRegex:
    case Kind::kRowSample:
      return {FilterScope::kRow};
    case Kind::kBlockAll:
    case Kind::kFamilyRegex:
    case Kind::kColumnRegex:
      return {FilterScope::kColumn};
    case Kind::kFamily:
    case Kind::kColumnRange:
      return {FilterScope::kColumn, FilterCount::kNothing, /*names_family=*/true};
    case Kind::kTimestamps:
    case Kind::kValueRegex:
    case Kind::kValueRange:
    case Kind::kStripValue:
    case Kind::kChain:  // its parts are applied instead
      return {FilterScope::kCell};
    case Kind::kApplyLabel:
    case Kind::kSink:
    case Kind::kInterleave:
    case Kind::kCondition:
      return {FilterScope::kCell, FilterCount::kNothing, /*names_family=*/false,
              /*needs_row=*/true};
    case Kind::kLatest:
      return {FilterScope::kCell, FilterCount::kCellsOfColumn};
    case Kind::kCellsRowLimit:
    case Kind::kCellsRowOffset:
      return {FilterScope::kCell, FilterCount::kCellsOfRow};
  }
  return {FilterScope::kCell, FilterCount::kCellsOfRow};  // not reached
}

}  // namespace bigtable

#endif  // BIGTABLE_READ_FILTER_NODE_H_
