// What a compaction must know to drop entries: the families with their rules, and the reads that
// may still come. Plain value.
#ifndef BIGTABLE_RETENTION_RETENTION_H_
#define BIGTABLE_RETENTION_RETENTION_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/compaction_filter.h"

#include "base/sequence.h"
#include "retention/aggregates.h"
#include "retention/past_rules.h"

namespace bigtable {

struct RetainedFamily {
  std::string name;
  // Entries that were written before belong to an earlier family of this name, and are dropped.
  SequenceNumber created = 0;
  VersionLimits versions;
  // Cells with smaller timestamps are past their age limit.
  int64_t min_timestamp = std::numeric_limits<int64_t>::min();
  PastRules past = {};
  const Aggregate* aggregate = nullptr;  // null: it holds bytes
  const CompactionFilter* filter = nullptr;

  // Whether there is, or was, a limit to the number of versions.
  bool counts_versions() const { return versions.any() || !past.versions.empty(); }
};

struct Retention {
  std::vector<RetainedFamily> families;  // by name; entries of other families are dropped
  // The sequence numbers of the snapshots, ascending. The present can always be read, too.
  std::vector<SequenceNumber> snapshots;
  // Everything that the compaction reads was visible when it began.
  SequenceNumber present = kMaxSequence;
  // Of the rows that the compaction reads, it reads everything that was written up to this number;
  // entries that it does not read were written later. 0: unknown.
  SequenceNumber complete_through = 0;
  // As of when the rules are applied, now or at the oldest snapshot.
  absl::Time rules_as_of = absl::InfinitePast();
  // What filters are told. They are not applied while a user's snapshot sees what they would
  // change.
  absl::Time now = absl::InfinitePast();
  bool defers_filters = false;
  // Whether the compaction leaves an entry of the column with an older timestamp unread, because it
  // was written later than everything that is read. Null: there is none.
  std::function<bool(std::string_view column_prefix, int64_t timestamp)> has_unread_older = nullptr;
  // A rule is being changed. Nothing is collected before it is clear which rule applies to which
  // entries.
  bool held = false;

  const RetainedFamily* Find(std::string_view name) const {
    const auto family =
        std::lower_bound(families.begin(), families.end(), name,
                         [](const RetainedFamily& f, std::string_view n) { return f.name < n; });
    return family != families.end() && family->name == name ? &*family : nullptr;
  }
  // Whether a snapshot is in [from, to).
  bool SeenBetween(SequenceNumber from, SequenceNumber to) const {
    const auto snapshot = std::lower_bound(snapshots.begin(), snapshots.end(), from);
    return snapshot != snapshots.end() && *snapshot < to;
  }
  // Entries up to this number look the same to all reads that may still come.
  SequenceNumber horizon() const { return snapshots.empty() ? present : snapshots.front(); }
};

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_RETENTION_H_
