// What is durable of a tablet, apart from its bytes: the SSTables of each locality group and the
// redo points. A row of METADATA holds it (metadata/), and one mutation of that row is what makes a
// compaction happen.
#ifndef BIGTABLE_TABLET_TABLET_STATE_H_
#define BIGTABLE_TABLET_TABLET_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
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

  friend bool operator==(const TabletFile&, const TabletFile&) = default;
};

// Everything that was written to the locality group up to `sequence` is in its SSTables; what came
// later must be looked for in the log. The log of `server` was durable up to `log_synced` then: if
// it is ever found to end before, it has lost something.
struct RedoPoint {
  SequenceNumber sequence = 0;
  std::string server;
  SequenceNumber log_synced = 0;

  friend bool operator==(const RedoPoint&, const RedoPoint&) = default;
};

struct GroupState {
  RedoPoint redo;
  std::vector<TabletFile> files;
};

struct TabletState {
  RowRange rows;                          // whose tablet it is
  std::map<uint32_t, GroupState> groups;  // by the group's id
  // No server time that was given to the tablet's cells is larger, as far as they are in SSTables.
  int64_t last_timestamp = 0;

  // The numbers of its SSTables.
  void AddFiles(std::set<uint64_t>* numbers) const;
};

// A step from one state to the next.
struct TabletChange {
  uint32_t group_id = 0;
  std::vector<TabletFile> added;  // or with another order than so far
  std::vector<uint64_t> removed;  // file numbers
  std::optional<RedoPoint> redo;
  int64_t last_timestamp = 0;
};

void ApplyChange(const TabletChange& change, TabletState* state);

// The largest sequence number that is named in it: those of new mutations must be larger.
SequenceNumber LargestSequence(const TabletState& state);

// What two neighbouring tablets are together, when neither has anything in memtables. Files that
// both have are in it once; `shared` gets their numbers.
TabletState MergedState(const TabletState& left, const TabletState& right,
                        std::vector<uint64_t>* shared);

// Of which tablet.
struct TabletStep {
  TabletId tablet;
  TabletChange change;
};

// How changes of tablets are committed. Thread-safe.
class TabletStore {
 public:
  virtual ~TabletStore() = default;
  // Whether Commit takes these steps: only if what it has of their tablets is in one place, and the
  // steps are not too much for one mutation. It always takes a single step.
  virtual bool TakesTogether(absl::Span<const TabletStep> steps) const = 0;
  // All of the steps or none, and durable when it returns OK. FailedPrecondition of several steps:
  // it does not take them together any more, and has none of them. After any other error it is
  // unknown whether they will be found after a crash, if IsInDoubt says so, and nothing is
  // committed until that is settled. Steps of one tablet stand together.
  virtual absl::Status Commit(absl::Span<const TabletStep> steps) = 0;
  // Of a Commit that has failed with this status. False: the steps are gone for good, so that the
  // files that they name can be removed, and the same may be tried again.
  virtual bool IsInDoubt(const absl::Status& /*failed*/) const { return true; }
  absl::Status Commit(const TabletId& tablet, const TabletChange& change) {
    const TabletStep step{tablet, change};
    return Commit(absl::MakeConstSpan(&step, 1));
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_STATE_H_
