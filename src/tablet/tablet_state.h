// The durable state of a tablet: the SSTables of each locality group, and the redo points. A row of
// METADATA holds it (metadata/), and one mutation of that row makes a compaction take effect.
#ifndef BIGTABLE_TABLET_TABLET_STATE_H_
#define BIGTABLE_TABLET_TABLET_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/row_range.h"

#include "base/sequence.h"
#include "sstable/sstable_info.h"
#include "tablet/tablet_id.h"

namespace bigtable {

struct TabletFile {
  // Files with the same order are one sorted run; runs with a larger order are newer.
  uint64_t order = 0;
  SSTableInfo info;
  // Of a file that was written for several tablets: about how many of its bytes are of the tablet's
  // rows, after a split at most. 0: it was written for this tablet, or one that was split into it.
  uint64_t share = 0;

  // What is the tablet's of it, as far as is known without opening it.
  uint64_t bytes() const { return share != 0 ? share : info.size; }
  friend bool operator==(const TabletFile&, const TabletFile&) = default;
};

// Everything that was written to the locality group up to `sequence` is in its SSTables; later
// mutations are in the log. The log of `server` was durable up to `log_synced` at that time. If
// recovery finds that it ends before, the log has lost records.
struct RedoPoint {
  SequenceNumber sequence = 0;
  std::string server;
  SequenceNumber log_synced = 0;

  friend bool operator==(const RedoPoint&, const RedoPoint&) = default;
};

struct GroupState {
  RedoPoint redo;
  std::vector<TabletFile> files;
  std::string policy_state = {};  // CompactionPick::state; of the group of changes a ChangeState
};

struct TabletState {
  RowRange rows;  // of the tablet
  // By the group's id. That of changes, kChangesGroupId, is there only if the table has a change
  // stream, and has no redo point: its files are written with those of the first group.
  std::map<uint32_t, GroupState> groups;
  // At least every server timestamp of the tablet's cells in SSTables.
  int64_t last_timestamp = 0;

  // The numbers of its SSTables.
  void AddFiles(std::set<uint64_t>* numbers) const;
};

// A step from one state to the next.
struct TabletChange {
  uint32_t group_id = 0;
  std::vector<TabletFile> added;  // new files, and files that get another order
  std::vector<uint64_t> removed;  // file numbers
  std::optional<RedoPoint> redo;
  std::optional<std::string> policy_state;
  int64_t last_timestamp = 0;
};

void ApplyChange(const TabletChange& change, TabletState* state);

// The largest sequence number in it. Those of new mutations must be larger.
SequenceNumber LargestSequence(const TabletState& state);

// The state of the tablet that two adjacent tablets merge into, when neither has anything in
// memtables. Files that both have are in it once; `shared` gets their numbers.
// DataLoss: what is known of their changes cannot be read.
absl::StatusOr<TabletState> MergedState(const TabletState& left, const TabletState& right,
                                        std::vector<uint64_t>* shared);

// A change, and its tablet.
struct TabletStep {
  TabletId tablet;
  TabletChange change;
};

// How changes of tablets are committed. Thread-safe.
class TabletStore {
 public:
  virtual ~TabletStore() = default;
  // Whether Commit takes these steps together: only if the rows of their tablets are in one tablet
  // of METADATA, and the steps are not too much for one mutation. It always takes a single step.
  virtual bool TakesTogether(absl::Span<const TabletStep> steps) const = 0;
  // Commits all of the steps or none; they are durable when it returns OK. FailedPrecondition, for
  // several steps: it does not take them together any more, and has taken none. After any other
  // error for which IsInDoubt is true, a crash may or may not preserve them, and nothing is
  // committed until that is settled. Steps of one tablet are adjacent.
  virtual absl::Status Commit(absl::Span<const TabletStep> steps) = 0;
  // For a Commit that has failed with this status. False: the steps were certainly not taken, so
  // the files that they name can be removed, and the caller may try again.
  virtual bool IsInDoubt(const absl::Status& /*failed*/) const { return true; }
  absl::Status Commit(const TabletId& tablet, const TabletChange& change) {
    const TabletStep step{tablet, change};
    return Commit(absl::MakeConstSpan(&step, 1));
  }
};

// The SSTables that each half of a split tablet keeps: the files that overlap its key range, and
// all files of changes, whose keys are not rows. A file on one side of the split is not shared, so
// it is removed as soon as the half on that side has compacted it.
//
// Whether the key range of an SSTable, which is not one of changes, overlaps these rows.
bool MayHaveRowsOf(const SSTableInfo& info, const RowRange& rows);
// Whether an SSTable of the group may have something of these rows.
bool MayHaveRowsOf(uint32_t group_id, const SSTableInfo& info, const RowRange& rows);
// The initial state of a half with these rows.
TabletState HalfOf(const TabletState& tablet, const RowRange& rows);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_STATE_H_
