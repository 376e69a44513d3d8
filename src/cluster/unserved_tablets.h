// The tablets that nobody serves because loading them has failed, and why: for those who wait for
// one, and for statistics. The master tries again after pauses that grow.
#ifndef BIGTABLE_CLUSTER_UNSERVED_TABLETS_H_
#define BIGTABLE_CLUSTER_UNSERVED_TABLETS_H_

#include <cstdint>
#include <map>
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
  // How long a call waits for a tablet whose loading fails again and again, unless it has an
  // earlier deadline.
  static constexpr absl::Duration kWaitLimit = absl::Seconds(5);

  // Loading the tablet has failed once more.
  void NoteFailure(const TabletId& id, std::string_view table, std::string_view begin_row,
                   const absl::Status& status);
  // It is served, or is no more.
  void Forget(const TabletId& id);
  void ForgetTable(uint64_t table_id);
  // What keeps users' tablets that nobody serves from being looked for at all; OK: nothing, and all
  // are served that are known here.
  void NoteAssignment(const absl::Status& status);

  // For a call that has found nobody to serve the row: Unavailable, with the row and the reason, as
  // far as there is one. `*is_over`: nobody should wait any longer.
  absl::Status Why(uint64_t table_id, std::string_view row, bool* is_over) const;
  // The same for a call that has ended meanwhile with this error: with the reason added, if it is
  // that the call's time was up.
  absl::Status Explain(const absl::Status& ended, uint64_t table_id, std::string_view row) const;
  std::vector<UnservedTablet> List() const;

 private:
  struct Trouble {
    UnservedTablet tablet;
    int64_t begin = 0;  // as NowNanos

    void Add(const absl::Status& status);
  };

  mutable Mutex mutex_;
  std::map<TabletId, Trouble> tablets_ ABSL_GUARDED_BY(mutex_);
  Trouble assignment_ ABSL_GUARDED_BY(mutex_);  // OK: there is none
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_UNSERVED_TABLETS_H_
