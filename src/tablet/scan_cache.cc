#include "tablet/scan_cache.h"

#include <cstring>
#include <utility>

#include "cache/block_cache.h"
#include "cache/budget_access.h"

namespace bigtable {
namespace {

// A larger row costs so much to read that what finding it costs does not count.
constexpr size_t kMostBytes = 256 << 10;

// In memory only, one process's: without a version, a byte order or a checksum.
//
//   | Head | row | CellHead | qualifier | value | CellHead | ...
struct Head {
  SequenceNumber as_of;
  size_t row_size;
};
struct CellHead {
  int64_t timestamp;
  uint32_t family;  // its place in the layout
  uint32_t qualifier_size;
  size_t value_size;
};

char* Put(char* to, const void* bytes, size_t size) {
  if (size > 0) std::memcpy(to, bytes, size);
  return to + size;
}

std::string_view Take(const char** from, size_t size) {
  const std::string_view text(*from, size);
  *from += size;
  return text;
}

}  // namespace

CachedRow::CachedRow(std::string_view bytes)
    : next_(bytes.data()), end_(bytes.data() + bytes.size()) {
  Head head;
  std::memcpy(&head, Take(&next_, sizeof head).data(), sizeof head);
  as_of_ = head.as_of;
  row_ = Take(&next_, head.row_size);
}

bool CachedRow::Next(const TableLayout& layout, Cell* cell) {
  if (next_ == end_) return false;
  CellHead head;
  std::memcpy(&head, Take(&next_, sizeof head).data(), sizeof head);
  cell->family = layout.families[head.family].name;
  cell->timestamp = Timestamp(head.timestamp);
  cell->qualifier = Take(&next_, head.qualifier_size);
  cell->value = Take(&next_, head.value_size);
  return true;
}

Ref<Block> MakeCachedRow(const TableLayout& layout, SequenceNumber as_of, std::string_view row,
                         absl::Span<const Cell> cells) {
  size_t size = sizeof(Head) + row.size();
  for (const Cell& cell : cells) {
    size += sizeof(CellHead) + cell.qualifier.size() + cell.value.size();
    if (size > kMostBytes) return {};
  }
  auto buffer = std::make_unique_for_overwrite<char[]>(size);
  const Head head{as_of, row.size()};
  char* to = Put(buffer.get(), &head, sizeof head);
  to = Put(to, row.data(), row.size());
  for (const Cell& cell : cells) {
    const FamilyLayout* const family = layout.FindFamily(cell.family);
    const CellHead cell_head{cell.timestamp.micros(),
                             static_cast<uint32_t>(family - layout.families.data()),
                             static_cast<uint32_t>(cell.qualifier.size()), cell.value.size()};
    to = Put(to, &cell_head, sizeof cell_head);
    to = Put(to, cell.qualifier.data(), cell.qualifier.size());
    to = Put(to, cell.value.data(), cell.value.size());
  }
  return MakeRef<Block>(std::move(buffer), size, size);
}

LastWrites::LastWrites(std::shared_ptr<MemoryBudget> budget, size_t groups)
    : budget_(std::move(budget)), groups_(groups) {
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, bytes());
}

LastWrites::~LastWrites() { BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, -bytes()); }

uint64_t ScanCache::NewId() { return BudgetAccess::Cache(*budget_).NewFileId(); }

Ref<Block> ScanCache::Lookup(uint64_t id, std::string_view row, Moment moment,
                             const LastWrites& writes) {
  const uint64_t hash = Checksum(row);
  Counts& counts = counts_[static_cast<size_t>(ThreadStripe())];
  Ref<Block> block = BudgetAccess::Cache(*budget_).Lookup({id, hash});
  if (block) {
    const CachedRow cached(block->data());
    // Nothing came after it that this moment could see.
    if (cached.row() == row && writes.Of(hash) <= cached.as_of() &&
        (!moment.is_snapshot || cached.as_of() <= moment.sequence)) {
      counts.hits.fetch_add(1, std::memory_order_relaxed);
      return block;
    }
  }
  counts.misses.fetch_add(1, std::memory_order_relaxed);
  return {};
}

void ScanCache::Insert(uint64_t id, std::string_view row, Ref<Block> cached) {
  if (cached) BudgetAccess::Cache(*budget_).Replace({id, Checksum(row)}, std::move(cached));
}

uint64_t ScanCache::Sum(std::atomic<uint64_t> Counts::*counter) const {
  uint64_t sum = 0;
  for (const Counts& counts : counts_) sum += (counts.*counter).load(std::memory_order_relaxed);
  return sum;
}

}  // namespace bigtable
