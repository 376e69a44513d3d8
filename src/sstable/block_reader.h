// Reads the data blocks of one file: in place from its mapping, from memory, through the block
// cache, or by position. Every block is verified before it is returned. Thread-safe.
//
// * Mapped and not compressed: on the first touch, the block's range is populated and its
//   checksum verified. A bit records that, and afterwards returning the block costs a test of the
//   bit. Before the first touch, the kernel is queried whether the range is in memory, unless the
//   file is trusted (residency_trust.h). When the kernel seems to have dropped pages
//   (page_residency.h), the bits are cleared, and the next touch first checks whether the block is
//   in memory. A block that is not is read with one request: where memory is plentiful, into the
//   mapping and with the blocks around it; where it is not, the block alone and by position. A
//   cursor that continues to the next block requests a growing window of the following blocks. Once
//   it has read a megabyte from the disk, it reads by position as far as blocks are missing, and
//   the kernel decides how much to read ahead.
// * In memory: the first read loads all blocks, verified and decompressed, into one piece of
//   memory. The file is not read again.
// * Otherwise: the block cache is searched first. Then the block is read by position, or taken
//   from the mapping.
#ifndef BIGTABLE_SSTABLE_BLOCK_READER_H_
#define BIGTABLE_SSTABLE_BLOCK_READER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "base/prefetch.h"
#include "base/ref_counted.h"
#include "cache/block.h"
#include "sstable/block_file.h"
#include "sstable/block_index.h"
#include "sstable/block_source.h"
#include "sstable/cached_blocks.h"
#include "sstable/loaded_blocks.h"
#include "sstable/page_residency.h"
#include "sstable/read_settings.h"
#include "sstable/residency_trust.h"
#include "sstable/stored_block.h"

namespace bigtable {

class BlockReader {
 public:
  // The reads so far of a cursor that goes from each block to the next; a new cursor starts a new
  // one.
  struct ReadAhead {
    uint64_t window = 0;      // bytes of the last request
    uint64_t from_disk = 0;   // bytes
    bool is_missing = false;  // the last window was not in memory
    size_t position_end = 0;  // blocks before this one are read by position
  };

  struct Options {
    // All blocks are loaded into memory at the first read.
    bool in_memory = false;
    // Outlives the reader.
    PageResidency* residency = PageResidency::OfProcess();
  };

  // `index` and `budget` outlive the reader.
  BlockReader(BlockSource source, const BlockIndex* index, MemoryBudget* budget, Options options);
  ~BlockReader();
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  const std::string& path() const { return file_.path(); }
  // The memory of all blocks, if they were loaded (Options::in_memory).
  uint64_t loaded_bytes() const { return loaded_.has_value() ? loaded_->memory() : 0; }

  // Returns block `i`. `*owner` keeps its bytes in place; it is null if they live as long as this
  // reader. `ahead` is that of a cursor that came from block i - 1 and continues, or null. The
  // limits of the settings end waits for another thread that loads the blocks or the dictionary, or
  // opens the file again.
  absl::Status Read(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                    std::string_view* block, Ref<Block>* owner) {
    if (mapping_ != nullptr && !settings.verify_checksums && !settings.is_traced &&
        Test(in_place_, i) && epoch_.load(std::memory_order_relaxed) == residency_->epoch())
        [[likely]] {
      residency_->CountTouch();
      const BlockHandle handle = index_->handle(i);
      *block = {mapping_ + handle.offset, handle.size};
      *owner = {};
      return absl::OkStatus();
    }
    if (loaded_.has_value() && !settings.is_traced && loaded_->ReadLoaded(i, block)) {
      *owner = {};
      return absl::OkStatus();
    }
    return ReadSlowly(i, settings, ahead, block, owner);
  }
  // Prefetches the head of block `i` if it is likely to be returned in place.
  BIGTABLE_ONLY_PREFETCHES void Prefetch(size_t i) const {
    if (mapping_ != nullptr) {
      bigtable::Prefetch({mapping_ + index_->handle(i).offset, kPrefetchedHead});
    } else if (loaded_.has_value()) {
      loaded_->Prefetch(i);
    }
  }
  absl::Status DamagedBlock(size_t i, std::string_view what) const {
    return file_.Damaged(i, what);
  }

 private:
  // A bit for each block.
  using Bits = std::unique_ptr<std::atomic<uint64_t>[]>;
  static bool Test(const Bits& bits, size_t i) {
    return (bits[i / 64].load(std::memory_order_acquire) >> (i % 64) & 1) != 0;
  }
  // Returns whether it was set before.
  static bool Set(const Bits& bits, size_t i) {
    if (Test(bits, i)) return true;  // without taking the cache line from other readers
    const uint64_t bit = uint64_t{1} << (i % 64);
    return (bits[i / 64].fetch_or(bit, std::memory_order_release) & bit) != 0;
  }
  size_t words() const { return (index_->size() + 63) / 64; }

  // Also records the block in the thread's trace if the read is traced.
  absl::Status ReadSlowly(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                          std::string_view* block, Ref<Block>* owner);
  absl::Status ReadUntraced(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                            std::string_view* block, Ref<Block>* owner, BlockOrigin* origin);
  // Through the cache, if blocks of the file may be compressed.
  absl::Status ReadMapped(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                          std::string_view* block, Ref<Block>* owner, BlockOrigin* origin);
  absl::Status ReadPastCache(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                             std::string_view* block, Ref<Block>* owner, BlockOrigin* origin);
  absl::Status VerifyMapped(size_t i, const ReadSettings& settings);
  // Blocks [first, end).
  struct Stretch {
    size_t first;
    size_t end;
  };
  Stretch StretchFrom(size_t i, uint64_t bytes) const;
  Stretch StretchAround(size_t i) const;
  // Calls `f` with the offset of the range in the file, and its length.
  template <typename F>
  auto WithRange(Stretch blocks, F f) const {
    ABSL_ASSERT(blocks.first < blocks.end && blocks.end <= index_->size() && "blocks of the file");
    const BlockHandle last = index_->handle(blocks.end - 1);
    const uint64_t begin = index_->handle(blocks.first).offset;
    return f(begin, last.offset + last.size + kBlockTrailerSize - begin);
  }
  bool IsResident(Stretch blocks) const;
  // Populates the range if it is in memory or the file is trusted to be. Returns false if it is
  // not, or after an error.
  bool PopulateIfResident(Stretch blocks);
  // Clears what was recorded in an earlier epoch.
  void FollowEpoch();
  // Brings the block, and maybe others, into the mapping unless it was seen there in this epoch; or
  // sets `*by_position` if it is to be read by position.
  absl::Status BringIn(size_t i, ReadAhead* ahead, bool* by_position);
  absl::Status BringInAhead(size_t i, ReadAhead* ahead, bool* by_position);
  // Whether a block that is not in memory should be read by position. That needs no work on page
  // tables, neither now nor when the pages are dropped, and for a scan the kernel reads ahead
  // meanwhile.
  bool PrefersPosition() const;
  // The first block at or after `i` from which a scan will find blocks in memory.
  size_t EndOfMissing(size_t i) const;
  // Populate is for blocks that are in memory, ReadFromDisk for others.
  absl::Status Populate(Stretch blocks);
  absl::Status ReadFromDisk(Stretch blocks);
  void WillNeed(Stretch blocks) const;
  // Checks whether a block that was in memory still is. Called when block `next` is read with
  // others.
  void CheckSample(size_t next);
  void MarkKnown(size_t i);
  void MarkPresent(Stretch blocks);

  BlockFile file_;
  const BlockIndex* const index_;
  MemoryBudget* const budget_;
  const char* const mapping_;  // null: read by position
  PageResidency* const residency_;
  const Bits known_;     // was populated once, or read by position
  const Bits verified_;  // was populated once, and its checksum was verified
  const Bits raw_;       // verified, and it is not compressed
  // Seen in memory in the epoch `epoch_`; and those of them that are also raw_.
  const Bits present_;
  const Bits in_place_;
  std::atomic<uint32_t> epoch_;
  ResidencyTrust trust_;   // for blocks that were not present_ in any epoch
  const int64_t charged_;  // for the bits

  std::optional<LoadedBlocks> loaded_;  // of a file that is in memory
  // Of a file that is read by position, or has compressed blocks.
  std::optional<CachedBlocks> cached_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_BLOCK_READER_H_
