#include "sstable/sstable_verification.h"

#include <cstdint>
#include <memory>
#include <string_view>

#include "bigtable/memory_budget.h"

#include "base/entry_key.h"
#include "base/ref_counted.h"
#include "base/status.h"
#include "base/strings.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"

namespace bigtable {
namespace {

absl::Status NotSound(const SSTable& table, std::string_view what) {
  return absl::DataLossError(Cat(table.path(), ": damaged SSTable: ", what));
}

// They must be as many as the file states, between the keys that it states, and in order.
absl::Status VerifyEntries(const SSTable& table) {
  SSTableCursor cursor(&table, {.verify_checksums = true, .fill_cache = false});
  const SSTableInfo& info = table.info();
  uint64_t entries = 0;
  std::string last;
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    const std::string_view key = cursor.key();
    if (!IsWellFormed(key)) return NotSound(table, Cat("malformed key ", Quoted(key)));
    if (entries == 0 ? key != info.smallest_key : key <= last) {
      return NotSound(table, Cat(DebugString(key), " is not in its place"));
    }
    last = key;
    ++entries;
  }
  BT_RETURN_IF_ERROR(cursor.status());
  if (entries == info.entries && last == info.largest_key) return absl::OkStatus();
  return NotSound(table, Cat(entries, " entries instead of ", info.entries));
}

}  // namespace

absl::Status VerifySSTable(FileSystem* file_system, const std::string& path,
                           const SSTableInfo& expected) {
  const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
  BT_ASSIGN_OR_RETURN(
      const Ref<SSTable> table,
      SSTable::Open(
          file_system, path, expected,
          {.read_mode = FileSystem::ReadMode::kPositional, .budget = budget, .whole = true}));
  return VerifyEntries(*table);
}

}  // namespace bigtable
