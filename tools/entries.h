// Entries as they are stored, which sst and log print.
#ifndef BIGTABLE_TOOLS_ENTRIES_H_
#define BIGTABLE_TOOLS_ENTRIES_H_

#include <string_view>

#include "bigtable/sstable.h"

#include "tools/session.h"

namespace bigtable::tools {

// A line, or a JSON object, with the name of the table unless it is empty.
void PrintEntry(const Session& session, std::string_view table, const SSTableEntry& entry);

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_ENTRIES_H_
