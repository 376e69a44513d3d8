// The rules that a family had before the present one. Cells that a rule has collected stay
// collected, whether or not a compaction ran while it was in force. So entries before a change are
// judged by the rule of that time, and then those that it keeps by the present one. Plain value.
//
// A change has a sequence number of its own, which no mutation has. MaxVersions and MaxAge are kept
// apart:
//
// * MaxVersions: the changes divide the history of a column into spans, each with its own rule.
//   The rule of a span keeps n versions. A version is collected once n newer timestamps have
//   existed since it was written, or since the span began if that was later. So at each change
//   counting begins anew, with the cells that exist then. (Cells that are deleted while no rule is
//   in force leave no trace, so nothing else could be counted.)
//   If a rule combines versions with ages (VersionLimits::by_age), its ages are taken at the time
//   of the change: what it has collected by then stays collected.
// * MaxAge: a rule that is in force reaches a timestamp. When the rule is loosened, that timestamp
//   is recorded: entries before the change with a smaller one are collected, as if they had never
//   existed. A rule that is tightened collects all that the one before it has collected.
//
// A read at a snapshot before a change sees the cells of that snapshot that all later rules would
// keep.
#ifndef BIGTABLE_RETENTION_PAST_RULES_H_
#define BIGTABLE_RETENTION_PAST_RULES_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/sequence.h"

namespace bigtable {

// For MaxVersions: no limit.
inline constexpr int64_t kAllVersions = std::numeric_limits<int64_t>::max();
// For VersionLimit: older than this are all timestamps.
inline constexpr int64_t kEveryTimestamp = std::numeric_limits<int64_t>::max();

// Collects a cell with a smaller timestamp that has at least `newer` newer versions.
struct VersionLimit {
  int64_t newer = 0;
  int64_t min_timestamp = kEveryTimestamp;
  friend bool operator==(const VersionLimit&, const VersionLimit&) = default;
};

// The part of a rule that counts versions, at one time (GcRule::steps()). Plain value.
struct VersionLimits {
  // A cell with this many newer versions no longer counts against older ones. It is also collected,
  // if there is nothing in `by_age`.
  int64_t most = kAllVersions;
  // If the rule combines versions with ages: what it collects. Both numbers ascend; the last has
  // `most` versions.
  std::vector<VersionLimit> by_age = {};

  bool any() const { return most != kAllVersions; }
  // Cells with this many newer versions, and an older timestamp, are collected.
  int64_t MinTimestamp(int64_t newer) const {
    int64_t min = std::numeric_limits<int64_t>::min();
    if (by_age.empty() && newer >= most) return kEveryTimestamp;
    for (const VersionLimit& limit : by_age) {
      if (limit.newer <= newer) min = limit.min_timestamp;
    }
    return min;
  }
  friend bool operator==(const VersionLimits&, const VersionLimits&) = default;
};

struct PastRules {
  // In force before the sequence number `before`.
  struct Versions {
    SequenceNumber before = 0;
    VersionLimits limits = {};
    friend bool operator==(const Versions&, const Versions&) = default;
  };
  // Collects entries before that sequence number with a smaller timestamp.
  struct Age {
    SequenceNumber before = 0;
    int64_t min_timestamp = 0;
    friend bool operator==(const Age&, const Age&) = default;
  };
  std::vector<Versions> versions;  // ascending; each differs from the next
  std::vector<Age> ages;           // ascending, with timestamps descending: each adds something

  bool empty() const { return versions.empty() && ages.empty(); }
  // The last change of either, or of MaxVersions; 0 if there was none.
  SequenceNumber last_change() const { return LastChangeUpTo(kMaxSequence); }
  SequenceNumber versions_changed() const { return versions.empty() ? 0 : versions.back().before; }
  // The last change of either at or before `sequence`; 0 if there was none.
  SequenceNumber LastChangeUpTo(SequenceNumber sequence) const {
    SequenceNumber last = 0;
    for (const Versions& rule : versions) {
      if (rule.before <= sequence) last = std::max(last, rule.before);
    }
    for (const Age& rule : ages) {
      if (rule.before <= sequence) last = std::max(last, rule.before);
    }
    return last;
  }
  // Entries from this sequence number on lost no version to a rule that collects other ones than a
  // rule that keeps `most`.
  SequenceNumber LoosenedBefore(int64_t most) const {
    for (auto rule = versions.rbegin(); rule != versions.rend(); ++rule) {
      if (rule->limits.most < most || !rule->limits.by_age.empty()) return rule->before;
    }
    return 0;
  }
  // Whether a past MaxAge has collected the entry with this sequence number and timestamp.
  bool HasExpired(SequenceNumber sequence, int64_t timestamp) const {
    for (const Age& rule : ages) {
      if (sequence < rule.before && timestamp < rule.min_timestamp) return true;
    }
    return false;
  }

  // Records that versions were counted to these limits before `change`, which is later than all
  // changes before.
  void EndVersions(VersionLimits limits, SequenceNumber change) {
    versions.push_back({change, std::move(limits)});
  }
  // Records that MaxAge collected timestamps below `min_timestamp` before `change`.
  void EndAge(int64_t min_timestamp, SequenceNumber change) {
    while (!ages.empty() && ages.back().min_timestamp <= min_timestamp) ages.pop_back();
    ages.push_back({change, min_timestamp});
  }

  friend bool operator==(const PastRules&, const PastRules&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_PAST_RULES_H_
