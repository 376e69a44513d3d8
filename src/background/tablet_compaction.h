// What minor and merging compactions of a tablet share.
#ifndef BIGTABLE_BACKGROUND_TABLET_COMPACTION_H_
#define BIGTABLE_BACKGROUND_TABLET_COMPACTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "bigtable/event_listener.h"

#include "base/status.h"
#include "compaction/job.h"
#include "schema/table_layout.h"
#include "sstable/sstable_info.h"
#include "tablet/tablet.h"
#include "tablet/tablet_environment.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// What a compaction did.
struct CompactionOutcome {
  uint64_t bytes_read = 0;  // from SSTables
  uint64_t bytes_written = 0;
  uint64_t files_written = 0;
  uint64_t bytes_moved = 0;        // of files that joined another run without being rewritten
  uint64_t bytes_dropped = 0;      // of files that were removed unread
  uint64_t cells_unfiltered = 0;   // see CompactionStatistics
  bool has_collected = false;      // rules may have removed cells (CollectingCursor)
  std::vector<EventFile> outputs;  // the new files
  // After an error: the number of the input that could not be read, or 0 if the error is another.
  uint64_t unreadable_file = 0;
  // After an error: METADATA may or may not have taken the change, and takes no other until that is
  // settled.
  bool is_in_doubt = false;

  void Add(const SSTableInfo& written) {
    bytes_written += written.size;
    ++files_written;
    outputs.push_back({written.file_number, written.size});
  }
  // A file that several compactions have written together. It is counted once, and each of its
  // bytes.
  void AddShare(const TabletFile& written, bool is_first) {
    bytes_written += written.bytes();
    if (is_first) ++files_written;
    outputs.push_back({written.info.file_number, written.info.size});
  }
};

// The time that decides which entries have expired for a compaction. The compaction reads it before
// the layout, because a change of a rule reads its own time after the tablet has a layout in which
// the rule is held (TableChanges::NumberChanges). So entries that have expired at this time have
// also expired at the next change of a rule.
inline absl::Time TimeBeforeLayout(const TabletEnvironment& environment) {
  return environment.clock->Now();
}

// A job that writes SSTables of a group of the tablet. It ends early once the tablet is removed.
// `now`: TimeBeforeLayout. What has expired since the oldest snapshot was taken is kept.
CompactionJob MakeCompactionJob(const Tablet& tablet, const TableLayout& layout, size_t group,
                                bool major, absl::Time now);

// Commits the steps of several compactions to METADATA: of all parts together, or of as many at a
// time as it takes. `commit(parts, &is_refused)` commits the steps of these parts. It sets
// `is_refused` if METADATA has taken none of several, since it takes only fewer. Ends after another
// error, and returns it. `*parts` are then those that were not reached.
template <typename Part, typename StepsOf, typename Commit>
absl::Status CommitTogether(const TabletStore& store, const StepsOf& steps_of, const Commit& commit,
                            absl::Span<Part>* parts) {
  while (!parts->empty()) {
    size_t at_once = parts->size();
    const auto take_fewer = [&] { at_once = (at_once + 1) / 2; };
    while (at_once > 1 && !store.TakesTogether(steps_of(parts->first(at_once)))) take_fewer();
    bool is_refused = false;
    absl::Status status = commit(parts->first(at_once), &is_refused);
    // METADATA's tablet was split meanwhile.
    while (is_refused) {
      take_fewer();
      status = commit(parts->first(at_once), &is_refused);
    }
    parts->remove_prefix(at_once);
    BT_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

// Removes new files, which METADATA does not name.
void RemoveWritten(const TabletEnvironment& environment, const std::vector<TabletFile>& written);

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_TABLET_COMPACTION_H_
