// The counters of tablets that were unloaded, kept until the tablet is loaded again, perhaps by
// another server.
#ifndef BIGTABLE_TABLET_INHERITED_COUNTERS_H_
#define BIGTABLE_TABLET_INHERITED_COUNTERS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "base/ref_counted.h"
#include "monitoring/tablet_counters.h"
#include "tablet/tablet.h"
#include "tablet/tablet_id.h"

namespace bigtable {

// Thread-safe.
class InheritedCounters {
 public:
  // The tablet was unloaded.
  void Keep(const Tablet& tablet) {
    ABSL_ASSERT(tablet.flags().superseded() && "nothing more is counted for it");
    MutexLock lock(&mutex_);
    counters_[tablet.id()] = Ref<TabletCounters>(tablet.counters());
  }
  // The tablet was loaded: its counters continue from their old values.
  void PassOn(Tablet* tablet) {
    Ref<TabletCounters> counters;
    {
      MutexLock lock(&mutex_);
      const auto found = counters_.find(tablet->id());
      if (found == counters_.end()) return;
      counters = std::move(found->second);
      counters_.erase(found);
    }
    tablet->counters()->Inherit(*counters);
  }
  // The table was deleted.
  void ForgetTable(uint64_t table_id) {
    MutexLock lock(&mutex_);
    std::erase_if(counters_, [&](const auto& entry) { return entry.first.table_id == table_id; });
  }

 private:
  Mutex mutex_;
  std::map<TabletId, Ref<TabletCounters>> counters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_INHERITED_COUNTERS_H_
