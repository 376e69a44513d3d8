// Which versions of a column MaxVersions(n) keeps, in the cases that are not plain. One thread at a
// time; reusable.
//
// The rule (bigtable/schema.h): a version is gone once n cells of its column with newer timestamps
// have existed since it was written, deleted later or not. So it is a matter of the order in which
// things happened, not only of what is there in the end: this class takes everything that happened
// to a column and plays it through in that order.
//
// Plain cases do not need it: as long as nothing in a column was ever deleted, the versions that
// are kept are the n with the newest timestamps, whatever order they were written in.
#ifndef BIGTABLE_COMPACTION_COLUMN_HISTORY_H_
#define BIGTABLE_COMPACTION_COLUMN_HISTORY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "base/sequence.h"

namespace bigtable {

class ColumnHistory {
 public:
  static constexpr EntryVersion kAlive{kMaxSequence, kMaxOrdinal};

  // What became of the last cell that was written at a timestamp.
  struct Life {
    int64_t timestamp;
    EntryVersion birth;           // of a ghost: unknown, the same as death
    EntryVersion death = kAlive;  // deleted, or gone by the rule
  };

  // Which entries of a column belong to its history.
  struct Bounds {
    SequenceNumber written_after = 0;
    SequenceNumber written_by = kMaxSequence;
    int64_t min_timestamp = 0;
  };

  void Clear() { events_.clear(); }
  // Adds all entries of the column with this prefix. Leaves the cursor behind them; look at its
  // status.
  void AddColumn(EntryCursor* entries, std::string_view column_prefix, const Bounds& bounds);
  // Adds those of the deletions, which are of a family or a row, that are within the bounds.
  void AddWideDeletions(const std::vector<EntryVersion>& deletions, const Bounds& bounds);

  // One thing that happened, in any order: a kCell, kShadow, kGhost or kDeleteCell.
  void Add(int64_t timestamp, EntryVersion version, EntryKind kind) {
    events_.push_back({version, timestamp, kind});
  }
  // A deletion of the whole column, or of more.
  void AddWideDeletion(EntryVersion version) {
    events_.push_back({version, 0, EntryKind::kDeleteColumn});
  }

  // Plays it through. One life for each timestamp at which a cell ever was, newest first.
  const std::vector<Life>& Play(int64_t max_versions);

 private:
  struct Event {
    EntryVersion version;
    int64_t timestamp;
    EntryKind kind;
  };
  // A cell that is there at the moment, and the newer timestamps that have been there since it was
  // written.
  struct Living {
    int64_t timestamp;
    EntryVersion birth;
    std::vector<int64_t> newer;
  };

  void Write(int64_t timestamp, EntryVersion version);
  void Ghost(int64_t timestamp, EntryVersion death);
  void DeleteCell(int64_t timestamp, EntryVersion version);
  void DeleteAll(EntryVersion version);
  // Counts `timestamp` against all older cells that are there; those with too many end at `now`.
  void CountAgainstOlder(int64_t timestamp, EntryVersion now);
  void End(const Living& cell, EntryVersion death);

  int64_t max_versions_ = 0;
  std::vector<Event> events_;
  std::vector<Living> living_;
  std::vector<Life> lives_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_COLUMN_HISTORY_H_
