#include "server/count_reports.h"

#include <cstddef>
#include <utility>

namespace bigtable::server {

CountReports::CountReports(std::vector<Counters> counters, std::chrono::milliseconds look,
                           std::chrono::milliseconds interval)
    : look_(look), interval_(interval) {
  for (Counters& each : counters) {
    Counts now = each.read();
    reported_.push_back({std::move(each), Counts(now.size(), 0)});
  }
  thread_ = std::thread([this] { Run(); });
}

CountReports::~CountReports() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  ends_changed_.notify_one();
  thread_.join();
}

void CountReports::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_changed_.wait_for(lock, look_, [this] { return ends_; })) {
    lock.unlock();
    for (Reported& each : reported_) Look(&each);
    lock.lock();
  }
}

void CountReports::Look(Reported* reported) const {
  const Time time = std::chrono::steady_clock::now();
  if (reported->last != Time() && time - reported->last < interval_) return;
  Counts now = reported->counters.read();
  if (now == reported->counts) return;
  Counts more = now;
  for (size_t i = 0; i < more.size(); ++i) more[i] -= reported->counts[i];
  reported->counts = std::move(now);
  reported->last = time;
  reported->counters.report(more);
}

}  // namespace bigtable::server
