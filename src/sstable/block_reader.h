// Reads the data blocks of one file: in place from its mapping, from memory, through the block
// cache, or by position. Whatever way, what is shown has been verified. Thread-safe.
//
// * Mapped and not compressed: the block's range is populated (for those who read on, together with
//   the next ones), and its checksum verified, when it is first touched; a bit remembers that, and
//   from then on showing the block costs a test of the bit.
// * In memory: the first read loads all blocks, verified and decompressed, into one piece of
//   memory. The file is not read again.
// * Otherwise the block cache is asked, and then the block is read, or taken from the mapping.
#ifndef BIGTABLE_SSTABLE_BLOCK_READER_H_
#define BIGTABLE_SSTABLE_BLOCK_READER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/mutex.h"
#include "base/prefetch.h"
#include "base/ref_counted.h"
#include "cache/block.h"
#include "sstable/block_index.h"
#include "sstable/block_offsets.h"
#include "sstable/compression.h"
#include "sstable/read_settings.h"
#include "sstable/stored_block.h"

namespace bigtable {

class BlockReader {
 public:
  // The file and what its properties say.
  struct Source {
    std::unique_ptr<RandomAccessFile> file;
    std::string path;
    uint64_t number = 0;
    uint64_t identity = 0;
    bool compressed = false;     // some blocks may be
    uint64_t largest_block = 0;  // decoded
    BlockHandle dictionary = {};
    uint64_t dictionary_size = 0;  // decoded
    bool in_memory = false;
  };

  // `index` and `budget` outlive the reader.
  BlockReader(Source source, const BlockIndex* index, MemoryBudget* budget);
  ~BlockReader();
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;

  const std::string& path() const { return source_.path; }

  // Shows block `i`. `*owner` keeps its bytes in place, or is null when they stay as long as this
  // reader does.
  absl::Status Read(size_t i, const ReadSettings& settings, std::string_view* block,
                    Ref<Block>* owner) {
    if (mapping_ != nullptr && !settings.verify_checksums && !settings.is_traced &&
        Test(in_place_, i)) [[likely]] {
      const BlockHandle handle = index_->handle(i);
      *block = {mapping_ + handle.offset, handle.size};
      *owner = {};
      return absl::OkStatus();
    }
    const Loaded* const loaded = shared_loaded_.load(std::memory_order_acquire);
    if (loaded != nullptr && !settings.is_traced) {
      *block = loaded->block(i);
      *owner = {};
      return absl::OkStatus();
    }
    return ReadSlowly(i, settings, block, owner);
  }
  // Begins to bring the head of block `i` from memory, if it is likely to be shown in place.
  BIGTABLE_ONLY_PREFETCHES void Prefetch(size_t i) const {
    const char* head;
    if (mapping_ != nullptr) {
      head = mapping_ + index_->handle(i).offset;
    } else if (const Loaded* loaded = shared_loaded_.load(std::memory_order_acquire)) {
      head = loaded->block(i).data();
    } else {
      return;
    }
    bigtable::Prefetch({head, 256});
  }
  absl::Status DamagedBlock(size_t i, std::string_view what) const;

 private:
  // A bit for each block.
  using Bits = std::unique_ptr<std::atomic<uint64_t>[]>;
  // All blocks, decoded.
  struct Loaded {
    std::unique_ptr<char[], void (*)(char*)> bytes{nullptr, nullptr};
    BlockOffsets offsets;  // in the bytes, and the end of the last block
    size_t charge = 0;

    std::string_view block(size_t i) const {
      const uint64_t begin = offsets[i];
      return {bytes.get() + begin, offsets[i + 1] - begin};
    }
  };

  static bool Test(const Bits& bits, size_t i) {
    return (bits[i / 64].load(std::memory_order_acquire) >> (i % 64) & 1) != 0;
  }
  static void Set(const Bits& bits, size_t i) {
    bits[i / 64].fetch_or(uint64_t{1} << (i % 64), std::memory_order_release);
  }

  // How a block came to be shown.
  enum class Way : uint8_t { kInPlace, kFirstTouch, kCacheHit, kCacheMiss };

  // Notes it in the thread's trace, too, if the read is traced.
  absl::Status ReadSlowly(size_t i, const ReadSettings& settings, std::string_view* block,
                          Ref<Block>* owner);
  absl::Status ReadAnyWay(size_t i, const ReadSettings& settings, std::string_view* block,
                          Ref<Block>* owner, Way* way);
  absl::Status ReadMapped(size_t i, const ReadSettings& settings, std::string_view* block,
                          Ref<Block>* owner);
  absl::Status ReadByPosition(size_t i, std::string_view* block, Ref<Block>* owner);
  absl::Status VerifyMapped(size_t i, const ReadSettings& settings);
  // Brings the block's bytes into the mapping, and maybe those of the next blocks.
  absl::Status Populate(size_t i, bool read_ahead) const;
  absl::Status Decode(size_t i, std::string_view stored, BlockEncoding encoding, Ref<Block>* owner);
  absl::Status DecodedSize(size_t i, std::string_view stored, BlockEncoding encoding,
                           uint64_t* size) const;
  absl::Status DecodeTo(size_t i, std::string_view stored, BlockEncoding encoding, char* to,
                        size_t size);
  absl::Status FindDictionary(const DecodingDictionary** dictionary);
  absl::Status ReadDictionary(std::unique_ptr<DecodingDictionary>* dictionary) const;
  absl::Status Load(const Loaded** loaded);
  absl::Status LoadBlocks(Loaded* loaded);

  const Source source_;
  const BlockIndex* const index_;
  MemoryBudget* const budget_;
  const uint64_t cache_id_;
  const char* const mapping_;  // null: read by position
  const Bits populated_;       // some time ahead of their first touch
  const Bits verified_;        // populated, and the checksum holds
  const Bits in_place_;        // that, and it is not compressed

  Mutex mutex_;  // for who creates the dictionary
  std::unique_ptr<DecodingDictionary> dictionary_ ABSL_GUARDED_BY(mutex_);
  std::atomic<const DecodingDictionary*> shared_dictionary_{nullptr};
  Mutex load_mutex_;  // for who loads all blocks; mutex_ may be taken under it
  std::unique_ptr<Loaded> loaded_ ABSL_GUARDED_BY(load_mutex_);
  std::atomic<const Loaded*> shared_loaded_{nullptr};
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_BLOCK_READER_H_
