#include "routing/location_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

bool IsStale(const ServedTablet& served) {
  if (served.remote != nullptr) return served.remote->is_stale;
  return served.tablet == nullptr || served.tablet->flags().superseded() ||
         !served.path->is_serving();
}

bool IsSame(const ServedTablet& known, const ServedTablet& found) {
  if (found.remote == nullptr) return known.tablet == found.tablet;
  return known.remote != nullptr && !known.remote->is_stale &&
         known.remote->server == found.remote->server && known.rows() == found.rows();
}

bool Overlap(const RowRange& a, const RowRange& b) {
  return (!a.end().has_value() || b.begin() < *a.end()) &&
         (!b.end().has_value() || a.begin() < *b.end());
}

}  // namespace

std::shared_ptr<TableRoute> LocationCache::RouteOf(uint64_t table_id) {
  MutexLock lock(&mutex_);
  std::shared_ptr<TableRoute>& route = routes_[table_id];
  if (route == nullptr) {
    route = std::make_shared<TableRoute>(
        table_id, std::make_shared<const ServedTable>(std::vector<ServedTablet>()));
  }
  return route;
}

absl::Status LocationCache::LookUp(TableRoute* route, std::string_view row,
                                   const CallLimits& limits) {
  {
    const std::shared_ptr<const ServedTable> table = route->Share();
    const ServedTablet& served = table->tablets()[table->Find(row)];
    if (!IsStale(served)) {
      // Another call was faster, or the tablet refuses writes until it has moved.
      if (served.remote != nullptr || !served.tablet->flags().stopped()) return absl::OkStatus();
      return absl::UnavailableError(Cat("the tablet with row ", Quoted(row), " is about to move"));
    }
  }
  lookups_.fetch_add(1, std::memory_order_relaxed);
  BT_ASSIGN_OR_RETURN(const std::vector<TabletLocation> locations,
                      cluster_->metadata()->table()->FindTablets(route->table_id(), row,
                                                                 kPrefetched, false, limits));
  std::vector<ServedTablet> served;
  bool is_found = false;
  for (const TabletLocation& location : locations) {
    const std::shared_ptr<ServerHost> host = cluster_->servers()->Find(location.server);
    if (host == nullptr) continue;
    if (is_remote()) {
      auto remote = std::make_shared<RemoteTablet>();
      remote->rows = location.rows;
      remote->server = location.server;
      remote->service = cluster_->servers()->ServiceOf(host.get());
      is_found |= remote->rows.Contains(row);
      served.push_back({.remote = std::move(remote)});
      continue;
    }
    const DataPath* const path = host->data_path();
    if (!path->is_serving()) continue;
    // METADATA's answer may be obsolete by now, or not yet true.
    std::shared_ptr<Tablet> tablet = path->FindTablet(route->table_id(), location.rows.begin());
    if (tablet == nullptr || !(tablet->rows() == location.rows)) continue;
    is_found |= tablet->rows().Contains(row);
    served.push_back({std::move(tablet), path});
  }
  found_.fetch_add(served.size(), std::memory_order_relaxed);
  Put(route, served);
  // A tablet is marked as superseded before Forget is called for it. So either this check finds the
  // mark, or Forget finds the tablet in the route.
  for (const ServedTablet& tablet : served) {
    if (tablet.tablet != nullptr && tablet.tablet->flags().superseded()) Forget(*tablet.tablet);
  }
  DeleteRetired();
  if (is_found) return absl::OkStatus();
  return absl::UnavailableError(
      Cat("the tablet with row ", Quoted(row), " is not served at the moment"));
}

void LocationCache::Put(TableRoute* route, std::vector<ServedTablet> tablets) {
  MutexLock lock(&mutex_);
  const std::shared_ptr<const ServedTable> before = route->Share();
  // A call that waits for an unserved tablet finds the same neighbours repeatedly.
  std::erase_if(tablets, [&](const ServedTablet& tablet) {
    return IsSame(before->tablets()[before->Find(tablet.rows().begin())], tablet);
  });
  if (tablets.empty()) return;
  std::vector<ServedTablet> known = tablets;
  for (const ServedTablet& old : before->tablets()) {
    if (!old.is_known()) continue;
    const bool is_replaced =
        std::any_of(tablets.begin(), tablets.end(),
                    [&](const ServedTablet& tablet) { return Overlap(tablet.rows(), old.rows()); });
    if (!is_replaced) known.push_back(old);
  }
  std::sort(known.begin(), known.end(), [](const ServedTablet& a, const ServedTablet& b) {
    return a.rows().begin() < b.rows().begin();
  });
  Replace(route, std::move(known));
}

void LocationCache::Forget(const Tablet& tablet) {
  MutexLock lock(&mutex_);
  const auto found = routes_.find(tablet.table_id());
  if (found == routes_.end()) return;
  std::vector<ServedTablet> known;
  bool is_known = false;
  for (const ServedTablet& served : found->second->Share()->tablets()) {
    if (served.tablet.get() == &tablet) {
      is_known = true;
    } else if (served.is_known()) {
      known.push_back(served);
    }
  }
  if (!is_known) return;
  forgotten_.fetch_add(1, std::memory_order_relaxed);
  Replace(found->second.get(), std::move(known));
}

void LocationCache::Replace(TableRoute* route, std::vector<ServedTablet> known) {
  std::shared_ptr<const ServedTable> before =
      route->Replace(std::make_shared<const ServedTable>(std::move(known)));
  retired_.push_back({std::move(before), gate_->advances()});
}

void LocationCache::DeleteRetired() {
  std::vector<Retired> unused;  // deleted after the lock is released
  MutexLock lock(&mutex_);
  if (retired_.empty()) return;
  gate_->TryAdvance();
  const uint64_t advances = gate_->advances();
  const auto kept = std::find_if(retired_.begin(), retired_.end(), [&](const Retired& retired) {
    return retired.advances + 2 > advances;
  });
  std::move(retired_.begin(), kept, std::back_inserter(unused));
  retired_.erase(retired_.begin(), kept);
}

LocationStatistics LocationCache::statistics() const {
  LocationStatistics statistics;
  statistics.lookups = lookups_.load(std::memory_order_relaxed);
  statistics.found = found_.load(std::memory_order_relaxed);
  statistics.forgotten = forgotten_.load(std::memory_order_relaxed);
  return statistics;
}

}  // namespace bigtable
