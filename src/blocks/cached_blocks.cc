#include "blocks/cached_blocks.h"

#include "base/shortcuts.h"
#include "base/status.h"
#include "cache/budget_access.h"

namespace bigtable {

CachedBlocks::CachedBlocks(BlockFile* file, MemoryBudget* budget)
    : file_(file), cache_(BudgetAccess::Cache(*budget)), id_(cache_.NewFileId()) {}

CachedBlocks::~CachedBlocks() { cache_.EraseFile(id_); }

Ref<Block> CachedBlocks::Find(size_t i) const {
  return Shortcuts().Has(Shortcut::kBlockCache) ? cache_.Lookup(KeyOf(i)) : Ref<Block>();
}

void CachedBlocks::Add(size_t i, const ReadSettings& settings, const Ref<Block>& block) {
  if (settings.fill_cache && Shortcuts().Has(Shortcut::kBlockCache)) {
    cache_.Insert(KeyOf(i), block);
  }
}

absl::Status CachedBlocks::Read(size_t i, const ReadSettings& settings, std::string_view* block,
                                Ref<Block>* owner, BlockOrigin* origin) {
  *origin = BlockOrigin::kCacheHit;
  *owner = Find(i);
  if (!*owner) {
    *origin = BlockOrigin::kCacheMiss;
    BT_RETURN_IF_ERROR(file_->Read(i, settings.limits, owner));
    Add(i, settings, *owner);
  }
  *block = (*owner)->data();
  return absl::OkStatus();
}

}  // namespace bigtable
