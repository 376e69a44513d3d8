#include "sstable/block_reader.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <utility>

#include "base/shortcuts.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/try_allocate.h"
#include "cache/block_cache.h"
#include "cache/budget_access.h"
#include "filesystem/file_pool.h"
#include "monitoring/thread_calls.h"
#include "monitoring/tracer.h"

namespace bigtable {
namespace {

std::unique_ptr<std::atomic<uint64_t>[]> MakeBits(size_t n) {
  return std::make_unique<std::atomic<uint64_t>[]>((n + 63) / 64);
}

// Memory for a table's blocks. It uses huge pages where the system has them and the blocks fill
// them, so that a random read does not also wait for the page table. The rest is in small pages.
std::unique_ptr<char[], void (*)(char*)> AllocateBlocks(size_t size, size_t* allocated) {
  constexpr size_t kHugePage = 2 << 20;
  constexpr size_t kPage = 4096;
  const size_t alignment = size >= kHugePage ? kHugePage : kPage;
  *allocated = (size + kPage - 1) / kPage * kPage;
  void* bytes = nullptr;
  if (posix_memalign(&bytes, alignment, *allocated) != 0) bytes = nullptr;
  if (bytes != nullptr && alignment == kHugePage) madvise(bytes, *allocated, MADV_HUGEPAGE);
  return {static_cast<char*>(bytes), [](char* p) { std::free(p); }};
}

}  // namespace

BlockReader::BlockReader(Source source, const BlockIndex* index, MemoryBudget* budget,
                         PageResidency* residency)
    : source_(std::move(source)),
      index_(index),
      budget_(budget),
      cache_id_(BudgetAccess::Cache(*budget).NewFileId()),
      mapping_(source_.in_memory ? nullptr : source_.file->mapping()),
      residency_(residency),
      known_(mapping_ == nullptr ? nullptr : MakeBits(index->size())),
      verified_(mapping_ == nullptr ? nullptr : MakeBits(index->size())),
      raw_(mapping_ == nullptr ? nullptr : MakeBits(index->size())),
      present_(mapping_ == nullptr ? nullptr : MakeBits(index->size())),
      in_place_(mapping_ == nullptr ? nullptr : MakeBits(index->size())),
      epoch_(residency->epoch()),
      charged_(mapping_ == nullptr ? 0 : static_cast<int64_t>(5 * sizeof(uint64_t) * words())) {
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, charged_);
}

BlockReader::~BlockReader() {
  const bool uses_cache = !source_.in_memory && (mapping_ == nullptr || source_.compressed);
  if (uses_cache) BudgetAccess::Cache(*budget_).EraseFile(cache_id_);
  if (const auto* dictionary = shared_dictionary_.load()) {
    BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes,
                         -static_cast<int64_t>(dictionary->memory()));
  }
  if (const auto* loaded = shared_loaded_.load()) {
    BudgetAccess::Charge(*budget_, MemoryBudget::Use::kInMemoryGroups,
                         -static_cast<int64_t>(loaded->charge));
  }
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, -charged_);
  if (mapping_ == nullptr) return;
  int64_t known = 0;
  for (size_t word = 0; word < words(); ++word) known += std::popcount(known_[word].load());
  residency_->CountKnown(-known);
}

absl::Status BlockReader::DamagedBlock(size_t i, std::string_view what) const {
  return absl::DataLossError(
      Cat(source_.path, ": the block at offset ", index_->handle(i).offset, " ", what));
}

absl::Status BlockReader::NoMemoryForBlock(size_t i, uint64_t size) const {
  return NoMemoryFor(source_.path, Cat("the block at offset ", index_->handle(i).offset), size);
}

absl::Status BlockReader::ReadUntraced(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                       std::string_view* block, Ref<Block>* owner,
                                       BlockOrigin* origin) {
  *origin = BlockOrigin::kInPlace;
  if (source_.in_memory) {
    const Loaded* loaded;
    if (shared_loaded_.load(std::memory_order_relaxed) == nullptr)
      *origin = BlockOrigin::kFirstTouch;
    BT_RETURN_IF_ERROR(Load(settings.limits, &loaded));
    *block = loaded->block(i);
    *owner = {};
    return absl::OkStatus();
  }
  // Of a mapped file, only compressed blocks are cached.
  const bool uses_cache = Shortcuts().Has(Shortcut::kBlockCache);
  const bool in_cache = mapping_ == nullptr || (source_.compressed && !Test(raw_, i));
  if (in_cache) {
    *owner = uses_cache
                 ? BudgetAccess::Cache(*budget_).Lookup({cache_id_, index_->handle(i).offset})
                 : Ref<Block>();
    if (*owner) {
      *origin = BlockOrigin::kCacheHit;
      *block = (*owner)->data();
      return absl::OkStatus();
    }
    *origin = BlockOrigin::kCacheMiss;
  } else if (!Test(verified_, i)) {
    *origin = BlockOrigin::kFirstTouch;
  }
  BT_RETURN_IF_ERROR(mapping_ != nullptr ? ReadMapped(i, settings, ahead, block, owner, origin)
                                         : ReadByPosition(i, settings.limits, block, owner));
  if (in_cache && settings.fill_cache && uses_cache && *owner) {
    BudgetAccess::Cache(*budget_).Insert({cache_id_, index_->handle(i).offset}, *owner);
  }
  return absl::OkStatus();
}

absl::Status BlockReader::ReadSlowly(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                     std::string_view* block, Ref<Block>* owner) {
  BlockOrigin origin;
  if (!settings.is_traced) return ReadUntraced(i, settings, ahead, block, owner, &origin);
  const int64_t begin = NowNanos();
  const absl::Status status = ReadUntraced(i, settings, ahead, block, owner, &origin);
  // Null if a traced stream continues before the next row is requested.
  RequestTrace* const trace = CurrentTrace();
  if (trace == nullptr) return status;
  FileTrace* const file = FileIn(trace, source_.number);
  file->block_time += absl::Nanoseconds(NowNanos() - begin);
  file->blocks_in_place += origin == BlockOrigin::kInPlace ? 1 : 0;
  file->blocks_first_touched += origin == BlockOrigin::kFirstTouch ? 1 : 0;
  file->cache_hits += origin == BlockOrigin::kCacheHit ? 1 : 0;
  file->cache_misses += origin == BlockOrigin::kCacheMiss ? 1 : 0;
  if (origin == BlockOrigin::kFirstTouch || origin == BlockOrigin::kCacheMiss)
    file->bytes_read += index_->handle(i).size;
  return status;
}

// --- Of a mapped file ---

// Two threads may do this at once, or one thread while another marks a block. A mark that is lost
// is set again after the next check. A mark that is left from an earlier epoch may be wrong, as
// every mark may.
void BlockReader::FollowEpoch() {
  const uint32_t now = residency_->epoch();
  if (epoch_.load(std::memory_order_relaxed) == now) return;
  trust_.CountMissing();
  for (size_t word = 0; word < words(); ++word) {
    present_[word].store(0, std::memory_order_relaxed);
    in_place_[word].store(0, std::memory_order_relaxed);
  }
  epoch_.store(now, std::memory_order_release);
}

// Two threads may do this at once for the same block; both get the same result.
absl::Status BlockReader::VerifyMapped(size_t i, const ReadSettings& settings) {
  if (Test(verified_, i) && !settings.verify_checksums) return absl::OkStatus();
  const BlockHandle handle = index_->handle(i);
  const char* const bytes = mapping_ + handle.offset;
  if (!BlockTrailerHolds(bytes, handle.size, source_.identity, handle.offset)) {
    return DamagedBlock(i, "has a wrong checksum");
  }
  if (EncodingOf(bytes, handle.size) == BlockEncoding::kRaw) Set(raw_, i);
  Set(verified_, i);
  return absl::OkStatus();
}

absl::Status BlockReader::ReadMapped(size_t i, const ReadSettings& settings, ReadAhead* ahead,
                                     std::string_view* block, Ref<Block>* owner,
                                     BlockOrigin* origin) {
  FollowEpoch();
  bool by_position = false;
  BT_RETURN_IF_ERROR(BringIn(i, ahead, &by_position));
  if (by_position) {
    if (*origin == BlockOrigin::kInPlace) *origin = BlockOrigin::kFirstTouch;
    return ReadByPosition(i, settings.limits, block, owner);
  }
  BT_RETURN_IF_ERROR(VerifyMapped(i, settings));
  const BlockHandle handle = index_->handle(i);
  const std::string_view stored(mapping_ + handle.offset, handle.size);
  if (Test(raw_, i)) {
    Set(in_place_, i);
    *block = stored;
    *owner = {};
    return absl::OkStatus();
  }
  BT_RETURN_IF_ERROR(
      Decode(i, stored, EncodingOf(stored.data(), stored.size()), settings.limits, owner));
  *block = (*owner)->data();
  return absl::OkStatus();
}

absl::Status BlockReader::ReadByPosition(size_t i, const CallLimits* limits,
                                         std::string_view* block, Ref<Block>* owner) {
  const BlockHandle handle = index_->handle(i);
  const size_t size = handle.size + kBlockTrailerSize;
  std::unique_ptr<char[]> heap;
  char* buffer;
  // A block that will be decoded is read into the thread's buffer; another is read into its own
  // memory.
  constexpr size_t kMostForThread = 1 << 20;
  if (source_.compressed && size <= kMostForThread) {
    std::string* const mine = ThreadBuffer();
    if (mine->size() < size) mine->resize(size);
    buffer = mine->data();
  } else {
    heap = TryAllocate(size);
    if (heap == nullptr) return NoMemoryForBlock(i, size);
    buffer = heap.get();
  }
  {
    const WaitTimer wait;
    BT_RETURN_IF_ERROR(FilePool::Read(*source_.file, handle.offset, size, buffer, limits));
  }
  if (!BlockTrailerHolds(buffer, handle.size, source_.identity, handle.offset)) {
    return DamagedBlock(i, "has a wrong checksum");
  }
  const BlockEncoding encoding = EncodingOf(buffer, handle.size);
  if (heap != nullptr && encoding == BlockEncoding::kRaw) {
    *owner = MakeRef<Block>(std::move(heap), handle.size, size);
  } else {
    BT_RETURN_IF_ERROR(Decode(i, {buffer, handle.size}, encoding, limits, owner));
  }
  *block = (*owner)->data();
  return absl::OkStatus();
}

absl::Status BlockReader::DecodedSize(size_t i, std::string_view stored, BlockEncoding encoding,
                                      uint64_t* size) const {
  *size = encoding == BlockEncoding::kRaw ? stored.size() : DecompressedSize(stored);
  if (*size == kUnknownSize) return DamagedBlock(i, "states a decoded size that it cannot have");
  if (*size > source_.largest_block) {
    return DamagedBlock(i, "decodes to more than the largest block of the file");
  }
  return absl::OkStatus();
}

absl::Status BlockReader::DecodeTo(size_t i, std::string_view stored, BlockEncoding encoding,
                                   const CallLimits* limits, char* to, size_t size) {
  if (encoding == BlockEncoding::kRaw) {
    std::memcpy(to, stored.data(), size);
    return absl::OkStatus();
  }
  const DecodingDictionary* dictionary = nullptr;
  if (encoding == BlockEncoding::kZstdDictionary) {
    BT_RETURN_IF_ERROR(FindDictionary(limits, &dictionary));
  }
  if (!Decompress(stored, dictionary, to, size)) return DamagedBlock(i, "does not decompress");
  return absl::OkStatus();
}

absl::Status BlockReader::Decode(size_t i, std::string_view stored, BlockEncoding encoding,
                                 const CallLimits* limits, Ref<Block>* owner) {
  uint64_t size;
  BT_RETURN_IF_ERROR(DecodedSize(i, stored, encoding, &size));
  auto buffer = TryAllocate(size);
  if (buffer == nullptr) return NoMemoryForBlock(i, size);
  BT_RETURN_IF_ERROR(DecodeTo(i, stored, encoding, limits, buffer.get(), size));
  *owner = MakeRef<Block>(std::move(buffer), size, size);
  return absl::OkStatus();
}

absl::Status BlockReader::FindDictionary(const CallLimits* limits,
                                         const DecodingDictionary** dictionary) {
  *dictionary = shared_dictionary_.load(std::memory_order_acquire);
  if (*dictionary != nullptr) return absl::OkStatus();
  const LimitedMutexLock lock(&mutex_, limits, "the read");
  BT_RETURN_IF_ERROR(lock.status());
  if (dictionary_ == nullptr) {
    BT_RETURN_IF_ERROR(ReadDictionary(limits, &dictionary_));
    BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes,
                         static_cast<int64_t>(dictionary_->memory()));
    shared_dictionary_.store(dictionary_.get(), std::memory_order_release);
  }
  *dictionary = dictionary_.get();
  return absl::OkStatus();
}

absl::Status BlockReader::ReadDictionary(const CallLimits* limits,
                                         std::unique_ptr<DecodingDictionary>* dictionary) const {
  const BlockHandle& handle = source_.dictionary;
  const auto damaged = [&](std::string_view what) {
    return absl::DataLossError(
        Cat(source_.path, ": the dictionary at offset ", handle.offset, " ", what));
  };
  if (handle.size == 0) return damaged("is missing");
  // Not the thread's buffer: a compressed block may be in it.
  const auto stored = TryAllocate(handle.size + kBlockTrailerSize);
  if (stored == nullptr) return NoMemoryFor(source_.path, "its dictionary", handle.size);
  BT_RETURN_IF_ERROR(FilePool::Read(*source_.file, handle.offset, handle.size + kBlockTrailerSize,
                                    stored.get(), limits));
  if (!BlockTrailerHolds(stored.get(), handle.size, source_.identity, handle.offset)) {
    return damaged("has a wrong checksum");
  }
  const std::string_view bytes(stored.get(), handle.size);
  const bool is_raw = EncodingOf(stored.get(), handle.size) == BlockEncoding::kRaw;
  const uint64_t size = is_raw ? handle.size : DecompressedSize(bytes);
  if (size != source_.dictionary_size) return damaged("does not have the size in the properties");
  auto content = TryAllocate(size);
  if (content == nullptr) return NoMemoryFor(source_.path, "its dictionary", size);
  if (is_raw) {
    std::memcpy(content.get(), bytes.data(), size);
  } else if (!Decompress(bytes, nullptr, content.get(), size)) {
    return damaged("does not decompress");
  }
  *dictionary = std::make_unique<DecodingDictionary>(std::move(content), size);
  return absl::OkStatus();
}

absl::Status BlockReader::Load(const CallLimits* limits, const Loaded** loaded) {
  *loaded = shared_loaded_.load(std::memory_order_acquire);
  if (*loaded != nullptr) [[likely]]
    return absl::OkStatus();
  // Other threads that need the blocks wait meanwhile. LoadBlocks takes mutex_ for the dictionary,
  // so loading has a lock of its own.
  const WaitTimer wait;
  const LimitedMutexLock lock(&load_mutex_, limits, "the read");
  BT_RETURN_IF_ERROR(lock.status());
  if (loaded_ == nullptr) {
    auto fresh = std::make_unique<Loaded>();
    BT_RETURN_IF_ERROR(LoadBlocks(limits, fresh.get()));
    BudgetAccess::Charge(*budget_, MemoryBudget::Use::kInMemoryGroups,
                         static_cast<int64_t>(fresh->charge));
    BudgetAccess::Cache(*budget_).Shrink();
    loaded_ = std::move(fresh);
    shared_loaded_.store(loaded_.get(), std::memory_order_release);
  }
  *loaded = loaded_.get();
  return absl::OkStatus();
}

// Reads the file twice: the decoded size of a compressed block is known only from the block.
absl::Status BlockReader::LoadBlocks(const CallLimits* limits, Loaded* loaded) {
  const size_t count = index_->size();
  std::string stored;
  const auto read = [&](size_t i, std::string_view* block, BlockEncoding* encoding) {
    const BlockHandle handle = index_->handle(i);
    if (!TryResize(&stored, handle.size + kBlockTrailerSize)) {
      return NoMemoryForBlock(i, handle.size);
    }
    BT_RETURN_IF_ERROR(
        FilePool::Read(*source_.file, handle.offset, stored.size(), stored.data(), limits));
    if (!BlockTrailerHolds(stored.data(), handle.size, source_.identity, handle.offset)) {
      return DamagedBlock(i, "has a wrong checksum");
    }
    *block = std::string_view(stored).substr(0, handle.size);
    *encoding = EncodingOf(stored.data(), handle.size);
    return absl::OkStatus();
  };
  std::string_view block;
  BlockEncoding encoding;
  uint64_t end = 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t size = index_->handle(i).size;
    if (source_.compressed) {
      BT_RETURN_IF_ERROR(read(i, &block, &encoding));
      BT_RETURN_IF_ERROR(DecodedSize(i, block, encoding, &size));
    }
    loaded->offsets.Add(end);
    end += size;
  }
  loaded->offsets.Add(end);
  loaded->offsets.ShrinkToFit();
  size_t allocated;
  loaded->bytes = AllocateBlocks(end, &allocated);
  if (loaded->bytes == nullptr && end > 0) {
    return NoMemoryFor(source_.path, "this in-memory table", end);
  }
  for (size_t i = 0; i < count; ++i) {
    BT_RETURN_IF_ERROR(read(i, &block, &encoding));
    uint64_t size;
    BT_RETURN_IF_ERROR(DecodedSize(i, block, encoding, &size));
    const uint64_t begin = loaded->offsets[i];
    if (size != loaded->offsets[i + 1] - begin) {
      return DamagedBlock(i, "has an unexpected decoded size");
    }
    BT_RETURN_IF_ERROR(DecodeTo(i, block, encoding, limits, loaded->bytes.get() + begin, size));
  }
  loaded->charge = allocated + loaded->offsets.memory() + sizeof(Loaded);
  return absl::OkStatus();
}

}  // namespace bigtable
