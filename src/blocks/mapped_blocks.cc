#include "blocks/mapped_blocks.h"

#include "base/status.h"

namespace bigtable {

MappedBlocks::MappedBlocks(BlockFile* file, CachedBlocks* cache, MemoryBudget* budget,
                           PageResidency* pages)
    : index_(file->index()),
      mapping_(file->file().mapping()),
      pages_(pages),
      in_place_(index_.size()),
      epoch_(pages->epoch()),
      file_(file),
      cache_(cache),
      verified_(index_.size()),
      raw_(index_.size()),
      residency_(file, pages),
      charge_(budget, MemoryBudget::Use::kIndexes) {
  charge_.Set(in_place_.memory() + verified_.memory() + raw_.memory() + residency_.memory());
}

// As BlockResidency does for the blocks that it has seen. A bit that another thread sets meanwhile
// may be lost or stay; both are right, since it is only a hint that the block is in memory.
void MappedBlocks::FollowEpoch() {
  const uint32_t now = pages_->epoch();
  if (epoch_.load(std::memory_order_relaxed) == now) return;
  in_place_.ClearAll();
  epoch_.store(now, std::memory_order_release);
}

absl::Status MappedBlocks::Read(size_t i, const ReadSettings& settings,
                                BlockResidency::ReadAhead* ahead, std::string_view* block,
                                Ref<Block>* owner, BlockOrigin* origin) {
  // Only compressed blocks are cached. Whether a block is one is known once it was verified.
  const bool is_cached = cache_ != nullptr && !raw_.Test(i);
  if (!is_cached) {
    *origin = verified_.Test(i) ? BlockOrigin::kInPlace : BlockOrigin::kFirstTouch;
    return ReadPastCache(i, settings, ahead, block, owner, origin);
  }
  *owner = cache_->Find(i);
  if (*owner) {
    *origin = BlockOrigin::kCacheHit;
    *block = (*owner)->data();
    return absl::OkStatus();
  }
  *origin = BlockOrigin::kCacheMiss;
  BT_RETURN_IF_ERROR(ReadPastCache(i, settings, ahead, block, owner, origin));
  if (*owner) cache_->Add(i, settings, *owner);
  return absl::OkStatus();
}

size_t MappedBlocks::Request(size_t i, uint64_t bytes) {
  if (cache_ != nullptr && bytes == 0 && !raw_.Test(i) && cache_->Has(i)) return 0;
  FollowEpoch();
  return residency_.Request(i, bytes, verified_.Test(i));
}

absl::Status MappedBlocks::ReadPastCache(size_t i, const ReadSettings& settings,
                                         BlockResidency::ReadAhead* ahead, std::string_view* block,
                                         Ref<Block>* owner, BlockOrigin* origin) {
  FollowEpoch();
  bool by_position;
  BT_RETURN_IF_ERROR(residency_.BringIn(i, verified_.Test(i), ahead, &by_position));
  if (by_position) {
    if (*origin == BlockOrigin::kInPlace) *origin = BlockOrigin::kFirstTouch;
    BT_RETURN_IF_ERROR(file_->Read(i, settings.limits, owner));
    *block = (*owner)->data();
    return absl::OkStatus();
  }
  BT_RETURN_IF_ERROR(Verify(i, settings.verify_checksums));
  const BlockHandle handle = index_.handle(i);
  const char* const stored = mapping_ + handle.offset;
  if (raw_.Test(i)) {
    in_place_.Set(i);
    *block = {stored, handle.size};
    *owner = {};
    return absl::OkStatus();
  }
  BT_RETURN_IF_ERROR(file_->Decode(i, stored, settings.limits, owner));
  *block = (*owner)->data();
  return absl::OkStatus();
}

absl::Status MappedBlocks::Verify(size_t i, bool again) {
  if (verified_.Test(i) && !again) return absl::OkStatus();
  const char* const stored = mapping_ + index_.handle(i).offset;
  BT_RETURN_IF_ERROR(file_->Verify(i, stored));
  if (file_->IsRaw(i, stored)) raw_.Set(i);
  verified_.Set(i);
  return absl::OkStatus();
}

}  // namespace bigtable
