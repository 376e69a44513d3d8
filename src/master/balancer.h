// Which tablet is to move where, so that servers have about as much to keep and to do as one
// another (section 5.1 of the paper: the master balances the servers' load).
//
// What a tablet weighs is its part of the bytes of all tablets plus its part of the time that calls
// have spent in all of them, so two at most for the whole database. Parts are taken of a certain
// least amount, so that a database in which there is little, or little happens, stays as it is.
#ifndef BIGTABLE_MASTER_BALANCER_H_
#define BIGTABLE_MASTER_BALANCER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"

#include "base/steady_time.h"
#include "tablet/tablet_id.h"

namespace bigtable {

struct TabletLoad {
  TabletId id;
  size_t server = 0;
  uint64_t bytes = 0;        // on disk
  absl::Duration call_time;  // of all calls since it was loaded
};

// One thread at a time.
class Balancer {
 public:
  static constexpr uint64_t kLeastBytes = uint64_t{1} << 30;
  // Of the time between two looks: what calls take together, on all threads.
  static constexpr double kLeastBusy = 0.05;

  struct Move {
    size_t tablet;  // the place of the tablet in `tablets`
    size_t to;      // the server
  };

  // Looks at all tablets, of which each has a server below `servers`. Nothing if no move is worth
  // it, and at the first look: what is going on shows only at the second. Moves from the server
  // with most to the one with least, and only what brings the two closer together by a fifth of
  // what is between them: as long as nothing changes, there is an end to it.
  std::optional<Move> Look(const std::vector<TabletLoad>& tablets, size_t servers, SteadyTime now);

 private:
  struct Seen {
    absl::Duration call_time;
    double busy = 0;  // call time in each second, half of it from the looks before the last
  };

  std::optional<SteadyTime> last_;
  std::map<TabletId, Seen> seen_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_BALANCER_H_
