// What the minor and the merging compactions of a tablet have in common.
#ifndef BIGTABLE_TABLET_TABLET_COMPACTION_H_
#define BIGTABLE_TABLET_TABLET_COMPACTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/event_listener.h"

#include "compaction/job.h"
#include "sstable/sstable_info.h"
#include "tablet/table_layout.h"
#include "tablet/tablet.h"
#include "tablet/tablet_environment.h"

namespace bigtable {

// What a compaction did.
struct CompactionOutcome {
  uint64_t bytes_read = 0;  // from SSTables
  uint64_t bytes_written = 0;
  uint64_t files_written = 0;
  uint64_t bytes_moved = 0;        // became a part of another run, untouched
  uint64_t bytes_dropped = 0;      // removed, unread
  std::vector<EventFile> outputs;  // what was written
  // After an error: the number of the input that could not be read, if it was that, or else 0.
  uint64_t unreadable_file = 0;
  // The same: METADATA may have what was to be committed, and takes nothing until that is settled.
  bool is_in_doubt = false;

  void Add(const SSTableInfo& written) {
    bytes_written += written.size;
    ++files_written;
    outputs.push_back({written.file_number, written.size});
  }
};

// The time by which a compaction finds what has expired; it takes this before it takes the layout.
// In this order: a rule changes at a time that is read after the tablet was given a layout in which
// the rule is held (Master::ChangeRules), so what has expired by now has expired by the next change
// of a rule, too.
inline absl::Time TimeBeforeLayout(const TabletEnvironment& environment) {
  return environment.clock->Now();
}

// A job that writes SSTables of a group of the tablet. It is cancelled once the tablet is removed.
CompactionJob MakeCompactionJob(const Tablet& tablet, const TableLayout& layout, size_t group,
                                bool major, absl::Time now);

// Removes files that METADATA does not name.
void RemoveWritten(const TabletEnvironment& environment, const std::vector<SSTableInfo>& written);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_COMPACTION_H_
