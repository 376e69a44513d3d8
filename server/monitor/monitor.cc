#include "server/monitor/monitor.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"

#include "bigtable/call_options.h"
#include "bigtable/row_key_sample.h"
#include "bigtable/statistics.h"
#include "bigtable/table.h"

namespace bigtable::server {
namespace {

// Tablets, and the sizes of ranges, are looked up once in so many seconds.
constexpr int kTabletSeconds = 5;
constexpr int kSizeSeconds = 15;

}  // namespace

Monitor::Monitor() : began_(absl::Now()) { heat_map_.Tick(began_); }

Monitor::~Monitor() { Stop(); }

void Monitor::Start(Database* database) {
  thread_ = std::thread([this, database] { Run(database); });
}

void Monitor::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  ends_changed_.notify_one();
  thread_.join();
}

void Monitor::Run(Database* database) {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  for (int ticks = 1;; ++ticks) {
    next += std::chrono::seconds(1);
    if (ends_changed_.wait_until(lock, next, [this] { return ends_; })) return;
    lock.unlock();
    const absl::Time now = absl::Now();
    heat_map_.Tick(now);
    rows_.Tick();
    history_.Tick(absl::ToUnixSeconds(now));
    if (ticks % kTabletSeconds == 0) UpdateTablets(database);
    if (ticks % kSizeSeconds == kTabletSeconds) UpdateSizes(database);
    lock.lock();
  }
}

void Monitor::UpdateTablets(Database* database) {
  std::map<std::string, std::vector<std::string>> begins;
  for (const auto& [label, server] : database->Statistics().servers) {
    for (const TabletStatistics& tablet : server.tablets) {
      begins[tablet.table].push_back(tablet.rows.begin());
    }
  }
  for (const auto& [table, rows] : begins) heat_map_.SetTablets(table, rows);
}

void Monitor::UpdateSizes(Database* database) {
  for (const std::string& name : heat_map_.Tables()) {
    const absl::StatusOr<Table*> table = database->OpenTable(name);
    if (!table.ok()) continue;
    const CallOptions options = {.deadline = absl::Now() + absl::Seconds(1)};
    const absl::StatusOr<std::vector<RowKeySample>> samples = (*table)->SampleRowKeys(options);
    if (samples.ok()) heat_map_.SetSizes(name, *samples);
  }
}

}  // namespace bigtable::server
