// Which blocks of a mapped file are in memory, and how others are brought in.
//
// A block whose pages are in memory may be touched. The kernel drops pages without notice, so there
// are epochs for the whole process (page_residency.h): a block that was seen in memory in an epoch
// is assumed to stay there until the epoch ends. Before the first touch, the kernel is queried
// unless the file is trusted (residency_trust.h).
//
// A block that is not in memory is read with one request:
//
// * while memory is plentiful, into the mapping and with the blocks around it;
// * otherwise, for one row, past the memory of the system, where it would displace what is needed
//   more often. Unless it was read so lately, within a quarter to a half as many such reads as
//   there are blocks in memory, or is next to the block that was read so before it: then into the
//   mapping. So the mapping keeps what is read more often than it changes;
// * for a scan in the same way, with the blocks behind it, in a window that grows. After a megabyte
//   it is read by position as far as blocks are missing, and the kernel decides how much to read
//   ahead.
//
// What a read of several rows or files needs first is requested for all of them before the first is
// waited for.
//
// Invariants:
// * Before BringIn returns OK for a block that is not to be read by position, the file's Populate
//   has returned OK for its range, in this epoch or before. So an I/O error is an error and not a
//   signal.
// * present_ is part of known_: each block that was seen in memory counts once in
//   PageResidency::CountKnown, until this object is destroyed.
// * Everything else is a hint: a wrong one costs time, and never changes what is read.
//
// Thread-safe without a lock. Two threads may bring in the same block at once.
#ifndef BIGTABLE_BLOCKS_BLOCK_RESIDENCY_H_
#define BIGTABLE_BLOCKS_BLOCK_RESIDENCY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "blocks/block_bits.h"
#include "blocks/block_file.h"
#include "blocks/block_index.h"
#include "blocks/block_window.h"
#include "blocks/overlapped_reads.h"
#include "blocks/page_residency.h"
#include "blocks/residency_trust.h"

namespace bigtable {

class BlockResidency {
 public:
  // Where a block is to be read from.
  enum class Way : uint8_t {
    kMapping,
    kPosition,  // by position
    kUncached,  // past the memory of the system
    kWindow,    // the same, with the blocks before ReadAhead::window_end
  };

  // The reads so far of a cursor that goes from each block to the next; a new cursor starts a new
  // one.
  struct ReadAhead {
    bool is_new() const { return expected == 0 && window == 0 && requested_end == 0; }

    uint64_t expected = 0;     // bytes that the first request should have; 0: not known
    uint64_t window = 0;       // bytes of the last request
    uint64_t from_disk = 0;    // bytes
    bool is_missing = false;   // the last window was not in memory
    size_t position_end = 0;   // blocks before this one are read by position
    size_t requested_end = 0;  // blocks before this one were requested (Request)
    size_t window_end = 0;     // with Way::kWindow: blocks before this one are read together
    BlockWindow blocks;        // what was read so
  };

  // `file`, which is mapped, `index` and `pages` outlive it.
  BlockResidency(const BlockFile* file, const BlockIndex* index, PageResidency* pages);
  ~BlockResidency();
  BlockResidency(const BlockResidency&) = delete;
  BlockResidency& operator=(const BlockResidency&) = delete;

  // Brings block `i`, and maybe others, into the mapping unless it was seen there in this epoch; or
  // sets `*way` to another one. `was_touched`: it was brought in and touched before. `for_row`: it
  // is read for one row. `ahead` is that of a cursor that came from block i - 1 and continues, or
  // null.
  absl::Status BringIn(size_t i, bool was_touched, bool for_row, ReadAhead* ahead, Way* way);

  // Begins to read block `i`, and the blocks behind it that begin within `bytes` of it, unless they
  // are in memory, and does not wait; a call of BringIn follows. So the requests for several rows,
  // or of several files, overlap. Returns where the requested blocks end, for
  // ReadAhead::requested_end, or 0. `overlapped`: the reads of the call, which may take this one
  // among them instead, or null.
  size_t Request(size_t i, uint64_t bytes, bool was_touched, OverlappedReads* overlapped);

  // Whether the blocks of a scan that are not in memory are read past it.
  bool ReadsWindows() const;

  size_t memory() const {
    return known_.memory() + present_.memory() + requested_.memory() + index_.size();
  }

 private:
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
    ABSL_ASSERT(blocks.first < blocks.end && blocks.end <= index_.size() && "blocks of the file");
    const BlockHandle last = index_.handle(blocks.end - 1);
    const uint64_t begin = index_.handle(blocks.first).offset;
    return f(begin, last.offset + last.size + kBlockTrailerSize - begin);
  }

  // Forgets what was seen in an earlier epoch.
  void FollowEpoch();
  absl::Status BringInAlone(size_t i, bool was_touched, bool for_row, Way* way);
  // A block that Request has counted.
  absl::Status BringInRequested(size_t i, bool for_row, Way* way);
  absl::Status BringInAhead(size_t i, ReadAhead* ahead, Way* way);
  bool IsResident(Stretch blocks) const;
  // Populates the range if it is in memory or the file is trusted to be. Returns false if it is
  // not, or after an error.
  bool PopulateIfResident(Stretch blocks);
  // Whether a block that is not in memory should be read by position. That needs no work on page
  // tables, neither now nor when the pages are dropped, and for a scan the kernel reads ahead
  // meanwhile.
  bool PrefersPosition() const;
  // Whether a block that is not in memory, and is read for one row, is read past that memory.
  // Counts it. The same for blocks of a scan.
  bool IsReadPast(size_t i);
  bool AreReadPast(Stretch blocks);
  // Notes that the block is read past the memory now. Returns whether it was so lately.
  bool NotePast(size_t i);
  // The first block at or after `i` from which a scan will find blocks in memory.
  size_t EndOfMissing(size_t i) const;
  // Populate is for blocks that are in memory, ReadFromDisk for others.
  absl::Status Populate(Stretch blocks);
  absl::Status ReadFromDisk(Stretch blocks);
  // For blocks that were requested.
  absl::Status AwaitRequested(Stretch blocks);
  void WillNeed(Stretch blocks) const;
  // Checks whether a block that was in memory still is. Called when block `next` is read with
  // others.
  void CheckSample(size_t next);
  void MarkPresent(Stretch blocks);

  const BlockFile& blocks_;
  const RandomAccessFile& file_;
  const BlockIndex& index_;
  PageResidency* const pages_;
  BlockBits known_;      // was populated once, or read by position
  BlockBits present_;    // was seen in memory in the epoch epoch_
  BlockBits requested_;  // was requested in this epoch, and not brought in since
  // For each block, the PageResidency::round in which it was last read past the memory; 0: in none.
  const std::unique_ptr<std::atomic<uint8_t>[]> rounds_;
  std::atomic<size_t> last_past_;  // the block that was asked for last by IsReadPast
  std::atomic<uint32_t> epoch_;
  ResidencyTrust trust_;  // for blocks that were not present_ in any epoch
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_RESIDENCY_H_
