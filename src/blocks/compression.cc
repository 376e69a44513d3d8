#include "blocks/compression.h"

#define ZSTD_STATIC_LINKING_ONLY  // raw content as a dictionary is not in the stable interface
#include <algorithm>
#include <bit>
#include <utility>
#include <zstd.h>

namespace bigtable {
namespace {

// Compression must save at least this part of the block (one sixteenth), or it is not worth
// decoding.
constexpr size_t kWorthwhilePart = 16;

// zstd's parameters for blocks that have a dictionary. The strategies of fast levels search so
// little of a dictionary of megabytes that most of its benefit is lost: on HTML at level 3, blocks
// and dictionary come to 68% of gzip's size instead of 55%. So the search is at least lazy, over a
// table with a slot for each position of the dictionary. Higher levels keep their own search.
ZSTD_compressionParameters DictionaryParameters(int level, size_t dictionary_size) {
  constexpr unsigned kWindowLog = 22;  // a dictionary and a block
  constexpr unsigned kMostTableLog = 21;
  const auto table_log =
      std::min(static_cast<unsigned>(std::bit_width(dictionary_size)), kMostTableLog);
  ZSTD_compressionParameters p = ZSTD_getCParams(level, 0, dictionary_size);
  p.windowLog = std::max(p.windowLog, kWindowLog);
  p.hashLog = std::max(p.hashLog, table_log);
  p.chainLog = std::max(p.chainLog, table_log);
  if (p.strategy <= ZSTD_lazy2) {
    p.strategy = ZSTD_lazy2;
    p.searchLog = level <= 1 ? 4 : level == 2 ? 5 : 6;
    p.minMatch = 6;
  }
  return p;
}

ZSTD_DCtx* ThreadDecoder() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  static thread_local std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  return context.get();
}

}  // namespace

BlockCompressor::BlockCompressor(int level) : level_(level), context_(ZSTD_createCCtx()) {
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level_);
}

BlockCompressor::~BlockCompressor() {
  ZSTD_freeCCtx(context_);
  ZSTD_freeCDict(dictionary_);
}

void BlockCompressor::UseDictionary(std::string_view dictionary) {
  dictionary_ = ZSTD_createCDict_advanced(
      dictionary.data(), dictionary.size(), ZSTD_dlm_byRef, ZSTD_dct_rawContent,
      DictionaryParameters(level_, dictionary.size()), ZSTD_defaultCMem);
  // Search the tables of the dictionary in place instead of copying them for each block.
  ZSTD_CCtx_setParameter(context_, ZSTD_c_forceAttachDict, ZSTD_dictForceAttach);
  ZSTD_CCtx_refCDict(context_, dictionary_);
}

BlockEncoding BlockCompressor::AppendTo(std::string* out, std::string_view block) {
  const size_t begin = out->size();
  out->resize(begin + ZSTD_compressBound(block.size()));
  const size_t size = ZSTD_compress2(context_, out->data() + begin, out->size() - begin,
                                     block.data(), block.size());
  if (!ZSTD_isError(size) && size <= block.size() - block.size() / kWorthwhilePart) {
    out->resize(begin + size);
    return dictionary_ != nullptr ? BlockEncoding::kZstdDictionary : BlockEncoding::kZstd;
  }
  out->resize(begin);
  out->append(block);
  return BlockEncoding::kRaw;
}

size_t BlockCompressor::memory() const {
  return ZSTD_sizeof_CCtx(context_) + ZSTD_sizeof_CDict(dictionary_);  // both are 0 for null
}

DecodingDictionary::DecodingDictionary(std::unique_ptr<char[]> content, size_t size)
    : content_(std::move(content)),
      size_(size),
      dictionary_(ZSTD_createDDict_advanced(content_.get(), size_, ZSTD_dlm_byRef,
                                            ZSTD_dct_rawContent, ZSTD_defaultCMem)) {}

DecodingDictionary::~DecodingDictionary() { ZSTD_freeDDict(dictionary_); }

size_t DecodingDictionary::memory() const { return size_ + ZSTD_sizeof_DDict(dictionary_); }

// Each block of a frame takes at least four bytes.
uint64_t MostDecompressed(uint64_t compressed_size) {
  constexpr uint64_t kMostBlocks = UINT64_MAX / ZSTD_BLOCKSIZE_MAX;
  return std::min(compressed_size / 4, kMostBlocks) * ZSTD_BLOCKSIZE_MAX;
}

uint64_t DecompressedSize(std::string_view compressed) {
  const unsigned long long size =  // NOLINT: as zstd has it
      ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return kUnknownSize;
  return size > MostDecompressed(compressed.size()) ? kUnknownSize : size;
}

bool Decompress(std::string_view compressed, const DecodingDictionary* dictionary, char* out,
                size_t size) {
  ZSTD_DCtx* const context = ThreadDecoder();
  const size_t got =
      dictionary == nullptr
          ? ZSTD_decompressDCtx(context, out, size, compressed.data(), compressed.size())
          : ZSTD_decompress_usingDDict(context, out, size, compressed.data(), compressed.size(),
                                       dictionary->get());
  return !ZSTD_isError(got) && got == size;
}

std::string* ThreadBuffer() {
  static thread_local std::string buffer;
  return &buffer;
}

}  // namespace bigtable
