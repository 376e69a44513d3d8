// What a compaction writes of an entry of its input.
#ifndef BIGTABLE_COMPACTION_ENTRY_VERDICT_H_
#define BIGTABLE_COMPACTION_ENTRY_VERDICT_H_

#include <cstdint>

namespace bigtable {

enum class EntryVerdict : uint8_t {
  kKeep,          // the entry
  kMark,          // a mark that the cell was counted out (EntryKind::kCountedOut), and the entry
  kMarkedShadow,  // such a mark, and a shadow of the cell
  kShadow,        // the entry without its value (EntryKind::kShadow)
  kGhost,         // a deletion that says that a cell existed until then (EntryKind::kGhost)
  kDrop,          // nothing
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_ENTRY_VERDICT_H_
