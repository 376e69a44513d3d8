#include "tablet/unread_versions.h"

#include <algorithm>
#include <string>

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "memtable/memtable.h"
#include "memtable/memtable_cursor.h"
#include "sstable/sstable_cursor.h"

namespace bigtable {
namespace {

// Whether the first entry from `target` on is of the column, or cannot be read.
bool FindsColumn(EntryCursor* cursor, std::string_view target, std::string_view column_prefix) {
  cursor->Seek(target);
  if (!cursor->valid()) return !cursor->status().ok();
  const std::string_view key = cursor->key();
  return key.size() == column_prefix.size() + kTrailerSize && key.starts_with(column_prefix);
}

}  // namespace

UnreadVersions::UnreadVersions(const Tablet* tablet, size_t group,
                               const std::vector<Ref<SSTable>>& read)
    : tablet_(tablet), group_(group) {
  for (const Ref<SSTable>& file : read) read_.push_back(file.get());
  std::sort(read_.begin(), read_.end());
}

bool UnreadVersions::HasOlder(std::string_view column_prefix, int64_t timestamp) const {
  if (timestamp == 0) return false;  // the oldest
  std::string target(column_prefix);
  AppendTimestamp(&target, timestamp - 1);
  const Pin<TabletVersion> version = tablet_->Version();
  const GroupVersion& group = version->groups()[group_];
  const auto is_in = [&](const Ref<Memtable>& memtable) {
    MemtableCursor cursor(memtable.get());
    return FindsColumn(&cursor, target, column_prefix);
  };
  return is_in(group.active) ||
         std::any_of(group.immutable.begin(), group.immutable.end(), is_in) ||
         std::any_of(group.runs.begin(), group.runs.end(),
                     [&](const SortedRun& run) { return IsInRun(run, target, column_prefix); });
}

bool UnreadVersions::IsInRun(const SortedRun& run, std::string_view target,
                             std::string_view column_prefix) const {
  for (size_t i = run.FindFile(target); i < run.files.size(); ++i) {
    const SSTable& file = *run.files[i];
    const std::string_view smallest = file.info().smallest_key;
    if (smallest > target && !smallest.starts_with(column_prefix)) return false;
    if (std::binary_search(read_.begin(), read_.end(), &file)) continue;
    SSTableCursor cursor(&file, {.fill_cache = false});
    if (FindsColumn(&cursor, target, column_prefix)) return true;
  }
  return false;
}

}  // namespace bigtable
