// The upkeep thread of a master. It splits tablets that are too large and merges small ones
// according to the tables' rules, moves tablets from busy servers to others, forgets the tablets of
// deleted tables when the work on them has ended, sweeps files, and notices when writers are no
// longer throttled.
#ifndef BIGTABLE_MASTER_UPKEEP_H_
#define BIGTABLE_MASTER_UPKEEP_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "bigtable/schema.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "cluster/live_options.h"
#include "master/balancer.h"
#include "master/drop_splits.h"
#include "master/master_context.h"
#include "master/sweep.h"
#include "master/table_catalogue.h"
#include "master/table_changes.h"
#include "master/tablet_changes.h"
#include "tablet/tablet.h"
#include "tablet/tablet_id.h"

namespace bigtable {

// Thread-safe, except for Start and Join.
class Upkeep {
 public:
  // All outlive this.
  Upkeep(MasterContext* context, const LiveOptions* live, TableCatalogue* catalogue,
         TableChanges* tables, TabletChanges* tablets, Sweeper* sweeper)
      : context_(context),
        live_(live),
        catalogue_(catalogue),
        tables_(tables),
        tablets_(tablets),
        sweeper_(sweeper) {}
  Upkeep(const Upkeep&) = delete;
  Upkeep& operator=(const Upkeep&) = delete;

  absl::Status Start();
  // Waits for the thread, after MasterContext::is_stopping was set and Wake() was called.
  void Join();
  // Wakes the thread, because there may be work for it.
  void Wake();
  // Makes the splits and merges that the tables' rules require. Returns whether there was one. No
  // split or merge waits longer than half a minute for unserved tablets.
  bool ChangeTablets(const CallLimits& limits);
  // Merges the tablets beside rows at which tablets were split to drop rows, `age` ago or before,
  // unless they have grown too large for one. A tablet whose files still have the dropped rows is
  // compacted for it. Returns whether there was one; does some of them at a time.
  bool UndoDropSplits(absl::Duration age, const CallLimits& limits);

 private:
  void Loop();
  // Those that the tables' rules do not keep.
  void DropOldChanges();
  bool SplitLarge(const TableLayout& layout, const CallLimits& limits);
  // METADATA's tablets.
  bool SplitLargeMetadata(const CallLimits& limits);
  bool MergeSmall(const TableLayout& layout, const CallLimits& limits);
  // A merge may have to compact a tablet, so there is none while compactions are stopped.
  bool MayMerge() const;
  absl::Status Merge(std::string_view table, std::string_view row, const CallLimits& limits);
  // Whether the tablets on both sides of the row can be merged; then `*table` is their table.
  bool CanUndo(const DropSplits::Split& split, std::string* table) const;
  // The row at which to split a tablet that is too large. Nothing if it cannot be split.
  std::optional<std::string> RowToSplitAt(const SplitRule& rule, const Tablet& tablet);
  // Moves a tablet from the most loaded server to the least loaded, if that is worth the cost.
  void Balance();
  // Whether failures no longer matter, because the master ends.
  bool IsOver() const { return context_->IsStopping() || !context_->active(); }

  MasterContext* const context_;
  const LiveOptions* const live_;
  TableCatalogue* const catalogue_;
  TableChanges* const tables_;
  TabletChanges* const tablets_;
  Sweeper* const sweeper_;
  Balancer balancer_;  // used by the thread only
  // Merges by rule were left out or refused, since compactions were stopped.
  std::atomic<bool> merges_wait_{false};

  mutable Mutex mutex_;
  CondVar changed_;
  bool due_ ABSL_GUARDED_BY(mutex_) = false;
  // Tablets that are too large and cannot be split, with their bytes when that was found.
  std::map<TabletId, uint64_t> unsplittable_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_UPKEEP_H_
