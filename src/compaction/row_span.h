// The rows from the first to the last of an SSTable: compactions keep rows together. Plain values;
// views of the file's keys.
#ifndef BIGTABLE_COMPACTION_ROW_SPAN_H_
#define BIGTABLE_COMPACTION_ROW_SPAN_H_

#include <string_view>

#include "base/entry_key.h"
#include "sstable/sstable.h"

namespace bigtable {

// Both ends inclusive, as row prefixes.
struct RowSpan {
  std::string_view first;
  std::string_view last;

  static RowSpan Of(const SSTable& file) {
    const std::string_view smallest = file.info().smallest_key;
    const std::string_view largest = file.info().largest_key;
    return {smallest.substr(0, RowPrefixSize(smallest)), largest.substr(0, RowPrefixSize(largest))};
  }
  bool Overlaps(const RowSpan& other) const { return first <= other.last && other.first <= last; }
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_ROW_SPAN_H_
