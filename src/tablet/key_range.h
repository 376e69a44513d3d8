// The encoded keys (base/entry_key.h) of a range of rows. Plain value.
#ifndef BIGTABLE_TABLET_KEY_RANGE_H_
#define BIGTABLE_TABLET_KEY_RANGE_H_

#include <string>
#include <string_view>

#include "bigtable/row_range.h"

#include "base/entry_key.h"
#include "sstable/sstable_info.h"

namespace bigtable {

class KeyRange {
 public:
  explicit KeyRange(const RowRange& rows)
      : begin_(rows.begin().empty() ? std::string() : RowPrefix(rows.begin())),
        end_(rows.end().has_value() ? RowPrefix(*rows.end()) : std::string()) {}

  // The keys [begin, end); an empty end is none.
  const std::string& begin() const { return begin_; }
  const std::string& end() const { return end_; }

  bool Contains(std::string_view key) const {
    return key >= begin_ && (end_.empty() || key < end_);
  }
  // Whether all keys of the file are in the range.
  bool Contains(const SSTableInfo& file) const {
    return file.smallest_key >= begin_ && (end_.empty() || file.largest_key < end_);
  }
  // Whether the file's keys, from the smallest to the largest, overlap the range.
  bool Overlaps(const SSTableInfo& file) const {
    return file.largest_key >= begin_ && (end_.empty() || file.smallest_key < end_);
  }

 private:
  std::string begin_;
  std::string end_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_KEY_RANGE_H_
