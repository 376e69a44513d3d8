// Shared by the tests of SSTables: entries, files of them, and the settings to test.
#ifndef BIGTABLE_TESTS_SSTABLE_SSTABLE_TEST_UTIL_H_
#define BIGTABLE_TESTS_SSTABLE_SSTABLE_TEST_UTIL_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"

#include "base/entry_key.h"
#include "base/ref_counted.h"
#include "sstable/sstable.h"
#include "sstable/sstable_builder.h"
#include "sstable/sstable_info.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {

using Entries = std::map<std::string, std::string>;

inline constexpr std::string_view kTablePath = "table";

inline std::string CellKey(std::string_view row, std::string_view family,
                           std::string_view qualifier, int64_t timestamp, SequenceNumber sequence,
                           EntryKind kind = EntryKind::kCell) {
  std::string key = RowPrefix(row);
  if (ScopeOf(kind) >= EntryScope::kFamily) {
    kind == EntryKind::kDeleteRow ? AppendNoFamily(&key, 0) : AppendNoColumn(&key, family);
  } else {
    AppendColumn(&key, family, qualifier);
  }
  AppendTrailer(&key, timestamp, {sequence, 0}, kind);
  return key;
}

// Keys with long and short common prefixes, with zero bytes, long rows, several versions of a
// column, and deletions. Values are empty, small, compressible, or larger than a block.
inline Entries RandomEntries(Random* random, size_t n, bool with_row_deletions = true) {
  Entries entries;
  for (size_t i = 0; entries.size() < n; ++i) {
    std::string row = std::to_string(random->Below(n / 2 + 1));
    if (random->OneIn(10)) row += std::string(random->Below(300), 'x');
    if (random->OneIn(10)) row += std::string("\0\xff", 2) + random->Bytes(random->Below(4));
    const std::string family = random->OneIn(2) ? "f" : "family";
    const std::string qualifier = random->OneIn(3) ? "" : random->Bytes(random->Below(6));
    EntryKind kind = EntryKind::kCell;
    if (random->OneIn(8)) kind = static_cast<EntryKind>(1 + random->Below(kLastKind));
    const bool is_wide = ScopeOf(kind) >= EntryScope::kFamily;
    if (!with_row_deletions && is_wide) kind = EntryKind::kDeleteColumn;
    std::string value;
    switch (random->Below(8)) {
      case 0:
        break;
      case 1:
        value = random->Bytes(random->Below(200));
        break;
      case 2:
        if (random->OneIn(20)) value = random->Bytes(5000 + random->Below(20000));
        break;
      default:
        value = std::string(random->Below(100), static_cast<char>('a' + random->Below(4)));
    }
    const auto timestamp = static_cast<int64_t>(random->Below(1000));
    entries[CellKey(row, family, qualifier, timestamp, i + 1, kind)] = std::move(value);
  }
  return entries;
}

inline absl::StatusOr<SSTableInfo> WriteTable(FileSystem* file_system, std::string_view path,
                                              const LocalityGroup& group, const Entries& entries,
                                              uint64_t file_number = 7,
                                              uint64_t identity = 0x1234) {
  auto file = file_system->NewWritableFile(path);
  if (!file.ok()) return file.status();
  SSTableBuilder writer(*std::move(file), std::string(path), file_number, group, identity);
  for (const auto& [key, value] : entries) {
    const absl::Status status = writer.Add(key, value);
    if (!status.ok()) return status;
  }
  return writer.Finish();
}

// How a table is written and read.
struct TableSetup {
  std::string name;
  LocalityGroup group;
  FileSystem::ReadMode mode = FileSystem::ReadMode::kMapped;
  bool in_memory = false;
  bool in_parts = false;  // as if the budget had no room for index and filter
};

inline std::vector<TableSetup> AllSetups(size_t block_size) {
  std::vector<TableSetup> setups;
  const std::pair<Compression, const char*> compressions[] = {
      {Compression::kNone, "None"},
      {Compression::kZstd, "Zstd"},
      {Compression::kZstdLongWindow, "LongWindow"}};
  for (const auto& [compression, name] : compressions) {
    LocalityGroup group;
    group.compression = compression;
    group.block_size = block_size;
    group.filter = FilterKind::kRowAndColumn;
    setups.push_back({std::string(name) + "Mapped", group, FileSystem::ReadMode::kMapped, false});
    setups.push_back(
        {std::string(name) + "Positional", group, FileSystem::ReadMode::kPositional, false});
    setups.push_back({std::string(name) + "InMemory", group, FileSystem::ReadMode::kMapped, true});
    setups.push_back(
        {std::string(name) + "InParts", group, FileSystem::ReadMode::kMapped, false, true});
  }
  TableSetup with_row_index = setups.front();
  with_row_index.name = "RowIndex";
  with_row_index.group.filter = FilterKind::kRowIndex;
  setups.push_back(with_row_index);
  with_row_index.name = "RowIndexInParts";
  with_row_index.in_parts = true;
  setups.push_back(with_row_index);
  return setups;
}

inline absl::StatusOr<Ref<SSTable>> OpenTable(
    FileSystem* file_system, const SSTableInfo& info, const TableSetup& setup,
    std::shared_ptr<MemoryBudget> budget = std::make_shared<MemoryBudget>(64 << 20)) {
  const ScopedShortcuts shortcuts(
      shortcuts_off | (setup.in_parts ? ScopedShortcuts::Bit(Shortcut::kWholeIndex) : 0));
  return SSTable::Open(
      file_system, std::string(kTablePath), info,
      {.read_mode = setup.mode, .budget = std::move(budget), .in_memory = setup.in_memory});
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SSTABLE_SSTABLE_TEST_UTIL_H_
