// Entries as text, one per line, as DebugString (base/entry_key.h) writes their keys:
//
//   row/family:qualifier@timestamp#sequence.ordinal cell value
//   row/family:qualifier@timestamp#sequence.ordinal delete-cell | ghost | shadow
//   row/family:qualifier#sequence.ordinal delete-column
//   row/family:#sequence.ordinal delete-family
//   row(group 0)#sequence.ordinal delete-row
//
// ".0" may be left out. Rows, qualifiers and values are C-escaped, so they may contain any byte.
#ifndef BIGTABLE_TESTS_SUPPORT_ENTRY_TEXT_H_
#define BIGTABLE_TESTS_SUPPORT_ENTRY_TEXT_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "re2/re2.h"

#include "bigtable/memory_budget.h"

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/ref_counted.h"
#include "base/strings.h"
#include "memtable/memtable.h"

namespace bigtable {

inline std::string Unescaped(std::string_view text) {
  std::string bytes;
  if (!absl::CUnescape(ToAbsl(text), &bytes)) return "bad escape";
  return bytes;
}

inline std::string EntryText(std::string_view key, std::string_view value) {
  std::string text = DebugString(key);
  if (!value.empty()) text += " " + absl::CHexEscape(ToAbsl(value));
  return text;
}

// 0 if `text` is not a number.
inline uint64_t NumberOf(std::string_view text) {
  return std::strtoull(std::string(text).c_str(), nullptr, 10);
}

struct TextEntry {
  std::string key;
  std::string value;
};

// Returns nullopt if the line is not an entry.
inline std::optional<TextEntry> ParseEntry(const std::string& line) {
  static const RE2 kEntry(
      R"((?:([^/(]+)/([^:]+):([^@#]*)|([^/(]+)\(group (\d+)\))(?:@(\d+))?#(\d+)(?:\.(\d+))?)"
      R"( ([a-z-]+)(?: (.*))?)");
  std::string row, family, qualifier, whole_row, group, timestamp, sequence, ordinal, name, value;
  if (!RE2::FullMatch(line, kEntry, &row, &family, &qualifier, &whole_row, &group, &timestamp,
                      &sequence, &ordinal, &name, &value)) {
    return std::nullopt;
  }
  const auto traits = std::find_if(kEntryTraits.begin() + 1, kEntryTraits.end(),
                                   [&](const EntryTraits& t) { return t.name == name; });
  if (traits == kEntryTraits.end()) return std::nullopt;
  const EntryKind kind = traits->kind;
  if (HasTimestamp(kind) != !timestamp.empty()) return std::nullopt;
  if ((traits->scope == EntryScope::kRow) != !group.empty()) return std::nullopt;

  TextEntry entry;
  AppendRowPrefix(&entry.key, Unescaped(group.empty() ? row : whole_row));
  if (traits->scope == EntryScope::kRow) {
    AppendNoFamily(&entry.key, static_cast<uint32_t>(NumberOf(group)));
  } else if (traits->scope == EntryScope::kFamily) {
    AppendNoColumn(&entry.key, family);
  } else {
    AppendColumn(&entry.key, family, Unescaped(qualifier));
  }
  AppendTrailer(&entry.key, static_cast<int64_t>(NumberOf(timestamp)),
                {NumberOf(sequence), static_cast<uint32_t>(NumberOf(ordinal))}, kind);
  entry.value = Unescaped(value);
  return entry;
}

inline const std::shared_ptr<MemoryBudget>& TestBudget() {
  static const auto* const kBudget =
      new std::shared_ptr<MemoryBudget>(std::make_shared<MemoryBudget>(64 << 20));
  return *kBudget;
}
inline Ref<Memtable> NewTestMemtable() { return MakeRef<Memtable>(TestBudget()); }

// The entries from the position of the cursor on, and its error if there is one.
inline std::string RestText(EntryCursor* cursor) {
  std::string out;
  for (; cursor->valid(); cursor->Next()) {
    out += EntryText(cursor->key(), cursor->value()) + "\n";
  }
  if (!cursor->status().ok()) out += std::string(cursor->status().ToString()) + "\n";
  return out;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_ENTRY_TEXT_H_
