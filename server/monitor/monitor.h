// What is known of a server's calls and of its database beyond the database's own statistics: for
// the status page and the metrics.
//
// The engine has the event log and the slow requests, and the calls have the counters and the
// sampler, so a monitor outlives the database and all calls.
#ifndef BIGTABLE_SERVER_MONITOR_MONITOR_H_
#define BIGTABLE_SERVER_MONITOR_MONITOR_H_

#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/time/time.h"

#include "bigtable/database.h"

#include "server/monitor/call_counters.h"
#include "server/monitor/call_history.h"
#include "server/monitor/event_log.h"
#include "server/monitor/heat_map.h"
#include "server/monitor/row_sampler.h"
#include "server/monitor/slow_requests.h"

namespace bigtable::server {

// Thread-safe, as its parts are.
class Monitor {
 public:
  Monitor();
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // Begins to look at things every second, with a thread of its own.
  void Start(Database* database);
  // Ends that. The database may be closed then.
  void Stop();

  absl::Time began() const { return began_; }
  CallCounters* calls() { return &calls_; }
  RowSampler* rows() { return &rows_; }
  EventLog* events() { return &events_; }
  SlowRequests* slow_requests() { return &slow_requests_; }
  const CallCounters& calls() const { return calls_; }
  const CallHistory& history() const { return history_; }
  const HeatMap& heat_map() const { return heat_map_; }
  const RowSampler& rows() const { return rows_; }
  const EventLog& events() const { return events_; }
  const SlowRequests& slow_requests() const { return slow_requests_; }

 private:
  void Run(Database* database);
  void UpdateTablets(Database* database);
  void UpdateSizes(Database* database);

  const absl::Time began_;
  CallCounters calls_;
  CallHistory history_{&calls_};
  HeatMap heat_map_;
  RowSampler rows_{&heat_map_};
  EventLog events_;
  SlowRequests slow_requests_;

  std::mutex mutex_;
  std::condition_variable ends_changed_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_MONITOR_H_
