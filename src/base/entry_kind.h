// The kinds of entries, and a table of their properties. Code that depends only on a property uses
// the table. So a new kind is a new line here, and such code need not change.
#ifndef BIGTABLE_BASE_ENTRY_KIND_H_
#define BIGTABLE_BASE_ENTRY_KIND_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/base/macros.h"

namespace bigtable {

// The kind of an entry. On disk: never renumber.
enum class EntryKind : uint8_t {
  kCell = 1,          // a value
  kDeleteCell = 2,    // hides older entries with exactly this timestamp
  kGhost = 3,         // kDeleteCell of a cell that existed: MaxVersions counts it
  kShadow = 4,        // a hidden cell without its value: MaxVersions counts it
  kDeleteColumn = 5,  // hides every older entry of the column
  kDeleteFamily = 6,
  kDeleteRow = 7,
  // Contributions to a cell of an aggregate family (bigtable/aggregate.h). They hide nothing: a
  // cell is what all of them give that nothing hides.
  kAddToCell = 8,    // an input
  kMergeToCell = 9,  // a state, or what several contributions give
  // The cell before it at its timestamp no longer counts for MaxVersions, from its version on, but
  // has not been collected: the rule combines versions with ages.
  kCountedOut = 10,
  // Hides older cells of the column within a range of timestamps, which is its value
  // (base/time_range.h).
  kDeleteTimeRange = 11,
  // 12: a range of rows. Reserved.
};
inline constexpr uint8_t kLastKind = 11;
constexpr bool IsKnownKind(uint8_t kind) { return kind >= 1 && kind <= kLastKind; }

// The part of a row that an entry applies to. It decides which fields the key has: the qualifier up
// to kColumn, the family up to kFamily, the timestamp only for kTimestamp.
enum class EntryScope : uint8_t { kTimestamp, kColumn, kFamily, kRow };

// How the statistics of a file count an entry (sstable/sstable_info.h).
enum class EntryCount : uint8_t { kCell, kShadow, kCellDeletion, kColumnDeletion, kRowDeletion };

// Whether an operation of a mutation has a timestamp.
enum class OperationTime : uint8_t { kNone, kGiven, kGivenOrServers };

struct EntryTraits {
  EntryKind kind;
  std::string_view name;  // in DebugString
  EntryScope scope;
  EntryCount counted_as;
  bool is_deletion;   // it hides older entries, and is not a cell
  bool is_version;    // MaxVersions counts it
  bool is_operation;  // a user's mutation may contain it; the next two fields are for operations
  OperationTime time = OperationTime::kNone;
  bool has_value = false;
};

// Indexed by EntryKind; the first line is for no kind.
inline constexpr std::array<EntryTraits, kLastKind + 1> kEntryTraits = {{
    {EntryKind{0}, "?", EntryScope::kRow, EntryCount::kCell, false, false, false},
    {EntryKind::kCell, "cell", EntryScope::kTimestamp, EntryCount::kCell,
     /*is_deletion=*/false, /*is_version=*/true, /*is_operation=*/true,
     OperationTime::kGivenOrServers, /*has_value=*/true},
    {EntryKind::kDeleteCell, "delete-cell", EntryScope::kTimestamp, EntryCount::kCellDeletion,
     /*is_deletion=*/true, /*is_version=*/false, /*is_operation=*/true, OperationTime::kGiven},
    {EntryKind::kGhost, "ghost", EntryScope::kTimestamp, EntryCount::kCellDeletion,
     /*is_deletion=*/true, /*is_version=*/true, /*is_operation=*/false},
    {EntryKind::kShadow, "shadow", EntryScope::kTimestamp, EntryCount::kShadow,
     /*is_deletion=*/false, /*is_version=*/true, /*is_operation=*/false},
    {EntryKind::kDeleteColumn, "delete-column", EntryScope::kColumn, EntryCount::kColumnDeletion,
     /*is_deletion=*/true, /*is_version=*/false, /*is_operation=*/true},
    {EntryKind::kDeleteFamily, "delete-family", EntryScope::kFamily, EntryCount::kRowDeletion,
     /*is_deletion=*/true, /*is_version=*/false, /*is_operation=*/true},
    {EntryKind::kDeleteRow, "delete-row", EntryScope::kRow, EntryCount::kRowDeletion,
     /*is_deletion=*/true, /*is_version=*/false, /*is_operation=*/true},
    {EntryKind::kAddToCell, "add-to-cell", EntryScope::kTimestamp, EntryCount::kCell,
     /*is_deletion=*/false, /*is_version=*/true, /*is_operation=*/true, OperationTime::kGiven,
     /*has_value=*/true},
    {EntryKind::kMergeToCell, "merge-to-cell", EntryScope::kTimestamp, EntryCount::kCell,
     /*is_deletion=*/false, /*is_version=*/true, /*is_operation=*/true, OperationTime::kGiven,
     /*has_value=*/true},
    {EntryKind::kCountedOut, "counted-out", EntryScope::kTimestamp, EntryCount::kShadow,
     /*is_deletion=*/false, /*is_version=*/false, /*is_operation=*/false},
    {EntryKind::kDeleteTimeRange, "delete-time-range", EntryScope::kColumn,
     EntryCount::kColumnDeletion, /*is_deletion=*/true, /*is_version=*/false,
     /*is_operation=*/true, OperationTime::kNone, /*has_value=*/true},
}};

// Requires a known kind.
constexpr const EntryTraits& TraitsOf(EntryKind kind) {
  ABSL_ASSERT(static_cast<size_t>(kind) < kEntryTraits.size() && "a kind has a line of the table");
  return kEntryTraits[static_cast<size_t>(kind)];
}
constexpr EntryScope ScopeOf(EntryKind kind) { return TraitsOf(kind).scope; }

namespace entry_kind_internal {
constexpr uint32_t KindsWithTimestamp() {
  uint32_t kinds = 0;
  for (const EntryTraits& traits : kEntryTraits) {
    if (traits.scope == EntryScope::kTimestamp) kinds |= 1u << static_cast<unsigned>(traits.kind);
  }
  return kinds;
}
inline constexpr uint32_t kKindsWithTimestamp = KindsWithTimestamp();
}  // namespace entry_kind_internal

// Whether an entry of this kind applies to one timestamp rather than a column or more. One bit of a
// constant, because it is looked up for every entry that is read or written. Requires a known kind.
constexpr bool HasTimestamp(EntryKind kind) {
  return (entry_kind_internal::kKindsWithTimestamp >> static_cast<unsigned>(kind) & 1) != 0;
}
// Whether an entry contributes to a cell of an aggregate family.
constexpr bool IsContribution(EntryKind kind) {
  return kind == EntryKind::kAddToCell || kind == EntryKind::kMergeToCell;
}
// Whether an entry is a cell, or a part of one.
constexpr bool IsCell(EntryKind kind) { return kind == EntryKind::kCell || IsContribution(kind); }

namespace entry_kind_internal {
constexpr bool TableIsInOrder() {
  for (size_t i = 1; i < kEntryTraits.size(); ++i) {
    const EntryTraits& traits = kEntryTraits[i];
    if (static_cast<size_t>(traits.kind) != i) return false;
    if (traits.scope != EntryScope::kTimestamp && !traits.is_deletion) return false;
    const bool is_cell = traits.counted_as == EntryCount::kCell;
    if (IsCell(traits.kind) != is_cell) return false;
    if (traits.has_value != (is_cell || traits.kind == EntryKind::kDeleteTimeRange)) return false;
  }
  return true;
}
static_assert(TableIsInOrder());
}  // namespace entry_kind_internal

}  // namespace bigtable

#endif  // BIGTABLE_BASE_ENTRY_KIND_H_
