// The compactions that run in a database, each with its reach, and the locality groups for which a
// call waits until none runs. The lock of the background work guards it.
#ifndef BIGTABLE_BACKGROUND_RUNNING_COMPACTIONS_H_
#define BIGTABLE_BACKGROUND_RUNNING_COMPACTIONS_H_

#include <cstddef>
#include <list>
#include <set>
#include <utility>
#include <vector>

#include "background/compaction_plan.h"
#include "tablet/tablet.h"

namespace bigtable {

class RunningCompactions {
 public:
  // A locality group of a tablet.
  using Group = std::pair<const Tablet*, size_t>;
  // One that runs; valid until its end.
  using Handle = std::list<std::pair<Group, CompactionReach>>::iterator;

  // Its reach is apart from all others of its group.
  Handle Begin(const Group& group, const CompactionReach& reach);
  void End(Handle handle) { running_.erase(handle); }

  bool IsEmpty() const { return running_.empty(); }
  // None runs, and no call waits to begin one.
  bool IsIdle() const { return running_.empty() && awaited_.empty(); }
  bool HasTablet(const Tablet* tablet) const;
  // The reaches of a group's compactions.
  std::vector<CompactionReach> Of(const Group& group) const;

  // Between these none should begin for the group, as a call waits for those that run.
  void BeginWait(const Group& group) { awaited_.insert(group); }
  void EndWait(const Group& group) { awaited_.erase(awaited_.find(group)); }
  bool IsAwaited(const Group& group) const { return awaited_.contains(group); }

 private:
  std::list<std::pair<Group, CompactionReach>> running_;
  std::multiset<Group> awaited_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKGROUND_RUNNING_COMPACTIONS_H_
