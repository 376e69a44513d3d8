#include "blocks/block_file.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
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

BlockFile::BlockFile(BlockSource source, const BlockIndex* index, MemoryBudget* budget)
    : id_(NewId()), source_(std::move(source)), index_(*index), dictionary_(&source_, budget) {}

absl::Status BlockFile::Damaged(size_t i, std::string_view what) const {
  return absl::DataLossError(
      Cat(source_.path, ": the block at offset ", index_.handle(i).offset, " ", what));
}

absl::Status BlockFile::NoMemoryFor(size_t i, uint64_t size) const {
  return bigtable::NoMemoryFor(source_.path, Cat("the block at offset ", index_.handle(i).offset),
                               size);
}

absl::Status BlockFile::Verify(size_t i, const char* stored) const {
  const BlockHandle handle = index_.handle(i);
  return BlockTrailerHolds(stored, handle.size, source_.identity, handle.offset)
             ? absl::OkStatus()
             : Damaged(i, "has a wrong checksum");
}

absl::Status BlockFile::DecodedSize(size_t i, const char* stored, uint64_t* size) const {
  const uint64_t stored_size = index_.handle(i).size;
  *size = EncodingOf(stored, stored_size) == BlockEncoding::kRaw
              ? stored_size
              : DecompressedSize({stored, stored_size});
  if (*size == kUnknownSize) return Damaged(i, "states a decoded size that it cannot have");
  if (*size > source_.largest_block) {
    return Damaged(i, "decodes to more than the largest block of the file");
  }
  return absl::OkStatus();
}

absl::Status BlockFile::DecodeTo(size_t i, const char* stored, const CallLimits* limits, char* to,
                                 size_t size) {
  const uint64_t stored_size = index_.handle(i).size;
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
             : Damaged(i, "does not decompress");
}

absl::Status BlockFile::Decode(size_t i, const char* stored, const CallLimits* limits,
                               Ref<Block>* owner) {
  uint64_t size;
  BT_RETURN_IF_ERROR(DecodedSize(i, stored, &size));
  auto buffer = TryAllocate(size);
  if (buffer == nullptr) return NoMemoryFor(i, size);
  BT_RETURN_IF_ERROR(DecodeTo(i, stored, limits, buffer.get(), size));
  *owner = MakeRef<Block>(std::move(buffer), size, size);
  return absl::OkStatus();
}

absl::Status BlockFile::ReadBytes(size_t i, const CallLimits* limits, char* stored) const {
  return FilePool::Read(*source_.file, index_.handle(i).offset, StoredSize(i), stored, limits);
}

absl::Status BlockFile::ReadStored(size_t i, const CallLimits* limits, char* stored) const {
  BT_RETURN_IF_ERROR(ReadBytes(i, limits, stored));
  return Verify(i, stored);
}

absl::Status BlockFile::Read(size_t i, const CallLimits* limits, Ref<Block>* owner) {
  const size_t size = StoredSize(i);
  std::unique_ptr<char[]> own;
  char* stored;
  // A block that will be decoded is read into the thread's buffer; another is read into its own
  // memory.
  constexpr size_t kMostForThread = 1 << 20;
  if (source_.compressed && size <= kMostForThread) {
    std::string* const buffer = ThreadBuffer();
    if (buffer->size() < size) buffer->resize(size);
    stored = buffer->data();
  } else {
    own = TryAllocate(size);
    if (own == nullptr) return NoMemoryFor(i, size);
    stored = own.get();
  }
  {
    const WaitTimer wait;
    BT_RETURN_IF_ERROR(ReadBytes(i, limits, stored));
  }
  BT_RETURN_IF_ERROR(Verify(i, stored));
  if (own == nullptr || !IsRaw(i, stored)) return Decode(i, stored, limits, owner);
  *owner = MakeRef<Block>(std::move(own), size - kBlockTrailerSize, size);
  return absl::OkStatus();
}

absl::Status BlockFile::ReadUncached(size_t i, const CallLimits* limits, std::string_view* block,
                                     Ref<Block>* owner) {
  constexpr size_t kMostForThread = 1 << 20;
  const BlockHandle handle = index_.handle(i);
  const size_t size = StoredSize(i);
  *owner = {};
  if (size > kMostForThread) {
    BT_RETURN_IF_ERROR(Read(i, limits, owner));
    *block = (*owner)->data();
    return absl::OkStatus();
  }
  std::string* const buffer = ThreadBuffer();
  if (buffer->size() < size) buffer->resize(size);
  char* const stored = buffer->data();
  {
    const WaitTimer wait;
    BT_RETURN_IF_ERROR(source_.file->ReadUncached(handle.offset, size, stored));
  }
  BT_RETURN_IF_ERROR(Verify(i, stored));
  *block = {stored, handle.size};
  if (IsRaw(i, stored)) return absl::OkStatus();
  BT_RETURN_IF_ERROR(Decode(i, stored, limits, owner));
  *block = (*owner)->data();
  return absl::OkStatus();
}

absl::Status BlockFile::ReadWindow(size_t first, size_t end, BlockWindow* window) const {
  // Reads past the memory of the system take whole sectors to an address at a sector's boundary.
  constexpr uint64_t kSector = 4096;
  const RandomAccessFile& file = *source_.file;
  const uint64_t begin = index_.handle(first).offset / kSector * kSector;
  const uint64_t last = index_.handle(end - 1).offset + StoredSize(end - 1);
  const uint64_t limit = std::min((last + kSector - 1) / kSector * kSector, file.size());
  const uint64_t size = limit - begin;
  auto memory = TryAllocate(size + kSector);
  if (memory == nullptr) return NoMemoryFor(first, size + kSector);
  const auto address = reinterpret_cast<uintptr_t>(memory.get());
  char* const bytes = memory.get() + (kSector - address % kSector) % kSector;
  {
    const WaitTimer wait;
    BT_RETURN_IF_ERROR(file.ReadUncached(begin, static_cast<size_t>(size), bytes));
  }
  *window = {nullptr, MakeRef<Block>(std::move(memory), size, size + kSector), bytes, begin, first,
             end};
  return absl::OkStatus();
}

absl::Status BlockFile::Copy(size_t i, std::string_view block, Ref<Block>* owner) const {
  auto memory = TryAllocate(block.size());
  if (memory == nullptr) return NoMemoryFor(i, block.size());
  block.copy(memory.get(), block.size());
  *owner = MakeRef<Block>(std::move(memory), block.size(), block.size());
  return absl::OkStatus();
}

}  // namespace bigtable
