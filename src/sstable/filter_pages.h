// How the lines of a filter (hashed_lines.h) are stored in a file: in pages, so that a lookup can
// read one of them from the disk.
//
//   +-----------------+-----------------+-----+------------------+
//   | 31 lines        | 31 lines        | ... | up to 31 lines   |
//   | + block trailer | + block trailer |     | + block trailer  |
//   +-----------------+-----------------+-----+------------------+
//
// Pages are not compressed. The handle in the footer is that of all pages, without the last block
// trailer.
//
// Worked example: a filter of 32 lines is a page of 1,984 bytes with its block trailer of 9, and
// one of 64 bytes with its own: the handle has 2,057 bytes.
//
// Plain value.
#ifndef BIGTABLE_SSTABLE_FILTER_PAGES_H_
#define BIGTABLE_SSTABLE_FILTER_PAGES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "blocks/stored_block.h"
#include "sstable/hashed_lines.h"

namespace bigtable {

class FilterPages {
 public:
  static constexpr uint64_t kLines = 31;  // of a page
  static constexpr uint64_t kPageSize = kLines * HashedLines::kLineSize;

  FilterPages() = default;  // none
  // None if no filter has a section of this size.
  static std::optional<FilterPages> Of(const BlockHandle& section) {
    constexpr uint64_t kStored = kPageSize + kBlockTrailerSize;
    const uint64_t size = section.size + kBlockTrailerSize;
    const uint64_t pages = (size + kStored - 1) / kStored;
    const uint64_t trailers = pages * kBlockTrailerSize;
    if (size <= trailers || (size - trailers) % HashedLines::kLineSize != 0) return std::nullopt;
    FilterPages result;
    result.offset_ = section.offset;
    result.lines_ = (size - trailers) / HashedLines::kLineSize;
    if (result.pages() != pages || result.lines_ > UINT32_MAX) return std::nullopt;
    return result;
  }

  uint64_t lines() const { return lines_; }
  uint64_t pages() const { return (lines_ + kLines - 1) / kLines; }
  BlockHandle operator[](uint64_t page) const {
    return {offset_ + page * (kPageSize + kBlockTrailerSize),
            std::min(kLines, lines_ - page * kLines) * HashedLines::kLineSize};
  }

 private:
  uint64_t offset_ = 0;
  uint64_t lines_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_FILTER_PAGES_H_
