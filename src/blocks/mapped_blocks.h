// The way of reading a mapped file: a block that is not compressed is returned in place, without a
// copy.
//
// On the first touch, the block's range is brought into memory (block_residency.h) and its checksum
// verified. A bit records that, and afterwards returning the block costs a test of the bit and of
// the epoch. A compressed block is decoded from the mapping, through the block cache. Where memory
// is short, a block is read by position instead.
//
// Invariants:
// * Each block was verified since the file was opened before its bytes are returned in place.
// * in_place_ is part of raw_, and a block enters raw_ and verified_ only after it was verified.
//   Bits of these two are never cleared; those of in_place_ are, when an epoch ends.
// * A block that is returned in place lives as long as the file's mapping, and has no owner. Every
//   other block has one.
//
// Thread-safe without a lock. Two threads may read the same block for the first time at once; both
// verify it, with the same result.
#ifndef BIGTABLE_BLOCKS_MAPPED_BLOCKS_H_
#define BIGTABLE_BLOCKS_MAPPED_BLOCKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/memory_budget.h"

#include "base/prefetch.h"
#include "base/ref_counted.h"
#include "blocks/block_bits.h"
#include "blocks/block_file.h"
#include "blocks/block_index.h"
#include "blocks/block_residency.h"
#include "blocks/cached_blocks.h"
#include "blocks/cold_rows.h"
#include "blocks/overlapped_reads.h"
#include "blocks/page_residency.h"
#include "blocks/read_settings.h"
#include "cache/block.h"
#include "cache/budget_charge.h"

namespace bigtable {

class MappedBlocks {
 public:
  // `file` is mapped. `cache` is that of the file's compressed blocks; null if it has none. All
  // outlive it.
  MappedBlocks(BlockFile* file, const BlockIndex* index, CachedBlocks* cache, MemoryBudget* budget,
               PageResidency* pages);
  MappedBlocks(const MappedBlocks&) = delete;
  MappedBlocks& operator=(const MappedBlocks&) = delete;

  // Returns false if the block is not known to be in memory, verified and not compressed; then Read
  // reads it.
  bool ReadInPlace(size_t i, std::string_view* block) {
    if (!IsInPlace(i)) [[unlikely]]
      return false;
    pages_->CountTouch();
    const BlockHandle handle = index_.handle(i);
    *block = {mapping_ + handle.offset, handle.size};
    return true;
  }
  // `ahead`: see BlockResidency::BringIn. `*owner` becomes null if the block is returned in place.
  absl::Status Read(size_t i, const ReadSettings& settings, BlockResidency::ReadAhead* ahead,
                    RowInBlock* row, std::string_view* block, Ref<Block>* owner,
                    BlockOrigin* origin);
  // Whether ReadInPlace would return it.
  bool IsInPlace(size_t i) const {
    return in_place_.Test(i) && epoch_.load(std::memory_order_relaxed) == pages_->epoch();
  }
  // Whether a Read of the row in this block would find it in memory, as far as is known. Without a
  // prefix: of the block.
  bool IsRowInMemory(size_t i, std::string_view row_prefix) const {
    return IsInPlace(i) || (!row_prefix.empty() && cold_rows_.Has(row_prefix)) ||
           (cache_ != nullptr && cache_->Has(index_.handle(i)));
  }
  // BlockResidency::ReadsWindows.
  bool ReadsWindows() const { return residency_.ReadsWindows(); }
  // BlockReader::Request.
  size_t Request(size_t i, uint64_t bytes, std::string_view row_prefix,
                 OverlappedReads* overlapped);
  BIGTABLE_ONLY_PREFETCHES void Prefetch(size_t i) const {
    bigtable::Prefetch({mapping_ + index_.handle(i).offset, kPrefetchedHead});
  }

 private:
  // Clears in_place_ if it is of an earlier epoch.
  void FollowEpoch();
  absl::Status ReadPastCache(size_t i, const ReadSettings& settings,
                             BlockResidency::ReadAhead* ahead, RowInBlock* row,
                             std::string_view* block, Ref<Block>* owner, BlockOrigin* origin);
  // Reads the window that begins with block `i`. False: there is too much memory in windows, or an
  // error, which is not one of this block.
  bool ReadWindow(size_t i, BlockResidency::ReadAhead* ahead) const;
  // Block `i` of a window that was read.
  absl::Status ReadFromWindow(size_t i, const BlockWindow& window, const CallLimits* limits,
                              std::string_view* block, Ref<Block>* owner);
  // For a block that was read past the mapping, of which no slice is kept instead.
  BlockMemory* MemoryFor(const ReadSettings& settings, const RowInBlock* row) const;
  // Reads block `i` past the mapping.
  absl::Status ReadAside(size_t i, const ReadSettings& settings, BlockResidency::Way way,
                         RowInBlock* row, std::string_view* block, Ref<Block>* owner);
  // The same for a block that OverlappedReads has read, whose stored bytes are at `stored`.
  absl::Status ReadTaken(size_t i, const ReadSettings& settings, const char* stored,
                         RowInBlock* row, std::string_view* block, Ref<Block>* owner);
  // Keeps what was read past the mapping, which may be in memory of the thread.
  absl::Status KeepAside(size_t i, const ReadSettings& settings, RowInBlock* row,
                         std::string_view* block, Ref<Block>* owner);
  absl::Status Verify(size_t i, bool again);

  // Those that ReadInPlace reads are adjacent.
  const BlockIndex& index_;
  const char* const mapping_;
  PageResidency* const pages_;
  BlockBits in_place_;  // raw_, and seen in memory in the epoch epoch_
  std::atomic<uint32_t> epoch_;
  BlockFile* const file_;
  CachedBlocks* const cache_;
  MemoryBudget* const budget_;
  BlockBits verified_;  // was populated once, and its checksum was verified
  BlockBits raw_;       // verified_, and it is not compressed
  BlockResidency residency_;
  ColdRows cold_rows_;
  BudgetCharge charge_;  // for the bits
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_MAPPED_BLOCKS_H_
