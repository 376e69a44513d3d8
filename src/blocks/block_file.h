// The blocks of one file as they are stored in it: whether the bytes of one are sound, and what
// they decode to. What all ways of reading a block share (block_reader.h).
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
#include "blocks/block_source.h"
#include "blocks/block_window.h"
#include "blocks/file_dictionary.h"
#include "blocks/stored_block.h"
#include "cache/block.h"
#include "cache/block_memory.h"

namespace bigtable {

// How a block was obtained, for traces.
enum class BlockOrigin : uint8_t { kInPlace, kFirstTouch, kCacheHit, kCacheMiss };

// What is prefetched of a block that is likely to be read in place.
inline constexpr size_t kPrefetchedHead = 256;

class BlockFile {
 public:
  // `budget` outlives it.
  BlockFile(BlockSource source, MemoryBudget* budget);
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

  // `stored` has the StoredSize() bytes of the block, here and below.
  absl::Status Verify(const BlockHandle& block, const char* stored) const;
  // Whether the block itself is stored, so that nothing is to be decoded. Requires Verify.
  static bool IsRaw(const BlockHandle& block, const char* stored) {
    return EncodingOf(stored, block.size) == BlockEncoding::kRaw;
  }
  // Requires Verify. DataLoss if the block states a size that it cannot have.
  absl::Status DecodedSize(const BlockHandle& block, const char* stored, uint64_t* size) const;
  // Decodes into `size` bytes at `to`; requires that this is the DecodedSize. The limits, which may
  // be null, end a wait for the dictionary.
  absl::Status DecodeTo(const BlockHandle& block, const char* stored, const CallLimits* limits,
                        char* to, size_t size);
  // Decodes into new memory. Requires Verify. `memory`: for a block that is to be cached, or null,
  // here and below.
  absl::Status Decode(const BlockHandle& block, const char* stored, const CallLimits* limits,
                      BlockMemory* memory, Ref<Block>* owner);

  // Reads the stored bytes of a block by position, and verifies them.
  absl::Status ReadStored(const BlockHandle& block, const CallLimits* limits, char* stored) const;
  // Reads a block by position: verified and decoded, in memory of its own. Counts as waiting.
  absl::Status Read(const BlockHandle& block, const CallLimits* limits, BlockMemory* memory,
                    Ref<Block>* owner);
  // The same by RandomAccessFile::ReadUncached. A block that was not decoded is in memory of the
  // thread until its next call, and then `*owner` is null.
  absl::Status ReadUncached(const BlockHandle& block, const CallLimits* limits,
                            std::string_view* bytes, Ref<Block>* owner);
  // Reads the stored bytes of the blocks from `first` to `last` together, by
  // RandomAccessFile::ReadUncached, and sets the memory of the window. They are not verified.
  // Counts as waiting.
  absl::Status ReadWindow(const BlockHandle& first, const BlockHandle& last,
                          BlockWindow* window) const;
  // Copies the bytes of a block, which was read, into memory of its own.
  absl::Status Copy(const BlockHandle& block, std::string_view bytes, BlockMemory* memory,
                    Ref<Block>* owner) const;

  absl::Status Damaged(const BlockHandle& block, std::string_view what) const;
  absl::Status NoMemoryFor(const BlockHandle& block, uint64_t size) const;

 private:
  absl::Status ReadBytes(const BlockHandle& block, const CallLimits* limits, char* stored) const;

  const uint64_t id_;
  const BlockSource source_;
  FileDictionary dictionary_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_BLOCK_FILE_H_
