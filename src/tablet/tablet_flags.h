// What a tablet still accepts: writes, reads, compactions. Each flag but `stopped` is set once.
//
//   stopped     no more writes; reads go on
//   superseded  other tablets, or another server, serve the rows: no more writes and no new reads
//   removed     the table was deleted: no more writes and no new reads, and compactions end early
//
// Any thread may call everything here.
#ifndef BIGTABLE_TABLET_TABLET_FLAGS_H_
#define BIGTABLE_TABLET_TABLET_FLAGS_H_

#include <atomic>

#include "absl/base/macros.h"

namespace bigtable {

class TabletFlags {
 public:
  TabletFlags() = default;
  TabletFlags(const TabletFlags&) = delete;
  TabletFlags& operator=(const TabletFlags&) = delete;

  // Set in a turn among the writes, so that everything can be flushed before the tablet is served
  // elsewhere. Cleared if it is not served elsewhere after all.
  void SetStopped(bool stopped) {
    ABSL_ASSERT((stopped || !superseded()) && "what is served elsewhere is never written to again");
    stopped_.store(stopped, std::memory_order_release);
  }
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }

  // Set before any other tablet or server can be written to for these rows. So if a reader pins a
  // version, and then finds that the tablet is not superseded, the version was the latest.
  void MarkSuperseded() { superseded_.store(true, std::memory_order_release); }
  bool superseded() const { return superseded_.load(std::memory_order_acquire); }

  void MarkRemoved() { removed_.store(true, std::memory_order_release); }
  bool removed() const { return removed_.load(std::memory_order_acquire); }
  // For a compaction, which looks at it now and then. Lives as long as the tablet.
  const std::atomic<bool>* removed_flag() const { return &removed_; }

  bool ended() const { return removed() || superseded(); }

 private:
  std::atomic<bool> removed_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> superseded_{false};
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_FLAGS_H_
