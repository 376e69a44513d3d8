// Where clients find tablets (section 5.1 of the paper): the locations that they have read from
// METADATA. A location that is unknown or obsolete is looked up again, together with those of the
// next tablets, since a client that needs one often needs the next.
//
// A server that does not have the tablet reports that the location is obsolete: the tablet was
// superseded, or the server has lost its lock. In addition, servers of this process report tablets
// that were superseded, so that the cache does not keep the memory of a tablet that no client uses.
//
// A location is a Tablet in place or, if messages are used, a server name and a service
// (served_table.h). With messages the cache does not ask the server: the client tries the location
// that METADATA has.
#ifndef BIGTABLE_ROUTING_LOCATION_CACHE_H_
#define BIGTABLE_ROUTING_LOCATION_CACHE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "bigtable/statistics.h"

#include "base/call_gate.h"
#include "base/call_limits.h"
#include "base/mutex.h"
#include "cluster/cluster.h"
#include "routing/table_route.h"

namespace bigtable {

// Thread-safe.
class LocationCache {
 public:
  // How many tablets a lookup reads.
  static constexpr size_t kPrefetched = 32;

  // Calls use a table's route only inside `gate`, which outlives this.
  explicit LocationCache(CallGate* gate) : gate_(gate) {}
  LocationCache(const LocationCache&) = delete;
  LocationCache& operator=(const LocationCache&) = delete;

  // Call it before the first lookup. The cluster outlives this, or at least the last call.
  void SetCluster(Cluster* cluster) { cluster_ = cluster; }

  // Call it before the first lookup: tablets are then reached by messages (ServerSet::ServiceOf).
  void SetRemote() { is_remote_ = true; }
  bool is_remote() const { return is_remote_; }

  // The route of a table. It is empty at first.
  std::shared_ptr<TableRoute> RouteOf(uint64_t table_id);
  // Looks in METADATA for the tablet that has `row`, unless the route has it by now. NotFound if
  // METADATA has no such tablet. Unavailable if the tablet is unserved at present. Errors of the
  // limits.
  absl::Status LookUp(TableRoute* route, std::string_view row, const CallLimits& limits);
  // Removes a superseded tablet.
  void Forget(const Tablet& tablet);
  // Deletes the retired tables that no call can still use.
  void DeleteRetired();

  LocationStatistics statistics() const;
  // For tests: how many tables wait to be deleted.
  size_t retired() const {
    MutexLock lock(&mutex_);
    return retired_.size();
  }

 private:
  // A table of a route that was replaced, and the gate's number of advances at that time.
  struct Retired {
    std::shared_ptr<const ServedTable> table;
    uint64_t advances = 0;
  };

  // Replaces the route's tablets for the rows of `tablets`, which are in key order.
  void Put(TableRoute* route, std::vector<ServedTablet> tablets) ABSL_LOCKS_EXCLUDED(mutex_);
  void Replace(TableRoute* route, std::vector<ServedTablet> known)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  CallGate* const gate_;
  Cluster* cluster_ = nullptr;
  bool is_remote_ = false;
  std::atomic<uint64_t> lookups_{0};
  std::atomic<uint64_t> found_{0};
  std::atomic<uint64_t> forgotten_{0};

  mutable Mutex mutex_;
  std::map<uint64_t, std::shared_ptr<TableRoute>> routes_ ABSL_GUARDED_BY(mutex_);
  // Tables that calls may still use, until the gate has advanced twice. From old to new.
  std::vector<Retired> retired_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_LOCATION_CACHE_H_
