// What a Filter is inside: a node of a tree that is built once and never changes.
#ifndef BIGTABLE_READ_FILTER_NODE_H_
#define BIGTABLE_READ_FILTER_NODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "re2/re2.h"

#include "bigtable/filter.h"

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
    kTimestamps,      // [low, high)
    kLatest,          // low
    kCellsRowLimit,   // low
    kCellsRowOffset,  // low
    kStripValue,
    kChain,
  };

  // Null passes everything. The filter outlives it.
  static const FilterNode* Of(const Filter& filter) { return filter.node_.get(); }

  Kind kind;
  std::string text = {};
  std::string begin = {};
  std::string end = {};
  int64_t low = 0;
  int64_t high = 0;
  std::unique_ptr<RE2> regex = nullptr;
  std::vector<Filter> chain = {};
  absl::Status status = {};  // what is wrong with it
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_FILTER_NODE_H_
