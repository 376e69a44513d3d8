#include "blocks/cold_rows.h"

#include <cstddef>
#include <utility>

#include "base/checksum.h"
#include "base/compare.h"
#include "base/shortcuts.h"
#include "blocks/block_builder.h"
#include "blocks/block_cursor.h"
#include "cache/budget_access.h"

namespace bigtable {
namespace {

bool IsOfRow(const Block& slice, std::string_view row_prefix) {
  BlockCursor cursor;
  if (!cursor.Open(slice.data())) return false;
  cursor.SeekToFirst();
  return cursor.valid() && BeginsWith(cursor.key(), row_prefix);
}

}  // namespace

Ref<Block> SliceOfRow(std::string_view block, std::string_view row_prefix, BlockMemory* memory) {
  BlockCursor cursor;
  if (!cursor.Open(block)) return {};
  BlockBuilder builder;
  size_t shared;
  for (cursor.Seek(row_prefix); cursor.valid() && BeginsWith(cursor.key(), row_prefix);
       cursor.Next()) {
    if (!builder.Add(cursor.key(), cursor.value(), &shared)) return {};
  }
  if (cursor.damaged() || builder.empty()) return {};
  char* bytes = nullptr;
  Ref<Block> slice = Block::New(memory, builder.size(), &bytes);
  if (slice) builder.FinishTo(bytes);
  return slice;
}

ColdRows::ColdRows(MemoryBudget* budget)
    : cache_(BudgetAccess::Cache(*budget)), id_(cache_.NewFileId()) {}

ColdRows::~ColdRows() {
  if (any_.load(std::memory_order_relaxed)) cache_.EraseFile(id_);
}

BlockCache::Key ColdRows::KeyOf(std::string_view row_prefix) const {
  return {id_, Checksum(row_prefix)};
}

// Where nothing is cold, a read pays no more than this.
bool ColdRows::MayHave() const {
  return any_.load(std::memory_order_relaxed) && Shortcuts().Has(Shortcut::kBlockCache);
}

bool ColdRows::Has(std::string_view row_prefix) const {
  return MayHave() && cache_.Contains(KeyOf(row_prefix));
}

Ref<Block> ColdRows::Find(std::string_view row_prefix) const {
  if (!MayHave()) return {};
  Ref<Block> found = cache_.Lookup(KeyOf(row_prefix));
  return found && IsOfRow(*found, row_prefix) ? found : Ref<Block>();
}

Ref<Block> ColdRows::Add(std::string_view row_prefix, const ReadSettings& settings,
                         std::string_view block) {
  if (!settings.fill_cache || !Shortcuts().Has(Shortcut::kBlockCache)) return {};
  Ref<Block> slice = SliceOfRow(block, row_prefix, &cache_.memory());
  if (slice) {
    any_.store(true, std::memory_order_relaxed);
    cache_.Insert(KeyOf(row_prefix), slice);
  }
  return slice;
}

}  // namespace bigtable
