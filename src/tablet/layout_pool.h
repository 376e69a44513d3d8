// The layouts of tables, once for all tablets of a table in a process: a read of one row looks at
// the layout, and with many tablets each copy would have to come from memory. Thread-safe.
#ifndef BIGTABLE_TABLET_LAYOUT_POOL_H_
#define BIGTABLE_TABLET_LAYOUT_POOL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "tablet/table_layout.h"

namespace bigtable {

class LayoutPool {
 public:
  LayoutPool() = default;
  LayoutPool(const LayoutPool&) = delete;
  LayoutPool& operator=(const LayoutPool&) = delete;

  // The one that is equal and was the last of its table to be shared, if somebody has it; or a new
  // one.
  std::shared_ptr<const TableLayout> Share(const TableLayout& layout) {
    MutexLock lock(&mutex_);
    std::weak_ptr<const TableLayout>& last = last_[layout.table_id];
    std::shared_ptr<const TableLayout> shared = last.lock();
    if (shared == nullptr || !(*shared == layout)) {
      // Not make_shared: who has the weak pointer alone keeps no layout's memory.
      shared.reset(new TableLayout(layout));
      last = shared;
      // Those of tables that are gone.
      std::erase_if(last_, [](const auto& entry) { return entry.second.expired(); });
    }
    return shared;
  }

 private:
  Mutex mutex_;
  std::map<uint64_t, std::weak_ptr<const TableLayout>> last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_LAYOUT_POOL_H_
