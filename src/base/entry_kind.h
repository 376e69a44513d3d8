// The kinds of entries, and one table of what is to be known of each. Code that names a kind only
// to learn one of these properties asks the table: then a new kind is a new line here, and code
// that treats it as others of its sort need not change.
#ifndef BIGTABLE_BASE_ENTRY_KIND_H_
#define BIGTABLE_BASE_ENTRY_KIND_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bigtable {

// What an entry is. On disk: never renumber.
enum class EntryKind : uint8_t {
  kCell = 1,        // a value
  kDeleteCell = 2,  // hides the older entries of exactly this timestamp
  kGhost = 3,       // kDeleteCell, and a cell did stand here until then: MaxVersions counts it
  kShadow = 4,  // a cell that no read can see any more, without its value: MaxVersions counts it
  kDeleteColumn = 5,  // hides every older entry of the column
  kDeleteFamily = 6,
  kDeleteRow = 7,
  // 8: a time range of a column; 9: a range of rows. Reserved.
};
inline constexpr uint8_t kLastKind = 7;
constexpr bool IsKnownKind(uint8_t kind) { return kind >= 1 && kind <= kLastKind; }

// How much of a row an entry is of. It decides which parts the key has: the qualifier up to
// kColumn, the family up to kFamily, the timestamp only for kTimestamp.
enum class EntryScope : uint8_t { kTimestamp, kColumn, kFamily, kRow };

// As what the statistics of a file count an entry (sstable/sstable_info.h).
enum class EntryCount : uint8_t { kCell, kShadow, kCellDeletion, kColumnDeletion, kRowDeletion };

// Whether an operation of a mutation names a timestamp.
enum class OperationTime : uint8_t { kNone, kGiven, kGivenOrServers };

struct EntryTraits {
  EntryKind kind;
  std::string_view name;  // in DebugString
  EntryScope scope;
  EntryCount counted_as;
  bool is_deletion;   // it hides older entries, and is no cell
  bool is_version;    // MaxVersions counts it
  bool is_operation;  // a user's mutation may have it. The next two are of operations.
  OperationTime time = OperationTime::kNone;
  bool has_value = false;
};

// By EntryKind; the first line is of none.
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
}};

// Of a known kind.
constexpr const EntryTraits& TraitsOf(EntryKind kind) {
  return kEntryTraits[static_cast<size_t>(kind)];
}
constexpr EntryScope ScopeOf(EntryKind kind) { return TraitsOf(kind).scope; }
// Whether an entry of this kind is of one timestamp, and not of a column or more. A comparison:
// asked for every entry that is read or written.
constexpr bool HasTimestamp(EntryKind kind) { return kind <= EntryKind::kShadow; }

namespace entry_kind_internal {
constexpr bool TableIsInOrder() {
  for (size_t i = 1; i < kEntryTraits.size(); ++i) {
    const EntryTraits& traits = kEntryTraits[i];
    if (static_cast<size_t>(traits.kind) != i) return false;
    if (HasTimestamp(traits.kind) != (traits.scope == EntryScope::kTimestamp)) return false;
    if (traits.scope != EntryScope::kTimestamp && !traits.is_deletion) return false;
  }
  return true;
}
static_assert(TableIsInOrder());
}  // namespace entry_kind_internal

}  // namespace bigtable

#endif  // BIGTABLE_BASE_ENTRY_KIND_H_
