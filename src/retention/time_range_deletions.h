// The deletions of time ranges of one column. One thread at a time; reusable.
//
// The timestamps of a column come from new to old, and so do the questions to this class. Deletions
// begin to cover timestamps, and cease to, in that order too: so each is added to the current ones
// once, and removed once, and a question costs a search among those that cover its timestamp. A
// question about a newer timestamp than the last one starts over.
#ifndef BIGTABLE_RETENTION_TIME_RANGE_DELETIONS_H_
#define BIGTABLE_RETENTION_TIME_RANGE_DELETIONS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"

#include "base/sequence.h"
#include "base/time_range.h"

namespace bigtable {

class TimeRangeDeletions {
 public:
  bool empty() const { return all_.empty(); }
  void Clear();
  void Add(const TimeRange& range, EntryVersion version);

  // The last deletion of the timestamp; EntryVersion() if there is none.
  EntryVersion NewestAt(int64_t timestamp);
  // The first deletion of the timestamp that is later than `version`; null if there is none. Valid
  // until the next call.
  const EntryVersion* FirstAfter(EntryVersion version, int64_t timestamp);

 private:
  struct Deletion {
    TimeRange range;
    EntryVersion version;
  };

  void StartOver();
  void MoveTo(int64_t timestamp);

  std::vector<Deletion> all_;  // once a question was asked, by their ends, from new to old
  bool is_sorted_ = false;
  int64_t at_ = std::numeric_limits<int64_t>::max();  // of the last question
  size_t next_ = 0;                                   // those before have ends after at_
  absl::btree_set<EntryVersion> current_;
  std::vector<std::pair<int64_t, EntryVersion>> begins_;  // of the current ones: a heap
};

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_TIME_RANGE_DELETIONS_H_
