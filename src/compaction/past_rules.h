// The rules that a family had before the present one. What a rule has let go stays gone, whether or
// not a compaction ran while it was in force: so what came before a change of the rule is judged by
// the rule that was in force then, and what that has left by the present one. Plain value.
//
// A change has a sequence number of its own, which no mutation has. MaxVersions and MaxAge are kept
// apart:
//
// * MaxVersions: the changes cut the history of a column into spans, and in each its own rule is in
//   force. A version is gone once as many newer timestamps as the rule of the span says have been
//   there since it was written, or since the span began if that was later. So at each change
//   counting begins anew, with the cells that are there. (What is deleted while no rule is in force
//   leaves no trace, which is why nothing else could be counted.)
// * MaxAge: what a rule has come to when it is loosened is a timestamp; entries before the change
//   with a smaller one are gone, as if they had never been. A rule that is tightened lets go by
//   itself what the one before has.
//
// A read at a moment before a change sees what was there at that moment, as far as all later rules
// would keep it.
#ifndef BIGTABLE_COMPACTION_PAST_RULES_H_
#define BIGTABLE_COMPACTION_PAST_RULES_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/sequence.h"

namespace bigtable {

// Of MaxVersions: no limit.
inline constexpr int64_t kAllVersions = std::numeric_limits<int64_t>::max();

struct PastRules {
  // In force up to, but without, the sequence number `before`.
  struct Versions {
    SequenceNumber before = 0;
    int64_t most = kAllVersions;
    friend bool operator==(const Versions&, const Versions&) = default;
  };
  // Lets go entries before that sequence number with a smaller timestamp.
  struct Age {
    SequenceNumber before = 0;
    int64_t min_timestamp = 0;
    friend bool operator==(const Age&, const Age&) = default;
  };
  std::vector<Versions> versions;  // ascending; each is another rule than the next
  std::vector<Age> ages;           // ascending, with timestamps descending: each adds something

  bool empty() const { return versions.empty() && ages.empty(); }
  // The last change of either, or of the number of versions; 0: there was none.
  SequenceNumber last_change() const { return LastChangeUpTo(kMaxSequence); }
  SequenceNumber versions_changed() const { return versions.empty() ? 0 : versions.back().before; }
  // The last change of either that is not after `sequence`; 0: none.
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
  // What was written from here on lost no version to a rule that keeps fewer than `most`.
  SequenceNumber LoosenedBefore(int64_t most) const {
    for (auto rule = versions.rbegin(); rule != versions.rend(); ++rule) {
      if (rule->most < most) return rule->before;
    }
    return 0;
  }
  // Whether a MaxAge of the past has let go what was written then, at that timestamp.
  bool HasExpired(SequenceNumber sequence, int64_t timestamp) const {
    for (const Age& rule : ages) {
      if (sequence < rule.before && timestamp < rule.min_timestamp) return true;
    }
    return false;
  }

  // At `change`, which is later than all before, MaxVersions is not `most` any more.
  void EndVersions(int64_t most, SequenceNumber change) { versions.push_back({change, most}); }
  // At `change`, MaxAge does not let go any more what is before `min_timestamp`.
  void EndAge(int64_t min_timestamp, SequenceNumber change) {
    while (!ages.empty() && ages.back().min_timestamp <= min_timestamp) ages.pop_back();
    ages.push_back({change, min_timestamp});
  }

  friend bool operator==(const PastRules&, const PastRules&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_PAST_RULES_H_
