#include "read/cached_row.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/base/macros.h"

#include "cache/scan_cache.h"

namespace bigtable {
namespace {

// The lookup of a larger row saves little compared to the cost of its read.
constexpr size_t kMostCachedBytes = 256 << 10;

char* Put(char* to, const void* bytes, size_t size) {
  if (size > 0) std::memcpy(to, bytes, size);
  return to + size;
}

}  // namespace

Ref<Block> MakeCachedRow(BlockMemory* memory, const TableLayout& layout, SequenceNumber as_of,
                         std::string_view row, absl::Span<const Cell> cells) {
  const CachedRowHead head{as_of, row};
  size_t size = head.size();
  for (const Cell& cell : cells) {
    size += sizeof(CachedRow::CellHead) + cell.qualifier.size() + cell.value.size();
    if (size > kMostCachedBytes) return {};
  }
  char* bytes = nullptr;
  Ref<Block> cached = Block::New(memory, size, &bytes);
  if (!cached) return {};
  char* to = head.Write(bytes);
  for (const Cell& cell : cells) {
    const FamilyLayout* const family = layout.FindFamily(cell.family);
    ABSL_ASSERT(family != nullptr && "the cells were read with this layout");
    const CachedRow::CellHead cell_head{
        cell.timestamp.micros(), static_cast<uint32_t>(family - layout.families.data()),
        static_cast<uint32_t>(cell.qualifier.size()), cell.value.size()};
    to = Put(to, &cell_head, sizeof cell_head);
    to = Put(to, cell.qualifier.data(), cell.qualifier.size());
    to = Put(to, cell.value.data(), cell.value.size());
  }
  ABSL_ASSERT(to == bytes + size && "the cells have the size that was counted");
  return cached;
}

CachedRow::CachedRow(const Block* cached, const TableLayout* layout)
    : cached_(cached), layout_(layout) {
  const std::string_view bytes = cached->data();
  const CachedRowHead head = CachedRowHead::Read(bytes);
  row_ = head.row;
  next_ = bytes.data() + head.size();
  end_ = bytes.data() + bytes.size();
}

}  // namespace bigtable
