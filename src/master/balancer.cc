#include "master/balancer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/base/macros.h"

namespace bigtable {
namespace {

// Servers whose difference is less than this part of the average load are left alone. A move costs
// two minor compactions, and writers wait meanwhile.
constexpr double kTolerated = 0.25;
// The largest part of the difference that a move may leave.
constexpr double kMostLeft = 0.8;

}  // namespace

std::optional<Balancer::Move> Balancer::ChooseMove(const std::vector<TabletLoad>& tablets,
                                                   size_t servers, SteadyTime now) {
  const bool is_first = !last_.has_value();
  const double seconds = is_first ? 0 : absl::ToDoubleSeconds(now - *last_);
  if (!is_first && seconds <= 0) return std::nullopt;
  last_ = now;
  std::map<TabletId, Seen> seen;
  double bytes = 0;
  double busy = 0;
  for (const TabletLoad& tablet : tablets) {
    Seen& of_tablet = seen[tablet.id];
    of_tablet.call_time = tablet.call_time;
    const auto before = seen_.find(tablet.id);
    if (before != seen_.end() && !is_first) {
      // A tablet that has moved, or was split, counts from zero.
      const absl::Duration since = tablet.call_time >= before->second.call_time
                                       ? tablet.call_time - before->second.call_time
                                       : tablet.call_time;
      of_tablet.busy = (before->second.busy + absl::ToDoubleSeconds(since) / seconds) / 2;
    }
    bytes += static_cast<double>(tablet.bytes);
    busy += of_tablet.busy;
  }
  seen_ = std::move(seen);
  if (is_first || servers < 2) return std::nullopt;

  const double all_bytes = std::max(bytes, static_cast<double>(kLeastBytes));
  const double all_busy = std::max(busy, kLeastBusy);
  std::vector<double> weights;
  std::vector<double> loads(servers, 0);
  for (const TabletLoad& tablet : tablets) {
    weights.push_back(static_cast<double>(tablet.bytes) / all_bytes +
                      seen_[tablet.id].busy / all_busy);
    ABSL_ASSERT(tablet.server < servers && "every tablet is on one of the servers");
    loads[tablet.server] += weights.back();
  }
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  const double gap = *most - *least;
  if (gap <= kTolerated * 2 / static_cast<double>(servers)) return std::nullopt;
  const auto from = static_cast<size_t>(most - loads.begin());
  std::optional<Move> best;
  double best_left = kMostLeft * gap;
  for (size_t i = 0; i < tablets.size(); ++i) {
    if (tablets[i].server != from) continue;
    const double left = std::abs(gap - 2 * weights[i]);
    if (left > best_left) continue;
    best_left = left;
    best = Move{i, static_cast<size_t>(least - loads.begin())};
  }
  return best;
}

}  // namespace bigtable
