#include "tools/entries.h"

#include <ostream>

#include "tools/output.h"
#include "tools/text.h"

namespace bigtable::tools {
namespace {

std::string_view KindName(SSTableEntry::Kind kind) {
  switch (kind) {
    case SSTableEntry::Kind::kCell:
      return "cell";
    case SSTableEntry::Kind::kDeleteCell:
      return "delete-cell";
    case SSTableEntry::Kind::kDeleteColumn:
      return "delete-column";
    case SSTableEntry::Kind::kDeleteFamily:
      return "delete-family";
    case SSTableEntry::Kind::kDeleteRow:
      return "delete-row";
    case SSTableEntry::Kind::kGhost:
      return "ghost";
    case SSTableEntry::Kind::kShadow:
      return "shadow";
    case SSTableEntry::Kind::kAddToCell:
      return "add";
    case SSTableEntry::Kind::kMergeToCell:
      return "merge";
    case SSTableEntry::Kind::kCountedOut:
      return "counted-out";
    case SSTableEntry::Kind::kDeleteTimeRange:
      return "delete-time-range";
  }
  return "unknown";
}

}  // namespace

void PrintEntry(const Session& session, std::string_view table, const SSTableEntry& entry) {
  if (!session.json()) {
    if (!table.empty()) session.out() << table << " ";
    session.out() << DebugString(entry);
    if (!entry.value.empty()) session.out() << " " << Quoted(entry.value);
    session.out() << "\n";
    return;
  }
  Json object;
  if (!table.empty()) object["table"] = table;
  object["kind"] = KindName(entry.kind);
  SetBytes(&object, "row", entry.row);
  object["family"] = entry.family;
  SetBytes(&object, "column", entry.qualifier);
  object["timestamp"] = entry.timestamp.micros();
  object["sequence"] = entry.sequence;
  object["ordinal"] = entry.ordinal;
  SetBytes(&object, "value", entry.value);
  session.out() << JsonLine(object);
}

}  // namespace bigtable::tools
