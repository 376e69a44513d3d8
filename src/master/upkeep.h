// The thread on which a master splits tablets that have become too large and merges small ones, as
// the tables' rules ask for, moves tablets from busy servers to others, sweeps files, and notices
// that writers are slowed no more.
#ifndef BIGTABLE_MASTER_UPKEEP_H_
#define BIGTABLE_MASTER_UPKEEP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "bigtable/schema.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "master/balancer.h"
#include "master/master_context.h"
#include "master/sweep.h"
#include "master/table_catalogue.h"
#include "master/tablet_changes.h"
#include "tablet/tablet.h"
#include "tablet/tablet_id.h"

namespace bigtable {

// Thread-safe, but for Start and Join.
class Upkeep {
 public:
  // All outlive this.
  Upkeep(MasterContext* context, TableCatalogue* catalogue, TabletChanges* tablets,
         Sweeper* sweeper)
      : context_(context), catalogue_(catalogue), tablets_(tablets), sweeper_(sweeper) {}
  Upkeep(const Upkeep&) = delete;
  Upkeep& operator=(const Upkeep&) = delete;

  absl::Status Start();
  // After MasterContext::is_stopping was set and Wake() called: waits for the thread.
  void Join();
  // There may be something to do.
  void Wake();
  // Splits and merges what the tables' rules ask for; says whether there was anything. No split or
  // merge waits longer than half a minute for tablets that are not served.
  bool ChangeTablets(const CallLimits& limits);

 private:
  void Loop();
  bool SplitLarge(const TableLayout& layout, const CallLimits& limits);
  // METADATA's.
  bool SplitLargeMetadata(const CallLimits& limits);
  bool MergeSmall(const TableLayout& layout, const CallLimits& limits);
  // Where a tablet that is too large is to be split, if it can be.
  std::optional<std::string> RowToSplitAt(const SplitRule& rule, const Tablet& tablet);
  // Moves a tablet from the server with most to do to the one with least, if that is worth it.
  void Balance();
  // Whether nothing that failed matters any more.
  bool IsOver() const { return context_->IsStopping() || !context_->active(); }

  MasterContext* const context_;
  TableCatalogue* const catalogue_;
  TabletChanges* const tablets_;
  Sweeper* const sweeper_;
  Balancer balancer_;  // the thread's

  mutable Mutex mutex_;
  CondVar changed_;
  bool due_ ABSL_GUARDED_BY(mutex_) = false;
  // Of the tablets that are too large and cannot be split: their bytes when that was found.
  std::map<TabletId, uint64_t> unsplittable_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_UPKEEP_H_
