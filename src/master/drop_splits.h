// The splits that were made for Table::DropRowRange, so that the range consists of whole tablets.
// Once the rows are dropped, the tablets on both sides of such a row can be one again. Otherwise
// each dropped range would leave two more tablets. Upkeep merges them after some time, because the
// tablet beside the range may have to be compacted for it.
//
// They are in memory only: those that an earlier master has made stay.
//
// Thread-safe.
#ifndef BIGTABLE_MASTER_DROP_SPLITS_H_
#define BIGTABLE_MASTER_DROP_SPLITS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

#include "base/mutex.h"
#include "base/steady_time.h"

namespace bigtable {

class DropSplits {
 public:
  struct Split {
    uint64_t table_id = 0;
    std::string row;  // with which a tablet begins since
    SteadyTime at;
  };

  void Add(uint64_t table_id, std::string_view row) {
    MutexLock lock(&mutex_);
    splits_.push_back({table_id, std::string(row), SteadyTime::Now()});
  }
  // A caller requires that a tablet begins with the row: the split stays.
  void Keep(uint64_t table_id, std::string_view row) {
    MutexLock lock(&mutex_);
    std::erase_if(splits_, [&](const Split& split) {
      return split.table_id == table_id && split.row == row;
    });
  }
  // Takes the oldest, at most `most`, that were made `age` ago or before.
  std::vector<Split> Take(absl::Duration age, size_t most) {
    const SteadyTime now = SteadyTime::Now();
    std::vector<Split> taken;
    MutexLock lock(&mutex_);
    while (!splits_.empty() && taken.size() < most && now - splits_.front().at >= age) {
      taken.push_back(std::move(splits_.front()));
      splits_.pop_front();
    }
    return taken;
  }

 private:
  Mutex mutex_;
  std::deque<Split> splits_ ABSL_GUARDED_BY(mutex_);  // by time
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_DROP_SPLITS_H_
