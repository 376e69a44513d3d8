// Entries of bigtable/sstable.h as encoded keys, and back. Pure functions; any thread.
#ifndef BIGTABLE_STANDALONE_SSTABLE_ENTRY_H_
#define BIGTABLE_STANDALONE_SSTABLE_ENTRY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/sstable.h"

#include "base/entry_kind.h"
#include "sstable/properties.h"
#include "sstable/sstable_info.h"

namespace bigtable {

SSTableEntry::Kind KindOfEntry(EntryKind kind);

// InvalidArgument names the field of the entry that breaks a rule, except that the family's name is
// not checked.
absl::Status CheckEntry(const SSTableEntry& entry);

// Appends the key of an entry that CheckEntry accepts.
void AppendEntryKey(const SSTableEntry& entry, std::string* key);

// Sets every field but the value. `key` is well formed (base/entry_key.h). The entry refers to it,
// or to `row_scratch` and `qualifier_scratch`.
void DecodeEntryKey(std::string_view key, std::string* row_scratch, std::string* qualifier_scratch,
                    SSTableEntry* entry);

SSTableFileInfo MakeFileInfo(const SSTableInfo& info, const SSTableProperties& properties);

}  // namespace bigtable

#endif  // BIGTABLE_STANDALONE_SSTABLE_ENTRY_H_
