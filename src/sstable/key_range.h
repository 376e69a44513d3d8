// The encoded keys (base/entry_key.h) of a range of rows. Plain value.
#ifndef BIGTABLE_SSTABLE_KEY_RANGE_H_
#define BIGTABLE_SSTABLE_KEY_RANGE_H_

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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
    return Overlaps(file.smallest_key, file.largest_key);
  }
  bool Overlaps(std::string_view smallest, std::string_view largest) const {
    return largest >= begin_ && (end_.empty() || smallest < end_);
  }

  // The keys in both ranges; the end is not after the beginning if there are none.
  KeyRange And(const KeyRange& other) const {
    if (end_.empty()) return {std::max(begin_, other.begin_), other.end_};
    return {std::max(begin_, other.begin_), other.end_.empty() ? end_ : std::min(end_, other.end_)};
  }
  // The keys before and after the range, which is not empty; nullopt: there are none.
  std::optional<KeyRange> Before() const {
    return begin_.empty() ? std::nullopt : std::optional(KeyRange({}, begin_));
  }
  std::optional<KeyRange> After() const {
    return end_.empty() ? std::nullopt : std::optional(KeyRange(end_, {}));
  }

 private:
  KeyRange(std::string begin, std::string end) : begin_(std::move(begin)), end_(std::move(end)) {}

  std::string begin_;
  std::string end_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_KEY_RANGE_H_
