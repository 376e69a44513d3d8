// Chooses the tablet to move, and its destination, so that servers have about the same amount of
// data and work (section 5.1 of the paper: the master balances the servers' load).
//
// The weight of a tablet is its part of the bytes of all tablets plus its part of the time that
// calls have spent in all tablets. So the weights of a database add up to at most two. Both sums
// have a minimum, so that a database with little data or little work stays as it is.
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
  // The minimum of the call time, on all threads together, as a part of the time between two looks.
  static constexpr double kLeastBusy = 0.05;

  struct Move {
    size_t tablet;  // the index of the tablet in `tablets`
    size_t to;      // the server
  };

  // Looks at all tablets. Each has a server below `servers`. Returns nothing if no move is worth
  // its cost, and at the first look, because call time is the difference between two looks. Moves
  // from the server with the most load to the one with the least, and only if the move reduces the
  // difference between the two by at least a fifth. So as long as nothing changes, the moves come
  // to an end.
  std::optional<Move> ChooseMove(const std::vector<TabletLoad>& tablets, size_t servers,
                                 SteadyTime now);

 private:
  struct Seen {
    absl::Duration call_time;
    double busy = 0;  // call time in each second; earlier looks count half
  };

  std::optional<SteadyTime> last_;
  std::map<TabletId, Seen> seen_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_BALANCER_H_
