// How one cursor reads the blocks of an SSTable. Plain value.
#ifndef BIGTABLE_BLOCKS_READ_SETTINGS_H_
#define BIGTABLE_BLOCKS_READ_SETTINGS_H_

#include <cstdint>
#include <string_view>

namespace bigtable {

struct CallLimits;
class OverlappedReads;

// The row for which a block is read, by a reader that needs nothing else of it.
struct RowInBlock {
  std::string_view prefix;  // base/entry_key.h
  // Set by the read: what was returned is not the block, but one with the entries of the row alone.
  bool is_slice = false;
};

struct ReadSettings {
  // Verify the checksum whenever a block is taken from the file or the mapping, even if it was
  // verified before. False: a mapped block is verified on the first touch after the file was
  // opened; a block read by position is always verified.
  bool verify_checksums = false;
  // The read is traced: files and blocks are recorded in CurrentTrace().
  bool is_traced = false;
  // How many reads of a single row this one stands for, if it is one of a sample: the files that it
  // searches count them. 0: it is not counted.
  uint32_t sampled_reads = 0;
  // Insert the blocks that were read into the block cache. False for a reader that reads everything
  // once.
  bool fill_cache = true;
  // Prefetch from memory and read ahead from the file. False for a reader of one row.
  bool read_ahead = true;
  // Bytes that the cursor will probably read behind its first position: they are requested from the
  // disk together, with the first block. 0: it is not known.
  uint64_t first_request = 0;
  // A key behind which nothing is requested so; empty: there is none. Outlives the cursor.
  std::string_view request_end;
  // The reads that the call has begun, which a read of one of their blocks takes; null: there are
  // none. Outlive the cursor.
  OverlappedReads* overlapped = nullptr;
  // End the waits for other threads that open the file, or load a part of it. Outlives the cursor.
  // Null: there are none.
  const CallLimits* limits = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_READ_SETTINGS_H_
