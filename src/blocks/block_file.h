// The data blocks of one file as they are stored in it: where each of them is, whether its bytes
// are sound, and what they decode to. What all ways of reading a block share (block_reader.h).
//
//   stored bytes, read or mapped --Verify--> sound --Decode--> a block that the cursors understand
//
// Invariants:
// * No byte of a block is used before Verify has returned OK for it. Verify is the only place that
//   compares checksums of blocks.
// * No memory is allocated for a decoded size that the properties of the file rule out.
// * Each error names the file, and the offset of the block.
//
// Thread-safe. Its only state is the dictionary (file_dictionary.h).
#ifndef BIGTABLE_BLOCKS_BLOCK_FILE_H_
#define BIGTABLE_BLOCKS_BLOCK_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "base/ref_counted.h"
#include "blocks/block_index.h"
#include "blocks/block_source.h"
#include "blocks/block_window.h"
#include "blocks/file_dictionary.h"
#include "blocks/stored_block.h"
#include "cache/block.h"

namespace bigtable {

// How a block was obtained, for traces.
enum class BlockOrigin : uint8_t { kInPlace, kFirstTouch, kCacheHit, kCacheMiss };

// What is prefetched of a block that is likely to be read in place.
inline constexpr size_t kPrefetchedHead = 256;

class BlockFile {
 public:
  // `index` and `budget` outlive it.
  BlockFile(BlockSource source, const BlockIndex* index, MemoryBudget* budget);
  BlockFile(const BlockFile&) = delete;
  BlockFile& operator=(const BlockFile&) = delete;

  const RandomAccessFile& file() const { return *source_.file; }
  const std::string& path() const { return source_.path; }
  uint64_t number() const { return source_.number; }
  // Differs from that of every other object in the process, also of those that were destroyed. Not
  // 0.
  uint64_t id() const { return id_; }
  // Whether some blocks may be compressed.
  bool is_compressed() const { return source_.compressed; }
  const BlockIndex& index() const { return index_; }
  // The bytes of block `i` in the file, block trailer included.
  size_t StoredSize(size_t i) const { return index_.handle(i).size + kBlockTrailerSize; }

  // `stored` has the StoredSize(i) bytes of block `i`, here and below.
  absl::Status Verify(size_t i, const char* stored) const;
  // Whether the block itself is stored, so that nothing is to be decoded. Requires Verify.
  bool IsRaw(size_t i, const char* stored) const {
    return EncodingOf(stored, index_.handle(i).size) == BlockEncoding::kRaw;
  }
  // Requires Verify. DataLoss if the block states a size that it cannot have.
  absl::Status DecodedSize(size_t i, const char* stored, uint64_t* size) const;
  // Decodes into `size` bytes at `to`; requires that this is the DecodedSize. The limits, which may
  // be null, end a wait for the dictionary.
  absl::Status DecodeTo(size_t i, const char* stored, const CallLimits* limits, char* to,
                        size_t size);
  // Decodes into new memory. Requires Verify.
  absl::Status Decode(size_t i, const char* stored, const CallLimits* limits, Ref<Block>* owner);

  // Reads the stored bytes of block `i` by position, and verifies them.
  absl::Status ReadStored(size_t i, const CallLimits* limits, char* stored) const;
  // Reads block `i` by position: verified and decoded, in memory of its own. Counts as waiting.
  absl::Status Read(size_t i, const CallLimits* limits, Ref<Block>* owner);
  // The same by RandomAccessFile::ReadUncached. A block that was not decoded is in memory of the
  // thread until its next call, and then `*owner` is null.
  absl::Status ReadUncached(size_t i, const CallLimits* limits, std::string_view* block,
                            Ref<Block>* owner);
  // Reads the stored bytes of the blocks from `first` to before `end` together, by
  // RandomAccessFile::ReadUncached. They are not verified. Counts as waiting.
  absl::Status ReadWindow(size_t first, size_t end, BlockWindow* window) const;
  // Copies block `i`, which was read, into memory of its own.
  absl::Status Copy(size_t i, std::string_view block, Ref<Block>* owner) const;

  absl::Status Damaged(size_t i, std::string_view what) const;
  absl::Status NoMemoryFor(size_t i, uint64_t size) const;

 private:
  absl::Status ReadBytes(size_t i, const CallLimits* limits, char* stored) const;

  const uint64_t id_;
  const BlockSource source_;
  const BlockIndex& index_;
  FileDictionary dictionary_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_FILE_H_
