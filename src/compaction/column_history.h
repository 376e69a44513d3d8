// Which versions of a column MaxVersions(n) keeps, in the general case. One thread at a time;
// reusable.
//
// The rule (bigtable/schema.h): a version is collected once n cells of its column with newer
// timestamps have existed since it was written, deleted later or not. So the result depends on the
// order of events, not only on the cells that are left. This class takes all events of a column and
// replays them. If the rule was changed, the history is divided into spans (past_rules.h), and
// counting begins anew with each.
//
// Simple cases do not need it: as long as nothing in a column was deleted, and the rule did not
// change, the versions that stay are the n with the newest timestamps, in whatever order they were
// written.
//
// Algorithm: the events, including changes of the rule, are numbered in their order. The end of a
// cell depends only on cells with newer timestamps. So timestamps are replayed from new to old, and
// for those already replayed it is known from which event to which a cell existed. For the next
// cell, written at event b, there are two queries (ExistenceIndex): how many timestamps have a cell
// at b, and at which event the n-th is reached, counting each timestamp without a cell at b when it
// is next written. That takes about log(N) steps a cell, with N events; where timestamps are
// written again after their cells have ended, up to sqrt(N). Memory is linear: about a hundred
// bytes an event.
#ifndef BIGTABLE_COMPACTION_COLUMN_HISTORY_H_
#define BIGTABLE_COMPACTION_COLUMN_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "base/sequence.h"
#include "compaction/deletion_tracker.h"
#include "compaction/existence_index.h"
#include "compaction/past_rules.h"

namespace bigtable {

class ColumnHistory {
 public:
  static constexpr EntryVersion kAlive = DeletionTracker::kNever;

  // The life of the last cell that was written at a timestamp. A contribution to an aggregate is a
  // write of the cell: `birth` is the last.
  struct Life {
    int64_t timestamp;
    EntryVersion birth;           // of a ghost: unknown, the same as death
    EntryVersion death = kAlive;  // deleted, or collected by the rule
    // Of an aggregate: its first contribution. Older ones were deleted or collected before it.
    EntryVersion first = birth;
  };

  // The entries of a column that belong to its history.
  struct Bounds {
    SequenceNumber written_after = 0;
    SequenceNumber written_by = kMaxSequence;
    int64_t min_timestamp = 0;
    const PastRules* past = nullptr;  // their ages
  };

  // Called now and then by operations that may take long. False: give up.
  using GoOn = absl::FunctionRef<bool()>;

  void Clear();
  // Adds the entries of the column with this prefix, from the cursor's position, and moves the
  // cursor past them. Check its status afterwards. False: given up.
  bool AddColumn(EntryCursor* entries, std::string_view column_prefix, const Bounds& bounds,
                 GoOn go_on);
  // Adds the deletions of the column's row and family that are within the bounds.
  void AddWideDeletions(const DeletionTracker& deletions, const Bounds& bounds);

  // One event at a timestamp. Events may be added in any order.
  void Add(int64_t timestamp, EntryVersion version, EntryKind kind) {
    events_.push_back({version.sequence, timestamp, version.ordinal, kind});
  }
  // A deletion of the whole column, or of more.
  void AddWideDeletion(EntryVersion version) {
    events_.push_back({version.sequence, 0, version.ordinal, EntryKind::kDeleteColumn});
  }
  // The largest sequence number that AddColumn and AddWideDeletions have seen, within the bounds or
  // not.
  SequenceNumber last_met() const { return last_met_; }

  // Replays the history with the past rules, and with `most` versions after the last of them.
  // False: given up.
  bool Play(absl::Span<const PastRules::Versions> past, int64_t most, GoOn go_on);
  // The result of Play: one life for each timestamp at which a cell ever existed, newest first.
  const std::vector<Life>& lives() const { return lives_; }
  // The life at a timestamp, or null.
  const Life* FindLife(int64_t timestamp) const;

 private:
  // Events are numbered from 1.
  using EventNumber = ExistenceIndex::EventNumber;

  struct Event {
    SequenceNumber sequence;
    int64_t timestamp;
    uint32_t ordinal;
    EntryKind kind;

    EntryVersion version() const { return {sequence, ordinal}; }
  };
  // A change of the rule is an event, too.
  static constexpr EntryKind kRuleChange{0};
  // From event `begin`, `most` versions are kept.
  struct RuleSpan {
    EventNumber begin;
    int64_t most;
  };

  const Event& EventOf(EventNumber number) const { return events_[number - 1]; }
  EventNumber never() const { return static_cast<EventNumber>(events_.size() + 1); }
  EntryVersion VersionAt(EventNumber number) const {
    return number == never() ? kAlive : EventOf(number).version();
  }
  void NumberEvents(absl::Span<const PastRules::Versions> past, int64_t most);
  // The events at one timestamp, in their order.
  void PlayTimestamp(absl::Span<const EventNumber> events);
  // The event that ends the cell that was written at `birth`, and that is deleted or overwritten at
  // `last` if the rule does not end it before.
  EventNumber FindEnd(EventNumber birth, EventNumber last) const;

  std::vector<Event> events_;
  SequenceNumber last_met_ = 0;
  std::vector<EventNumber> by_timestamp_;  // newest first, each timestamp's in their order
  std::vector<EventNumber> wide_;          // deletions
  std::vector<RuleSpan> spans_;
  ExistenceIndex newer_;  // cells at the timestamps that were played
  std::vector<ExistenceIndex::Existence> here_;
  std::vector<Life> lives_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_COLUMN_HISTORY_H_
