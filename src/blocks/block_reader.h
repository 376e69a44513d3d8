// Reads the data blocks of one file. Every block is verified before it is returned. Thread-safe.
//
// There are several ways of reading a block, each a class of its own. This class decides when the
// file is opened which of them answers, and records traces:
//
//   MappedBlocks   in place, from the mapping of the file
//   LoadedBlocks   from memory: the first read loads all blocks (Options::in_memory)
//   CachedBlocks   by position, through the block cache; for compressed blocks also in front of
//                  MappedBlocks
//
// A block is named by its number in the index of the file. Where the index is not in memory as a
// whole (sstable/file_parts.h), blocks are named by their places in the file, and CachedBlocks
// answers.
//
// All of them have a BlockFile, which knows where blocks are stored, verifies and decodes them. A
// way of reading is given the number of a block and the settings of the cursor, and fills in the
// block's bytes, the owner that keeps them in place (null if they live as long as the reader), and
// where it found them. A further way is one more such class, chosen in the constructor and in
// ReadUntraced. It has no part in the others' state.
#ifndef BIGTABLE_BLOCKS_BLOCK_READER_H_
#define BIGTABLE_BLOCKS_BLOCK_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/memory_budget.h"

#include "base/prefetch.h"
#include "base/ref_counted.h"
#include "blocks/block_file.h"
#include "blocks/block_index.h"
#include "blocks/block_residency.h"
#include "blocks/block_source.h"
#include "blocks/cached_blocks.h"
#include "blocks/loaded_blocks.h"
#include "blocks/mapped_blocks.h"
#include "blocks/page_residency.h"
#include "blocks/read_settings.h"
#include "cache/block.h"

namespace bigtable {

class BlockReader {
 public:
  using ReadAhead = BlockResidency::ReadAhead;

  struct Options {
    bool in_memory = false;
    // Outlives the reader.
    PageResidency* residency = PageResidency::OfProcess();
  };

  // `index` and `budget` outlive the reader. `index`: null for a file whose blocks are named by
  // their places.
  BlockReader(BlockSource source, const BlockIndex* index, MemoryBudget* budget, Options options);
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  const std::string& path() const { return file_.path(); }
  // The memory of all blocks, if they were loaded (Options::in_memory).
  uint64_t loaded_bytes() const { return loaded_.has_value() ? loaded_->memory() : 0; }

  // Returns block `i`. `*owner` keeps its bytes in place; it is null if they live as long as this
  // reader. `ahead` is that of a cursor that came from block i - 1 and continues, or null. `row` is
  // null, or the only row of which the caller needs entries: a slice may be returned. The limits of
  // the settings end waits for another thread that loads the blocks or the dictionary, or
  // opens the file again.
  absl::Status Read(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                    std::string_view* block, Ref<Block>* owner, RowInBlock* row = nullptr) {
    if (mapped_.has_value()) {
      if (!settings.verify_checksums && !settings.is_traced && mapped_->ReadInPlace(i, block))
          [[likely]] {
        *owner = {};
        return absl::OkStatus();
      }
    } else if (loaded_.has_value() && !settings.is_traced && loaded_->ReadLoaded(i, block)) {
      *owner = {};
      return absl::OkStatus();
    }
    return ReadSlowly(i, settings, ahead, row, block, owner);
  }
  // The same for the block at this place, through the block cache.
  absl::Status ReadAt(const BlockHandle& block, const ReadSettings& settings,
                      std::string_view* bytes, Ref<Block>* owner);
  // Whether ReadAt would find it in the block cache. Requires that the reader has no index, here
  // and below.
  bool HasAt(const BlockHandle& block) const { return cached_->Has(block); }
  BlockFile* file() { return &file_; }
  CachedBlocks* cache() { return &*cached_; }
  // Begins to read block `i`, and the blocks behind it that begin within `bytes` of it, from the
  // disk, unless they are in memory, and does not wait. A Read of block `i` should follow. Advice:
  // errors are left to it. Returns where the requested blocks end, for ReadAhead::requested_end of
  // the cursor that reads them, or 0. `row_prefix`: that of the only row that is read, or empty.
  // `overlapped`: the reads of the call, which may take this one among them, or null.
  size_t Request(size_t i, uint64_t bytes, std::string_view row_prefix = {},
                 OverlappedReads* overlapped = nullptr) {
    if (mapped_.has_value()) {
      // If this block and the next one are in memory, the others probably are. A look at each would
      // cost a scan of a few rows more than a twentieth.
      const bool is_alone = bytes == 0 || i + 1 == index_->size();
      if (mapped_->IsInPlace(i) && (is_alone || mapped_->IsInPlace(i + 1))) [[likely]]
        return 0;
      return mapped_->Request(i, bytes, row_prefix, overlapped);
    }
    if (!loaded_.has_value()) RequestByPosition(i, bytes);
    return 0;
  }
  // Whether a Read of block `i` for the row with this prefix finds it in memory.
  bool IsRowInMemory(size_t i, std::string_view row_prefix) const {
    std::string_view block;
    if (mapped_.has_value()) return mapped_->IsRowInMemory(i, row_prefix);
    if (loaded_.has_value()) return loaded_->ReadLoaded(i, &block);
    return cached_->Has(index_->handle(i));
  }
  // Whether a scan does better to say in ReadAhead::expected how much it reads than to request it.
  bool ReadsWindows() const { return mapped_.has_value() && mapped_->ReadsWindows(); }
  // Prefetches the head of block `i` if it is likely to be returned in place.
  BIGTABLE_ONLY_PREFETCHES void Prefetch(size_t i) const {
    if (mapped_.has_value()) {
      mapped_->Prefetch(i);
    } else if (loaded_.has_value()) {
      loaded_->Prefetch(i);
    }
  }

 private:
  void RequestByPosition(size_t i, uint64_t bytes) const;
  // Also records the block in the thread's trace if the read is traced.
  absl::Status ReadSlowly(size_t i, const ReadSettings& settings, ReadAhead* ahead, RowInBlock* row,
                          std::string_view* block, Ref<Block>* owner);
  absl::Status ReadUntraced(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                            RowInBlock* row, std::string_view* block, Ref<Block>* owner,
                            BlockOrigin* origin);

  // Calls `read` with the origin to set, and records that in the thread's trace.
  template <typename ReadBlock>
  absl::Status Trace(uint64_t size, ReadBlock read);

  BlockFile file_;
  const BlockIndex* const index_;
  // Of a file that is mapped, mapped_, and cached_ if some of its blocks may be compressed; of one
  // that is in memory, loaded_; of any other, cached_.
  std::optional<CachedBlocks> cached_;
  std::optional<MappedBlocks> mapped_;
  std::optional<LoadedBlocks> loaded_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_READER_H_
