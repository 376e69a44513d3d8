// The identity of a tablet: its table and its end row (exclusive). Tablets of a table do not
// overlap, so this names one of them. Its begin row is part of its state (tablet_state.h). Its row
// in METADATA follows from its identity (metadata/metadata_format.h).
#ifndef BIGTABLE_TABLET_TABLET_ID_H_
#define BIGTABLE_TABLET_TABLET_ID_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bigtable {

// Plain value. Ordered by table, then by key range.
struct TabletId {
  uint64_t table_id = 0;
  std::optional<std::string> end_row = std::nullopt;  // none: the last tablet of the table

  // Whether all rows of the tablet are before `row`.
  bool EndsBefore(std::string_view row) const { return end_row.has_value() && *end_row <= row; }

  friend bool operator==(const TabletId&, const TabletId&) = default;
  friend std::strong_ordering operator<=>(const TabletId& a, const TabletId& b) {
    if (a.table_id != b.table_id) return a.table_id <=> b.table_id;
    if (a.end_row.has_value() != b.end_row.has_value()) {
      return a.end_row.has_value() ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    return a.end_row.has_value() ? *a.end_row <=> *b.end_row : std::strong_ordering::equal;
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_ID_H_
