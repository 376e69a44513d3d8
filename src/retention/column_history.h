// Which versions of a column MaxVersions(n) keeps, in the general case. One thread at a time;
// reusable.
//
// The rule (bigtable/schema.h): a version is collected once n cells of its column with newer
// timestamps have existed since it was written, deleted later or not. So the result depends on the
// order of events, not only on the cells that are left. This class takes all events of a column and
// replays them. If the rule was changed, the history is divided into spans (past_rules.h), and
// counting begins anew with each.
//
// If a rule combines versions with ages (VersionLimits::by_age), the number of newer versions does
// not suffice to collect a cell. Then a cell with the most of them is counted out: it no longer
// counts against older ones. So which cells count never depends on the time, and the ages matter
// only in the end, for the cells that are left: the limits at that time collect them or not.
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
#ifndef BIGTABLE_RETENTION_COLUMN_HISTORY_H_
#define BIGTABLE_RETENTION_COLUMN_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

#include "base/entry_cursor.h"
#include "base/entry_key.h"
#include "base/sequence.h"
#include "base/time_range.h"
#include "retention/deletion_tracker.h"
#include "retention/existence_index.h"
#include "retention/past_rules.h"
#include "retention/time_range_deletions.h"

namespace bigtable {

class ColumnHistory {
 public:
  static constexpr EntryVersion kAlive = DeletionTracker::kNever;

  // The life of the last cell that was written at a timestamp. A contribution to an aggregate is a
  // write of the cell: `birth` is the last.
  struct Life {
    int64_t timestamp;
    EntryVersion birth;           // of a ghost: unknown, the same as death
    EntryVersion death = kAlive;  // deleted, or collected by a rule whatever the age
    // Of an aggregate: its first contribution. Older ones were deleted or collected before it.
    EntryVersion first = birth;
    // Before its death: it no longer counts against older cells.
    EntryVersion counted_out = kAlive;
    // The present limits collect it, by its age and the number of newer versions.
    bool is_expired = false;

    bool is_visible() const { return death == kAlive && !is_expired; }
    bool counts() const { return death == kAlive && counted_out == kAlive; }
    EntryVersion ended() const { return death < counted_out ? death : counted_out; }
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
  // A deletion of a time range of the column.
  void AddTimeRange(const TimeRange& range, EntryVersion version) {
    ranges_.Add(range, version);
    events_.push_back({version.sequence, 0, version.ordinal, EntryKind::kDeleteTimeRange});
  }
  // The largest sequence number that AddColumn and AddWideDeletions have seen, within the bounds or
  // not.
  SequenceNumber last_met() const { return last_met_; }

  // Replays the history with the past rules, and with `limits` after the last of them. Once after
  // Clear. False: given up.
  bool Play(absl::Span<const PastRules::Versions> past, const VersionLimits& limits, GoOn go_on);
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
  // From event `begin` on, versions are counted to these limits.
  struct RuleSpan {
    EventNumber begin;
    const VersionLimits* limits;
  };

  const Event& EventOf(EventNumber number) const {
    ABSL_ASSERT(number >= 1 && number <= events_.size() && "events are numbered from 1");
    return events_[number - 1];
  }
  EventNumber never() const { return static_cast<EventNumber>(events_.size() + 1); }
  EntryVersion VersionAt(EventNumber number) const {
    return number == never() ? kAlive : EventOf(number).version();
  }
  // A deletion of the column, or of a time range of it, which is the value then.
  void AddColumnDeletion(EntryKind kind, EntryVersion version, std::string_view value);
  void NumberEvents(absl::Span<const PastRules::Versions> past, const VersionLimits& limits);
  // The events at one timestamp, in their order.
  void PlayTimestamp(absl::Span<const EventNumber> events);
  // Follows the cell that was written at event `birth`, and that is deleted or overwritten at
  // `last` if no rule ends it before, through the spans of the rules. `marked` is the event after
  // which it was counted out in a former replay; 0: none. Sets all of `*life` but its birth, adds
  // to here_, and returns the event of its death.
  EventNumber FollowCell(EventNumber birth, EventNumber last, EventNumber marked, Life* life);
  // Whether the cell has, since event `from` and before `end`, had enough newer versions for the
  // limits to collect it at its age.
  bool IsExpired(const VersionLimits& limits, int64_t timestamp, EventNumber from,
                 EventNumber end) const;
  // The event after `from` and before `end` at which the `count`-th newer timestamp has had a cell
  // since `from`, which may be `from`; 0: none.
  EventNumber FindNewer(EventNumber from, int64_t count, EventNumber end) const;
  // The first deletion after the event that covers the timestamp; never() if there is none.
  EventNumber FindWide(EventNumber number, int64_t timestamp);

  std::vector<Event> events_;
  SequenceNumber last_met_ = 0;
  std::vector<EventNumber> by_timestamp_;  // newest first, each timestamp's in their order
  std::vector<EventNumber> wide_;          // deletions of all timestamps
  TimeRangeDeletions ranges_;
  std::vector<RuleSpan> spans_;
  ExistenceIndex newer_;  // cells at the timestamps that were played
  std::vector<ExistenceIndex::Existence> here_;
  std::vector<Life> lives_;
};

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_COLUMN_HISTORY_H_
