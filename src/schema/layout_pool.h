// Shares one layout among all tablets of a table in a process. Each read of a row needs the layout,
// and if every tablet had a copy, the copies would not fit into the processor's caches.
// Thread-safe.
#ifndef BIGTABLE_SCHEMA_LAYOUT_POOL_H_
#define BIGTABLE_SCHEMA_LAYOUT_POOL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "schema/table_layout.h"

namespace bigtable {

class LayoutPool {
 public:
  LayoutPool() = default;
  LayoutPool(const LayoutPool&) = delete;
  LayoutPool& operator=(const LayoutPool&) = delete;

  // The last layout of the table that was shared, if it is equal and still referred to; otherwise a
  // new one.
  std::shared_ptr<const TableLayout> Share(const TableLayout& layout) {
    MutexLock lock(&mutex_);
    std::weak_ptr<const TableLayout>& last = last_[layout.table_id];
    std::shared_ptr<const TableLayout> shared = last.lock();
    if (shared == nullptr || !(*shared == layout)) {
      // Not make_shared: a weak pointer alone must not keep the layout's memory.
      shared.reset(new TableLayout(layout));
      last = shared;
      if (last_.size() >= sweep_at_) Sweep();
    }
    return shared;
  }

 private:
  static constexpr size_t kLeastSwept = 16;

  // Erases the entries of tables without tablets. Rare enough for a new table to cost the same
  // whatever the number of tables.
  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::erase_if(last_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = 2 * std::max(last_.size(), kLeastSwept);
  }

  Mutex mutex_;
  std::map<uint64_t, std::weak_ptr<const TableLayout>> last_ ABSL_GUARDED_BY(mutex_);
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 2 * kLeastSwept;
};

}  // namespace bigtable

#endif  // BIGTABLE_SCHEMA_LAYOUT_POOL_H_
