#include "blocks/loaded_blocks.h"

#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <utility>

#include "base/status.h"
#include "base/try_allocate.h"
#include "cache/block_cache.h"
#include "cache/budget_access.h"
#include "monitoring/thread_calls.h"

namespace bigtable {
namespace {

// Memory for the blocks. It uses huge pages where the system has them and the blocks fill them, so
// that a random read does not also wait for the page table. The rest is in small pages.
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

// Reads a stored block into `stored`, whose memory serves one block after another.
absl::Status ReadStored(const BlockFile& file, const BlockHandle& block, const CallLimits* limits,
                        std::string* stored) {
  if (!TryResize(stored, StoredSize(block))) return file.NoMemoryFor(block, StoredSize(block));
  return file.ReadStored(block, limits, stored->data());
}

}  // namespace

absl::Status LoadedBlocks::Read(size_t i, const ReadSettings& settings, std::string_view* block,
                                Ref<Block>* owner, BlockOrigin* origin) {
  *owner = {};
  *origin = BlockOrigin::kInPlace;
  if (ReadLoaded(i, block)) return absl::OkStatus();
  *origin = BlockOrigin::kFirstTouch;
  BT_RETURN_IF_ERROR(EnsureLoaded(settings.limits));
  ReadLoaded(i, block);
  return absl::OkStatus();
}

absl::Status LoadedBlocks::EnsureLoaded(const CallLimits* limits) {
  const WaitTimer wait;
  const LimitedMutexLock lock(&mutex_, limits, "the read");
  BT_RETURN_IF_ERROR(lock.status());
  if (blocks_ != nullptr) return absl::OkStatus();
  auto blocks = std::make_unique<Blocks>();
  BT_RETURN_IF_ERROR(Load(limits, blocks.get()));
  charge_.Set(blocks->memory);
  BudgetAccess::Cache(*budget_).Shrink();
  blocks_ = std::move(blocks);
  shared_.store(blocks_.get(), std::memory_order_release);
  return absl::OkStatus();
}

// The decoded size of a compressed block is known only from the block, so a file with such blocks
// is read twice.
absl::Status LoadedBlocks::LayOut(const CallLimits* limits, BlockOffsets* offsets,
                                  uint64_t* size) const {
  std::string stored;
  *size = 0;
  for (size_t i = 0; i < index_.size(); ++i) {
    const BlockHandle block = index_.handle(i);
    uint64_t of_block = block.size;
    if (file_->is_compressed()) {
      BT_RETURN_IF_ERROR(ReadStored(*file_, block, limits, &stored));
      BT_RETURN_IF_ERROR(file_->DecodedSize(block, stored.data(), &of_block));
    }
    offsets->Add(*size);
    *size += of_block;
  }
  offsets->Add(*size);
  offsets->ShrinkToFit();
  return absl::OkStatus();
}

absl::Status LoadedBlocks::Load(const CallLimits* limits, Blocks* blocks) const {
  uint64_t end;
  BT_RETURN_IF_ERROR(LayOut(limits, &blocks->offsets, &end));
  size_t allocated;
  blocks->bytes = AllocateBlocks(end, &allocated);
  if (blocks->bytes == nullptr && end > 0) {
    return NoMemoryFor(file_->path(), "this in-memory table", end);
  }
  std::string stored;
  for (size_t i = 0; i < index_.size(); ++i) {
    const BlockHandle block = index_.handle(i);
    BT_RETURN_IF_ERROR(ReadStored(*file_, block, limits, &stored));
    uint64_t size;
    BT_RETURN_IF_ERROR(file_->DecodedSize(block, stored.data(), &size));
    const uint64_t begin = blocks->offsets[i];
    if (size != blocks->offsets[i + 1] - begin) {
      return file_->Damaged(block, "has an unexpected decoded size");
    }
    BT_RETURN_IF_ERROR(
        file_->DecodeTo(block, stored.data(), limits, blocks->bytes.get() + begin, size));
  }
  blocks->memory = allocated + blocks->offsets.memory() + sizeof(Blocks);
  return absl::OkStatus();
}

}  // namespace bigtable
