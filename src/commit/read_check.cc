#include "commit/read_check.h"

#include <algorithm>

#include "base/entry_key.h"
#include "base/published.h"
#include "cache/scan_cache.h"
#include "memtable/memtable_cursor.h"
#include "sstable/key_range.h"
#include "tablet/tablet_version.h"

namespace bigtable {
namespace {

bool HasLaterEntry(const Memtable& memtable, const KeyRange& keys, SequenceNumber since) {
  if (memtable.last_sequence() <= since) return false;
  MemtableCursor cursor(&memtable);
  for (cursor.Seek(keys.begin()); cursor.valid() && keys.Contains(cursor.key()); cursor.Next()) {
    if (VersionOf(cursor.key()).sequence > since) return true;
  }
  return false;
}

bool HasLaterFile(const SortedRun& run, const KeyRange& keys, SequenceNumber since) {
  return std::any_of(run.files.begin(), run.files.end(), [&](const Ref<SSTable>& file) {
    return file->info().max_sequence > since && keys.Overlaps(file->info());
  });
}

}  // namespace

bool MayBeWrittenSince(const Tablet& tablet, std::string_view row, SequenceNumber since) {
  const LastWrites* const last_writes = tablet.environment()->last_writes.get();
  return last_writes == nullptr || last_writes->MayBeWrittenAfter(since, row);
}

bool MayBeWrittenSince(const Tablet& tablet, const RowRange& rows, SequenceNumber since) {
  const LastWrites* const last_writes = tablet.environment()->last_writes.get();
  if (last_writes == nullptr || last_writes->IsOutdated(since)) return true;
  const Pin<TabletVersion> version = tablet.Version();
  const KeyRange keys(rows);
  for (const GroupVersion& group : version->groups()) {
    if (HasLaterEntry(*group.active, keys, since)) return true;
    for (const Ref<Memtable>& memtable : group.immutable) {
      if (HasLaterEntry(*memtable, keys, since)) return true;
    }
    for (const SortedRun& run : group.runs) {
      if (HasLaterFile(run, keys, since)) return true;
    }
  }
  return false;
}

}  // namespace bigtable
