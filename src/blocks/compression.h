// zstd, as the blocks of a file use it. Every block is decoded on its own; with kZstdLongWindow,
// matches may also refer to the file's dictionary (dictionary.h).
#ifndef BIGTABLE_BLOCKS_COMPRESSION_H_
#define BIGTABLE_BLOCKS_COMPRESSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "blocks/stored_block.h"

typedef struct ZSTD_CCtx_s ZSTD_CCtx;    // NOLINT: as zstd declares them
typedef struct ZSTD_CDict_s ZSTD_CDict;  // NOLINT
typedef struct ZSTD_DDict_s ZSTD_DDict;  // NOLINT

namespace bigtable {

// Compresses the blocks of one file. One thread at a time.
class BlockCompressor {
 public:
  explicit BlockCompressor(int level);
  ~BlockCompressor();
  BlockCompressor(const BlockCompressor&) = delete;
  BlockCompressor& operator=(const BlockCompressor&) = delete;

  // Lets matches refer to `dictionary`, which outlives the compressor.
  void UseDictionary(std::string_view dictionary);
  // Appends `block` to `out`: compressed if that saves at least a sixteenth, otherwise unchanged.
  BlockEncoding AppendTo(std::string* out, std::string_view block);
  // Without the dictionary's content.
  size_t memory() const;

 private:
  const int level_;
  ZSTD_CCtx* const context_;
  ZSTD_CDict* dictionary_ = nullptr;
};

// The dictionary of a file, shared by its readers. Immutable and thread-safe.
class DecodingDictionary {
 public:
  explicit DecodingDictionary(std::unique_ptr<char[]> content, size_t size);
  ~DecodingDictionary();
  DecodingDictionary(const DecodingDictionary&) = delete;
  DecodingDictionary& operator=(const DecodingDictionary&) = delete;

  size_t memory() const;
  const ZSTD_DDict* get() const { return dictionary_; }

 private:
  const std::unique_ptr<char[]> content_;
  const size_t size_;
  ZSTD_DDict* const dictionary_;
};

// The most bytes to which a zstd frame of this size can decode.
uint64_t MostDecompressed(uint64_t compressed_size);
inline constexpr uint64_t kUnknownSize = UINT64_MAX;
// The decoded size that the zstd frame `compressed` states; kUnknownSize if it is not a frame, or
// too short to hold that much. Check it against a bound before allocating memory for it.
uint64_t DecompressedSize(std::string_view compressed);
// Decodes `compressed` into exactly `size` bytes at `out`, with `dictionary` if that is not null.
// Returns false if it does not decode to that. Thread-safe: each thread has its own context.
bool Decompress(std::string_view compressed, const DecodingDictionary* dictionary, char* out,
                size_t size);

// A buffer of the calling thread, for a compressed block read from the file. Valid until the
// thread's next call.
std::string* ThreadBuffer();

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_COMPRESSION_H_
