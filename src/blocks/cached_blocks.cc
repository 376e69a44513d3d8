#include "blocks/cached_blocks.h"

#include "base/shortcuts.h"
#include "base/status.h"
#include "cache/budget_access.h"

namespace bigtable {

CachedBlocks::CachedBlocks(BlockFile* file, MemoryBudget* budget)
    : file_(file), cache_(BudgetAccess::Cache(*budget)), id_(cache_.NewFileId()) {}

CachedBlocks::~CachedBlocks() { cache_.EraseFile(id_); }

bool CachedBlocks::Has(const BlockHandle& block) const {
  return Shortcuts().Has(Shortcut::kBlockCache) && cache_.Contains(KeyOf(block));
}

Ref<Block> CachedBlocks::Find(const BlockHandle& block) const {
  return Shortcuts().Has(Shortcut::kBlockCache) ? cache_.Lookup(KeyOf(block)) : Ref<Block>();
}

void CachedBlocks::Add(const BlockHandle& block, const ReadSettings& settings,
                       const Ref<Block>& owner) {
  if (MemoryFor(settings) != nullptr) cache_.Insert(KeyOf(block), owner);
}

BlockMemory* CachedBlocks::MemoryFor(const ReadSettings& settings) const {
  const bool adds = settings.fill_cache && Shortcuts().Has(Shortcut::kBlockCache);
  return adds ? &cache_.memory() : nullptr;
}

absl::Status CachedBlocks::Read(const BlockHandle& block, const ReadSettings& settings,
                                std::string_view* bytes, Ref<Block>* owner, BlockOrigin* origin) {
  *origin = BlockOrigin::kCacheHit;
  *owner = Find(block);
  if (!*owner) {
    *origin = BlockOrigin::kCacheMiss;
    // A mapped file gets a descriptor. Without one it is read into its mapping, a block at a time,
    // and the system does not read ahead of a scan.
    file_->file().ReadsByPosition();
    BT_RETURN_IF_ERROR(file_->Read(block, settings.limits, MemoryFor(settings), owner));
    Add(block, settings, *owner);
  }
  *bytes = (*owner)->data();
  return absl::OkStatus();
}

}  // namespace bigtable
