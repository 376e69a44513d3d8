// The index and the filter of an open file for which the memory budget had no room: only the root
// of the index is in memory. A lookup reads the part of the index, or the page of the filter, that
// it needs, through the block cache.
//
// A cold row then costs up to three reads instead of one: a page of the filter, a part of the
// index, and the data block. Data blocks are read by position, too: what a mapped file must
// remember about each of its blocks would need memory again.
//
// Thread-safe without a lock of its own: it is constant, and the cache is thread-safe.
#ifndef BIGTABLE_SSTABLE_FILE_PARTS_H_
#define BIGTABLE_SSTABLE_FILE_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

#include "base/call_limits.h"
#include "base/ref_counted.h"
#include "blocks/block_index.h"
#include "blocks/block_reader.h"
#include "blocks/read_settings.h"
#include "cache/block.h"
#include "sstable/bloom_filter.h"
#include "sstable/filter_pages.h"
#include "sstable/index_root.h"
#include "sstable/row_index.h"

namespace bigtable {

// A part of an index in memory.
class IndexPart final : public Block {
 public:
  IndexPart(BlockIndex index, size_t first_block)
      : Block(index.memory() + sizeof(IndexPart) - sizeof(Block)),
        index_(std::move(index)),
        first_block_(first_block) {}

  // Numbers the data blocks of the part from 0.
  const BlockIndex& index() const { return index_; }
  size_t first_block() const { return first_block_; }
  // Whether it has this data block of the file.
  bool Has(size_t block) const {
    return block >= first_block_ && block - first_block_ < index_.size();
  }

 private:
  const BlockIndex index_;
  const size_t first_block_;
};

class FileParts {
 public:
  // The filter of the file: one of the two, or none.
  struct Filter {
    FilterPages pages;
    bool is_row_index = false;
    BloomFilter::Shape bloom;
    RowIndex::Shape row_index;
  };

  // `blocks`, which has no index, outlives it.
  FileParts(IndexRoot root, const Filter& filter, BlockReader* blocks)
      : root_(std::move(root)), filter_(filter), blocks_(*blocks) {}
  FileParts(const FileParts&) = delete;
  FileParts& operator=(const FileParts&) = delete;

  const IndexRoot& root() const { return root_; }
  // Part `i` of the index. DataLoss, which names the file, if it is damaged.
  absl::Status ReadIndex(size_t i, const ReadSettings& settings, Ref<IndexPart>* part) const;
  // The same if it is in the cache; or null.
  Ref<IndexPart> FindIndex(size_t i) const;

  // RowIndex::Find and BloomFilter::MayContain of the whole filter. What cannot be read is unknown.
  RowIndex::Answer LookUp(uint64_t hash, RowIndex::Location* location,
                          const CallLimits* limits) const;
  bool MayContain(uint64_t hash, const CallLimits* limits) const;
  // Whether the page for this hash is in the cache.
  bool HasPage(uint64_t hash) const;

  size_t memory() const { return sizeof *this + root_.memory(); }

 private:
  // The line, whose bytes `*page` keeps in place; null if it cannot be read.
  const char* ReadLine(size_t number, const CallLimits* limits, Ref<Block>* page) const;

  const IndexRoot root_;
  const Filter filter_;
  BlockReader& blocks_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_FILE_PARTS_H_
