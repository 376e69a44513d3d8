// Where clients find tablets (section 5.1 of the paper): what METADATA said when they last looked.
// What is not known, or not true any more, is looked up there again, with the tablets behind it,
// since whoever wants one often wants the next.
//
// A location that is not true any more is noticed by the server, which does not have the tablet: it
// has moved, was split or merged, or the server has lost its lock. Besides, servers of this process
// say which tablets they have no more, so that nobody keeps the memory of one that nobody asks for.
//
// A tablet is a Tablet in place, or, if messages are to be sent, a name and a service
// (remote_tablet.h). Then nothing is asked of a server here: what METADATA says is tried.
#ifndef BIGTABLE_CLIENT_LOCATION_CACHE_H_
#define BIGTABLE_CLIENT_LOCATION_CACHE_H_

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
#include "base/mutex.h"
#include "client/table_route.h"
#include "cluster/cluster.h"

namespace bigtable {

// Thread-safe.
class LocationCache {
 public:
  // Tablets that are looked up at a time.
  static constexpr size_t kPrefetched = 32;

  // Calls look at a table's route only inside `gate`, which outlives this.
  explicit LocationCache(CallGate* gate) : gate_(gate) {}
  LocationCache(const LocationCache&) = delete;
  LocationCache& operator=(const LocationCache&) = delete;

  // Before anything is looked up; it outlives this, or at least the last call.
  void SetCluster(Cluster* cluster) { cluster_ = cluster; }

  // Before anything is looked up: tablets are reached by messages (Cluster::ServiceOf).
  void SetRemote() { is_remote_ = true; }
  bool is_remote() const { return is_remote_; }

  // The route of a table; nothing is known in the beginning.
  std::shared_ptr<TableRoute> RouteOf(uint64_t table_id);
  // Looks in METADATA for the tablet that has `row`, unless the route has it by now. NotFound if
  // METADATA has none. Unavailable if nobody serves it at the moment.
  absl::Status LookUp(TableRoute* route, std::string_view row);
  // A tablet that was, and is no more what it was.
  void Forget(const Tablet& tablet);
  // Deletes what no call can look at any more.
  void DeleteRetired();

  LocationStatistics statistics() const;
  // For tests: how many wait to be deleted.
  size_t retired() const {
    MutexLock lock(&mutex_);
    return retired_.size();
  }

 private:
  // A route's table that was replaced, and when, in advances of the gate.
  struct Retired {
    std::shared_ptr<const ServedTable> table;
    uint64_t advances = 0;
  };

  // Puts tablets, in key order, in the place of what the route has for their rows.
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
  // What calls may still look at: until the gate has advanced twice since. From old to new.
  std::vector<Retired> retired_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_LOCATION_CACHE_H_
