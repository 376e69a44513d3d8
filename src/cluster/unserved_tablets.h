// The tablets that no server serves because loading them has failed, and the reasons, for callers
// that wait for one and for statistics. The master retries after growing pauses.
#ifndef BIGTABLE_CLUSTER_UNSERVED_TABLETS_H_
#define BIGTABLE_CLUSTER_UNSERVED_TABLETS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/statistics.h"

#include "base/mutex.h"
#include "tablet/tablet_id.h"

namespace bigtable {

// Thread-safe.
class UnservedTablets {
 public:
  // How long a call waits for a tablet whose loading fails repeatedly, unless it has an earlier
  // deadline.
  static constexpr absl::Duration kWaitLimit = absl::Seconds(5);

  // Loading the tablet has failed again.
  void RecordFailure(const TabletId& id, std::string_view table, std::string_view begin_row,
                     const absl::Status& status);
  // The tablet is served, or no longer exists.
  void Forget(const TabletId& id);
  void ForgetTable(uint64_t table_id);
  // All tablets but these are served, or no longer exist: a server may have loaded one although its
  // answer was lost.
  void ForgetAllBut(const std::set<TabletId>& ids);
  // The error that prevents the search for unserved users' tablets. OK: there is no error, and all
  // tablets known here are served.
  void RecordAssignment(const absl::Status& status);

  // For a call that found no server for the row: Unavailable, with the row and the reason, if one
  // is known. `*is_over`: callers must not wait any longer.
  absl::Status Why(uint64_t table_id, std::string_view row, bool* is_over) const;
  // The same for a call that has ended meanwhile with the error `ended`: if that is
  // DeadlineExceeded, the reason is added.
  absl::Status Explain(const absl::Status& ended, uint64_t table_id, std::string_view row) const;
  std::vector<UnservedTablet> List() const;

 private:
  struct FailedLoads {
    UnservedTablet tablet;
    int64_t begin = 0;  // as NowNanos

    void Add(const absl::Status& status);
  };

  mutable Mutex mutex_;
  std::map<TabletId, FailedLoads> tablets_ ABSL_GUARDED_BY(mutex_);
  FailedLoads assignment_ ABSL_GUARDED_BY(mutex_);  // its status is OK if there is none
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_UNSERVED_TABLETS_H_
