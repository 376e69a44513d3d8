#include "standalone/sstable_entry.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "bigtable/row_mutation.h"

#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/sequence.h"
#include "base/strings.h"
#include "base/time_range.h"

namespace bigtable {
namespace {

using Kind = SSTableEntry::Kind;

// By SSTableEntry::Kind.
constexpr std::array kEntryKinds = {
    EntryKind::kCell,         EntryKind::kDeleteCell,     EntryKind::kDeleteColumn,
    EntryKind::kDeleteFamily, EntryKind::kDeleteRow,      EntryKind::kGhost,
    EntryKind::kShadow,       EntryKind::kAddToCell,      EntryKind::kMergeToCell,
    EntryKind::kCountedOut,   EntryKind::kDeleteTimeRange};

EntryKind EntryKindOf(Kind kind) { return kEntryKinds[static_cast<size_t>(kind)]; }

template <typename T>
absl::Status Refuse(std::string_view rule, const T& value) {
  return absl::InvalidArgumentError(Cat(rule, ", and is ", value));
}

absl::Status RefuseField(std::string_view field, const EntryTraits& traits) {
  return absl::InvalidArgumentError(Cat("an entry of kind ", traits.name, " has no ", field));
}

// The fields that the kind does not have.
absl::Status CheckAbsent(const SSTableEntry& entry, const EntryTraits& traits) {
  if (!traits.has_value && !entry.value.empty()) return RefuseField("value", traits);
  if (traits.scope > EntryScope::kTimestamp && entry.timestamp != Timestamp()) {
    return RefuseField("timestamp", traits);
  }
  if (traits.scope > EntryScope::kColumn && !entry.qualifier.empty()) {
    return RefuseField("qualifier", traits);
  }
  if (traits.scope > EntryScope::kFamily && !entry.family.empty()) {
    return RefuseField("family", traits);
  }
  if (traits.scope != EntryScope::kRow && entry.locality_group != 0) {
    return RefuseField("locality_group", traits);
  }
  return absl::OkStatus();
}

}  // namespace

SSTableEntry::Kind KindOfEntry(EntryKind kind) {
  size_t i = 0;
  while (kEntryKinds[i] != kind) ++i;
  return static_cast<Kind>(i);
}

absl::Status CheckEntry(const SSTableEntry& entry) {
  if (static_cast<size_t>(entry.kind) >= kEntryKinds.size()) {
    return Refuse("kind must be a value of SSTableEntry::Kind", static_cast<int>(entry.kind));
  }
  if (entry.row.empty() || entry.row.size() > RowMutation::kMaxRowSize) {
    return Refuse("row must have 1 byte to 64 KiB", Cat(entry.row.size(), " bytes long"));
  }
  if (entry.qualifier.size() > RowMutation::kMaxQualifierSize) {
    return Refuse("qualifier must have at most 16 KiB", Cat(entry.qualifier.size(), " bytes long"));
  }
  if (entry.value.size() > RowMutation::kMaxValueSize) {
    return Refuse("value must have at most 256 MiB", Cat(entry.value.size(), " bytes long"));
  }
  if (entry.timestamp < Timestamp()) {
    return Refuse("timestamp must not be negative", entry.timestamp.micros());
  }
  if (entry.sequence == 0 || entry.sequence > kMaxSequence) {
    return Refuse("sequence must be from 1 to 2^56 - 1", entry.sequence);
  }
  if (entry.ordinal > kMaxOrdinal) {
    return Refuse("ordinal must be less than 2^24", entry.ordinal);
  }
  TimeRange range;
  if (entry.kind == Kind::kDeleteTimeRange && !ParseTimeRange(entry.value, &range)) {
    return Refuse("value of kDeleteTimeRange must be two numbers of 8 bytes, the first smaller",
                  Cat(entry.value.size(), " bytes long"));
  }
  return CheckAbsent(entry, TraitsOf(EntryKindOf(entry.kind)));
}

void AppendEntryKey(const SSTableEntry& entry, std::string* key) {
  const EntryKind kind = EntryKindOf(entry.kind);
  AppendRowPrefix(key, entry.row);
  switch (ScopeOf(kind)) {
    case EntryScope::kRow:
      AppendNoFamily(key, entry.locality_group);
      break;
    case EntryScope::kFamily:
      AppendNoColumn(key, entry.family);
      break;
    case EntryScope::kColumn:
    case EntryScope::kTimestamp:
      AppendColumn(key, entry.family, entry.qualifier);
      break;
  }
  AppendTrailer(key, entry.timestamp.micros(), {entry.sequence, entry.ordinal}, kind);
}

void DecodeEntryKey(std::string_view key, std::string* row_scratch, std::string* qualifier_scratch,
                    SSTableEntry* entry) {
  const size_t row_size = RowPrefixSize(key);
  const EntryKind kind = KindOf(key);
  const EntryScope scope = ScopeOf(kind);
  const EntryVersion version = VersionOf(key);
  entry->kind = KindOfEntry(kind);
  entry->row = Unescape(key.substr(0, row_size), row_scratch);
  entry->family = FamilyOf(key, row_size);
  entry->qualifier = {};
  if (scope <= EntryScope::kColumn) {
    entry->qualifier =
        Unescape(EscapedQualifierOf(key, row_size, entry->family.size()), qualifier_scratch);
  }
  entry->timestamp = HasTimestamp(kind) ? Timestamp(TimestampOf(key)) : Timestamp();
  entry->sequence = version.sequence;
  entry->ordinal = version.ordinal;
  entry->locality_group = scope == EntryScope::kRow ? GroupOfRowDeletion(key, row_size) : 0;
}

SSTableFileInfo MakeFileInfo(const SSTableInfo& info, const SSTableProperties& properties) {
  std::string scratch;
  SSTableFileInfo file;
  file.file_size = info.size;
  file.entries = info.entries;
  file.cell_deletions = info.cell_deletions;
  file.column_deletions = info.column_deletions;
  file.row_deletions = info.row_deletions;
  file.key_bytes = properties.key_bytes;
  file.value_bytes = properties.value_bytes;
  if (info.entries > 0) {
    file.smallest_row = RowOf(info.smallest_key, &scratch);
    file.largest_row = RowOf(info.largest_key, &scratch);
  }
  file.min_sequence = info.min_sequence;
  file.max_sequence = info.max_sequence;
  file.min_timestamp = Timestamp(info.min_timestamp);
  file.max_timestamp = Timestamp(info.max_timestamp);
  file.compression = properties.compression;
  file.filter = properties.filter;
  file.blocks = properties.blocks;
  file.largest_block = properties.largest_block;
  file.data_bytes = properties.data_size;
  file.index_bytes = properties.index_size;
  file.dictionary_bytes = properties.dictionary_size;
  for (const auto& [name, counts] : properties.families) {
    file.families[name] = {.entries = counts.entries, .bytes = counts.bytes};
  }
  return file;
}

std::string DebugString(const SSTableEntry& entry) {
  std::string key;
  AppendEntryKey(entry, &key);
  return DebugString(std::string_view(key));
}

}  // namespace bigtable
