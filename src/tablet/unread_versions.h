// The versions of a column that a major compaction of a locality group does not read: they are in
// memtables, or in SSTables that are newer than its inputs. A cell that a compaction filter removes
// may have pushed such versions out, so its key must stay (compaction/collecting_cursor.h).
#ifndef BIGTABLE_TABLET_UNREAD_VERSIONS_H_
#define BIGTABLE_TABLET_UNREAD_VERSIONS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ref_counted.h"
#include "sstable/sstable.h"
#include "tablet/tablet.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// Thread-safe. It pins a version of the tablet during a call only, because a
// version keeps memtables that are flushed meanwhile.
class UnreadVersions {
 public:
  // `tablet` outlives this. `read`: the files that the compaction reads.
  UnreadVersions(const Tablet* tablet, size_t group, const std::vector<Ref<SSTable>>& read);

  // Whether there is an entry of the column with a timestamp before `timestamp`. True also if a
  // file cannot be read. Cost: a search in each memtable and in each newer run.
  bool HasOlder(std::string_view column_prefix, int64_t timestamp) const;

 private:
  bool IsInRun(const SortedRun& run, std::string_view target, std::string_view column_prefix) const;

  const Tablet* const tablet_;
  const size_t group_;
  std::vector<const SSTable*> read_;  // sorted
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_UNREAD_VERSIONS_H_
