#include "blocks/cached_blocks.h"

#include "base/shortcuts.h"
#include "base/status.h"
#include "cache/budget_access.h"

namespace bigtable {

CachedBlocks::CachedBlocks(BlockFile* file, MemoryBudget* budget)
    : file_(file), cache_(BudgetAccess::Cache(*budget)), id_(cache_.NewFileId()) {}

CachedBlocks::~CachedBlocks() { cache_.EraseFile(id_); }

bool CachedBlocks::Has(size_t i) const {
  return Shortcuts().Has(Shortcut::kBlockCache) && cache_.Contains(KeyOf(i));
}

Ref<Block> CachedBlocks::Find(size_t i) const {
  return Shortcuts().Has(Shortcut::kBlockCache) ? cache_.Lookup(KeyOf(i)) : Ref<Block>();
}

void CachedBlocks::Add(size_t i, const ReadSettings& settings, const Ref<Block>& block) {
  if (settings.fill_cache && Shortcuts().Has(Shortcut::kBlockCache)) {
    cache_.Insert(KeyOf(i), block);
  }
}

void CachedBlocks::Request(size_t i, uint64_t bytes) const {
  const BlockIndex& index = file_->index();
  size_t end = index.EndOfStretch(i, bytes);
  while (i < end && Has(i)) ++i;
  while (i < end && Has(end - 1)) --end;
  if (i == end) return;
  const uint64_t begin = index.handle(i).offset;
  const uint64_t length = index.handle(end - 1).offset + file_->StoredSize(end - 1) - begin;
  file_->file().WillNeed(begin, static_cast<size_t>(length));
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
