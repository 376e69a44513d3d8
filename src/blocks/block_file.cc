#include "blocks/block_file.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "base/try_allocate.h"
#include "blocks/compression.h"
#include "filesystem/file_pool.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

namespace {

uint64_t NewId() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

BlockFile::BlockFile(BlockSource source, MemoryBudget* budget)
    : id_(NewId()), source_(std::move(source)), dictionary_(&source_, budget) {}

absl::Status BlockFile::Damaged(const BlockHandle& block, std::string_view what) const {
  return absl::DataLossError(Cat(source_.path, ": the block at offset ", block.offset, " ", what));
}

absl::Status BlockFile::NoMemoryFor(const BlockHandle& block, uint64_t size) const {
  return bigtable::NoMemoryFor(source_.path, Cat("the block at offset ", block.offset), size);
}

absl::Status BlockFile::Verify(const BlockHandle& block, const char* stored) const {
  return BlockTrailerHolds(stored, block.size, source_.identity, block.offset)
             ? absl::OkStatus()
             : Damaged(block, "has a wrong checksum");
}

absl::Status BlockFile::DecodedSize(const BlockHandle& block, const char* stored,
                                    uint64_t* size) const {
  const uint64_t stored_size = block.size;
  *size = EncodingOf(stored, stored_size) == BlockEncoding::kRaw
              ? stored_size
              : DecompressedSize({stored, stored_size});
  if (*size == kUnknownSize) return Damaged(block, "states a decoded size that it cannot have");
  if (*size > source_.largest_block) {
    return Damaged(block, "decodes to more than the largest block of the file");
  }
  return absl::OkStatus();
}

absl::Status BlockFile::DecodeTo(const BlockHandle& block, const char* stored,
                                 const CallLimits* limits, char* to, size_t size) {
  const uint64_t stored_size = block.size;
  const BlockEncoding encoding = EncodingOf(stored, stored_size);
  if (encoding == BlockEncoding::kRaw) {
    std::memcpy(to, stored, size);
    return absl::OkStatus();
  }
  const DecodingDictionary* dictionary = nullptr;
  if (encoding == BlockEncoding::kZstdDictionary) {
    BT_RETURN_IF_ERROR(dictionary_.Find(limits, &dictionary));
  }
  return Decompress({stored, stored_size}, dictionary, to, size)
             ? absl::OkStatus()
             : Damaged(block, "does not decompress");
}

absl::Status BlockFile::Decode(const BlockHandle& block, const char* stored,
                               const CallLimits* limits, BlockMemory* memory, Ref<Block>* owner) {
  uint64_t size;
  BT_RETURN_IF_ERROR(DecodedSize(block, stored, &size));
  char* bytes = nullptr;
  Ref<Block> decoded = Block::New(memory, size, &bytes);
  if (!decoded) return NoMemoryFor(block, size);
  BT_RETURN_IF_ERROR(DecodeTo(block, stored, limits, bytes, size));
  *owner = std::move(decoded);
  return absl::OkStatus();
}

absl::Status BlockFile::ReadBytes(const BlockHandle& block, const CallLimits* limits,
                                  char* stored) const {
  return FilePool::Read(*source_.file, block.offset, StoredSize(block), stored, limits);
}

absl::Status BlockFile::ReadStored(const BlockHandle& block, const CallLimits* limits,
                                   char* stored) const {
  BT_RETURN_IF_ERROR(ReadBytes(block, limits, stored));
  return Verify(block, stored);
}

absl::Status BlockFile::Read(const BlockHandle& block, const CallLimits* limits,
                             BlockMemory* memory, Ref<Block>* owner) {
  const size_t size = StoredSize(block);
  Ref<Block> own;
  char* stored = nullptr;
  // A block that will be decoded is read into the thread's buffer; another is read into its own
  // memory.
  constexpr size_t kMostForThread = 1 << 20;
  if (source_.compressed && size <= kMostForThread) {
    std::string* const buffer = ThreadBuffer();
    if (buffer->size() < size) buffer->resize(size);
    stored = buffer->data();
  } else {
    own = Block::New(memory, block.size, size, &stored);
    if (!own) return NoMemoryFor(block, size);
  }
  {
    const WaitTimer wait;
    BT_RETURN_IF_ERROR(ReadBytes(block, limits, stored));
  }
  BT_RETURN_IF_ERROR(Verify(block, stored));
  if (!own || !IsRaw(block, stored)) return Decode(block, stored, limits, memory, owner);
  *owner = std::move(own);
  return absl::OkStatus();
}

absl::Status BlockFile::ReadUncached(const BlockHandle& block, const CallLimits* limits,
                                     std::string_view* bytes, Ref<Block>* owner) {
  constexpr size_t kMostForThread = 1 << 20;
  const size_t size = StoredSize(block);
  *owner = {};
  if (size > kMostForThread) {
    BT_RETURN_IF_ERROR(Read(block, limits, nullptr, owner));
    *bytes = (*owner)->data();
    return absl::OkStatus();
  }
  std::string* const buffer = ThreadBuffer();
  if (buffer->size() < size) buffer->resize(size);
  char* const stored = buffer->data();
  {
    const WaitTimer wait;
    BT_RETURN_IF_ERROR(source_.file->ReadUncached(block.offset, size, stored));
  }
  BT_RETURN_IF_ERROR(Verify(block, stored));
  *bytes = {stored, block.size};
  if (IsRaw(block, stored)) return absl::OkStatus();
  BT_RETURN_IF_ERROR(Decode(block, stored, limits, nullptr, owner));
  *bytes = (*owner)->data();
  return absl::OkStatus();
}

absl::Status BlockFile::ReadWindow(const BlockHandle& first, const BlockHandle& last,
                                   BlockWindow* window) const {
  // Reads past the memory of the system take whole sectors to an address at a sector's boundary.
  constexpr uint64_t kSector = 4096;
  const RandomAccessFile& file = *source_.file;
  const uint64_t begin = first.offset / kSector * kSector;
  const uint64_t end = last.offset + StoredSize(last);
  const uint64_t limit = std::min((end + kSector - 1) / kSector * kSector, file.size());
  const uint64_t size = limit - begin;
  char* bytes = nullptr;
  Ref<Block> memory = Block::New(nullptr, size, size + kSector, &bytes);
  if (!memory) return NoMemoryFor(first, size + kSector);
  const auto address = reinterpret_cast<uintptr_t>(bytes);
  bytes += (kSector - address % kSector) % kSector;
  {
    const WaitTimer wait;
    BT_RETURN_IF_ERROR(file.ReadUncached(begin, static_cast<size_t>(size), bytes));
  }
  window->memory = std::move(memory);
  window->bytes = bytes;
  window->begin = begin;
  return absl::OkStatus();
}

absl::Status BlockFile::Copy(const BlockHandle& block, std::string_view bytes, BlockMemory* memory,
                             Ref<Block>* owner) const {
  char* to = nullptr;
  Ref<Block> copy = Block::New(memory, bytes.size(), &to);
  if (!copy) return NoMemoryFor(block, bytes.size());
  bytes.copy(to, bytes.size());
  *owner = std::move(copy);  // which may have had the bytes
  return absl::OkStatus();
}

}  // namespace bigtable
