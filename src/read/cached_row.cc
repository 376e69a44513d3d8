#include "read/cached_row.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/base/macros.h"

#include "base/call_limits.h"
#include "cache/scan_cache.h"
#include "read/filter_program.h"

namespace bigtable {
namespace {

// The lookup of a larger row saves little compared to the cost of its read.
constexpr size_t kMostCachedBytes = 256 << 10;

struct CellHead {
  int64_t timestamp;
  uint32_t family;  // index in the layout
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

// The cells of a cached row, in order.
class CachedRow {
 public:
  // Requires bytes that MakeCachedRow returned.
  explicit CachedRow(std::string_view bytes) : end_(bytes.data() + bytes.size()) {
    const CachedRowHead head = CachedRowHead::Read(bytes);
    row_ = head.row;
    next_ = bytes.data() + head.size();
  }

  std::string_view row() const { return row_; }

  // False at the end.
  bool Next(const TableLayout& layout, Cell* cell) {
    if (next_ == end_) return false;
    CellHead head;
    std::memcpy(&head, Take(&next_, sizeof head).data(), sizeof head);
    ABSL_ASSERT(head.family < layout.families.size() &&
                "it is read with the layout it was made with");
    cell->family = layout.families[head.family].name;
    cell->timestamp = Timestamp(head.timestamp);
    cell->qualifier = Take(&next_, head.qualifier_size);
    cell->value = Take(&next_, head.value_size);
    ABSL_ASSERT(next_ <= end_ && "the bytes were written by this process");
    return true;
  }

 private:
  std::string_view row_;
  const char* next_;
  const char* end_;
};

}  // namespace

Ref<Block> MakeCachedRow(const TableLayout& layout, SequenceNumber as_of, std::string_view row,
                         absl::Span<const Cell> cells) {
  const CachedRowHead head{as_of, row};
  size_t size = head.size();
  for (const Cell& cell : cells) {
    size += sizeof(CellHead) + cell.qualifier.size() + cell.value.size();
    if (size > kMostCachedBytes) return {};
  }
  auto buffer = std::make_unique_for_overwrite<char[]>(size);
  char* to = head.Write(buffer.get());
  for (const Cell& cell : cells) {
    const FamilyLayout* const family = layout.FindFamily(cell.family);
    ABSL_ASSERT(family != nullptr && "the cells were read with this layout");
    const CellHead cell_head{cell.timestamp.micros(),
                             static_cast<uint32_t>(family - layout.families.data()),
                             static_cast<uint32_t>(cell.qualifier.size()), cell.value.size()};
    to = Put(to, &cell_head, sizeof cell_head);
    to = Put(to, cell.qualifier.data(), cell.qualifier.size());
    to = Put(to, cell.value.data(), cell.value.size());
  }
  ABSL_ASSERT(to == buffer.get() + size && "the cells have the size that was counted");
  return MakeRef<Block>(std::move(buffer), size, size);
}

absl::Status ReadCachedRow(const Block& cached, const TableLayout& layout, const FilterNode* filter,
                           const CallLimits& limits, absl::FunctionRef<void(const Cell&)> add) {
  using Verdict = FilterProgram::Verdict;
  CachedRow row(cached.data());
  FilterProgram program(filter);
  const bool everything = program.passes_everything();
  absl::Status failure;
  CallPace pace(&limits, &failure);
  if (!everything) {
    program.SetPace(&pace);
    program.StartRow(row.row());
  }
  Cell cell;
  Cell last;
  bool has_column = false;
  bool column_passes = false;
  while (row.Next(layout, &cell)) {
    if (!pace.Count(cell.value.size())) break;
    if (!everything) {
      if (!has_column || cell.family != last.family || cell.qualifier != last.qualifier) {
        column_passes = program.StartColumn(cell.family, cell.qualifier) == Verdict::kPass;
        has_column = true;
        last = cell;
      }
      if (!column_passes) continue;
      const Verdict verdict = program.Judge(cell.timestamp.micros(), &cell.value);
      if (verdict == Verdict::kNextRow) break;
      if (verdict > Verdict::kNextCell || program.done_with_column()) column_passes = false;
      if (verdict != Verdict::kPass) continue;
    }
    add(cell);
  }
  return failure;
}

}  // namespace bigtable
