#include "blocks/mapped_blocks.h"

#include <memory>
#include <utility>

#include "base/status.h"

namespace bigtable {

MappedBlocks::MappedBlocks(BlockFile* file, const BlockIndex* index, CachedBlocks* cache,
                           MemoryBudget* budget, PageResidency* pages)
    : index_(*index),
      mapping_(file->file().mapping()),
      pages_(pages),
      in_place_(index_.size()),
      epoch_(pages->epoch()),
      file_(file),
      cache_(cache),
      budget_(budget),
      verified_(index_.size()),
      raw_(index_.size()),
      residency_(file, index, pages),
      cold_rows_(budget),
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
                                BlockResidency::ReadAhead* ahead, RowInBlock* row,
                                std::string_view* block, Ref<Block>* owner, BlockOrigin* origin) {
  if (row != nullptr) {
    *owner = cold_rows_.Find(row->prefix);
    row->is_slice = static_cast<bool>(*owner);
    if (row->is_slice) {
      *origin = BlockOrigin::kCacheHit;
      *block = (*owner)->data();
      return absl::OkStatus();
    }
  }
  if (ahead != nullptr && ahead->blocks.Has(i)) {
    *origin = cache_ == nullptr ? BlockOrigin::kFirstTouch : BlockOrigin::kCacheMiss;
    return ReadFromWindow(i, ahead->blocks, settings.limits, block, owner);
  }
  // Only compressed blocks are cached. Whether a block is one is known once it was verified.
  const bool is_cached = cache_ != nullptr && !raw_.Test(i);
  if (!is_cached) {
    *origin = verified_.Test(i) ? BlockOrigin::kInPlace : BlockOrigin::kFirstTouch;
    return ReadPastCache(i, settings, ahead, row, block, owner, origin);
  }
  *owner = cache_->Find(index_.handle(i));
  if (*owner) {
    *origin = BlockOrigin::kCacheHit;
    *block = (*owner)->data();
    return absl::OkStatus();
  }
  *origin = BlockOrigin::kCacheMiss;
  BT_RETURN_IF_ERROR(ReadPastCache(i, settings, ahead, row, block, owner, origin));
  // What was read past the mapping has memory of another size.
  const bool is_part =
      (row != nullptr && row->is_slice) || (ahead != nullptr && ahead->blocks.Has(i));
  if (*owner && !is_part) cache_->Add(index_.handle(i), settings, *owner);
  return absl::OkStatus();
}

size_t MappedBlocks::Request(size_t i, uint64_t bytes, std::string_view row_prefix,
                             OverlappedReads* overlapped) {
  if (!row_prefix.empty() && cold_rows_.Has(row_prefix)) return 0;
  if (cache_ != nullptr && bytes == 0 && !raw_.Test(i) && cache_->Has(index_.handle(i))) return 0;
  FollowEpoch();
  return residency_.Request(i, bytes, verified_.Test(i), overlapped);
}

absl::Status MappedBlocks::ReadPastCache(size_t i, const ReadSettings& settings,
                                         BlockResidency::ReadAhead* ahead, RowInBlock* row,
                                         std::string_view* block, Ref<Block>* owner,
                                         BlockOrigin* origin) {
  FollowEpoch();
  if (settings.overlapped != nullptr && settings.overlapped->Has(*file_, index_.handle(i))) {
    if (*origin == BlockOrigin::kInPlace) *origin = BlockOrigin::kFirstTouch;
    const char* const stored = settings.overlapped->Take(*file_, index_.handle(i));
    return stored != nullptr
               ? ReadTaken(i, settings, stored, row, block, owner)
               : ReadAside(i, settings, BlockResidency::Way::kUncached, row, block, owner);
  }
  BlockResidency::Way way;
  BT_RETURN_IF_ERROR(residency_.BringIn(i, verified_.Test(i), row != nullptr, ahead, &way));
  if (way == BlockResidency::Way::kWindow) {
    if (ReadWindow(i, ahead)) {
      if (*origin == BlockOrigin::kInPlace) *origin = BlockOrigin::kFirstTouch;
      return ReadFromWindow(i, ahead->blocks, settings.limits, block, owner);
    }
    BT_RETURN_IF_ERROR(residency_.BringIn(i, verified_.Test(i), false, nullptr, &way));
  }
  if (way != BlockResidency::Way::kMapping) {
    if (*origin == BlockOrigin::kInPlace) *origin = BlockOrigin::kFirstTouch;
    return ReadAside(i, settings, way, row, block, owner);
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
  BlockMemory* const memory = cache_ != nullptr ? cache_->MemoryFor(settings) : nullptr;
  BT_RETURN_IF_ERROR(file_->Decode(handle, stored, settings.limits, memory, owner));
  *block = (*owner)->data();
  return absl::OkStatus();
}

// Many streams that wait for their readers hold no more than a part of the budget.
bool MappedBlocks::ReadWindow(size_t i, BlockResidency::ReadAhead* ahead) const {
  constexpr uint64_t kPartForWindows = 8;
  ahead->blocks = {};
  if (budget_->used(MemoryBudget::Use::kReads) > budget_->limit() / kPartForWindows) return false;
  const size_t end = ahead->window_end;
  if (!file_->ReadWindow(index_.handle(i), index_.handle(end - 1), &ahead->blocks).ok())
    return false;
  ahead->blocks.first = i;
  ahead->blocks.end = end;
  ahead->blocks.charge = std::make_unique<BudgetCharge>(budget_, MemoryBudget::Use::kReads);
  ahead->blocks.charge->Set(ahead->blocks.memory->charge());
  return true;
}

absl::Status MappedBlocks::ReadFromWindow(size_t i, const BlockWindow& window,
                                          const CallLimits* limits, std::string_view* block,
                                          Ref<Block>* owner) {
  const BlockHandle handle = index_.handle(i);
  const char* const stored = window.At(handle.offset);
  BT_RETURN_IF_ERROR(file_->Verify(handle, stored));
  if (BlockFile::IsRaw(handle, stored)) {
    *owner = window.memory;
    *block = {stored, handle.size};
    return absl::OkStatus();
  }
  BT_RETURN_IF_ERROR(file_->Decode(handle, stored, limits, nullptr, owner));
  *block = (*owner)->data();
  return absl::OkStatus();
}

BlockMemory* MappedBlocks::MemoryFor(const ReadSettings& settings, const RowInBlock* row) const {
  return cache_ != nullptr && row == nullptr ? cache_->MemoryFor(settings) : nullptr;
}

absl::Status MappedBlocks::ReadAside(size_t i, const ReadSettings& settings,
                                     BlockResidency::Way way, RowInBlock* row,
                                     std::string_view* block, Ref<Block>* owner) {
  if (way == BlockResidency::Way::kUncached) {
    BT_RETURN_IF_ERROR(file_->ReadUncached(index_.handle(i), settings.limits, block, owner));
  } else {
    BT_RETURN_IF_ERROR(
        file_->Read(index_.handle(i), settings.limits, MemoryFor(settings, row), owner));
    *block = (*owner)->data();
  }
  return KeepAside(i, settings, row, block, owner);
}

absl::Status MappedBlocks::ReadTaken(size_t i, const ReadSettings& settings, const char* stored,
                                     RowInBlock* row, std::string_view* block, Ref<Block>* owner) {
  const BlockHandle handle = index_.handle(i);
  BT_RETURN_IF_ERROR(file_->Verify(handle, stored));
  *owner = {};
  *block = {stored, handle.size};
  if (!BlockFile::IsRaw(handle, stored)) {
    BT_RETURN_IF_ERROR(
        file_->Decode(handle, stored, settings.limits, MemoryFor(settings, row), owner));
    *block = (*owner)->data();
  }
  return KeepAside(i, settings, row, block, owner);
}

absl::Status MappedBlocks::KeepAside(size_t i, const ReadSettings& settings, RowInBlock* row,
                                     std::string_view* block, Ref<Block>* owner) {
  if (row != nullptr) {
    if (Ref<Block> slice = cold_rows_.Add(row->prefix, settings, *block)) {
      *owner = std::move(slice);
      row->is_slice = true;
      *block = (*owner)->data();
      return absl::OkStatus();
    }
  }
  // Without a slice the block is cached, if it was compressed.
  BlockMemory* const memory = cache_ != nullptr ? cache_->MemoryFor(settings) : nullptr;
  if (!*owner || (row != nullptr && memory != nullptr)) {
    BT_RETURN_IF_ERROR(file_->Copy(index_.handle(i), *block, memory, owner));
  }
  *block = (*owner)->data();
  return absl::OkStatus();
}

absl::Status MappedBlocks::Verify(size_t i, bool again) {
  if (verified_.Test(i) && !again) return absl::OkStatus();
  const BlockHandle handle = index_.handle(i);
  const char* const stored = mapping_ + handle.offset;
  BT_RETURN_IF_ERROR(file_->Verify(handle, stored));
  if (BlockFile::IsRaw(handle, stored)) raw_.Set(i);
  verified_.Set(i);
  return absl::OkStatus();
}

}  // namespace bigtable
