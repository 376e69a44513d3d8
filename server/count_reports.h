// Reports what counters count: at the first, and then every ten seconds while they grow.
//
// The threads that count do not write the log themselves. A log can block, as a pipe that nobody
// reads does, and must stop neither the thread that accepts connections nor the one that looks at
// the memory.
#ifndef BIGTABLE_SERVER_COUNT_REPORTS_H_
#define BIGTABLE_SERVER_COUNT_REPORTS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bigtable::server {

// A thread, which ends with the object. It has no other's lock while it reports.
class CountReports {
 public:
  using Counts = std::vector<uint64_t>;
  struct Counters {
    std::function<Counts()> read;                    // all that were counted
    std::function<void(const Counts& more)> report;  // since the last report
  };

  // How often it looks, so how soon the first is reported; and how often it reports at most.
  static constexpr std::chrono::milliseconds kLook = std::chrono::seconds(1);
  static constexpr std::chrono::milliseconds kInterval = std::chrono::seconds(10);

  explicit CountReports(std::vector<Counters> counters, std::chrono::milliseconds look = kLook,
                        std::chrono::milliseconds interval = kInterval);
  ~CountReports();
  CountReports(const CountReports&) = delete;
  CountReports& operator=(const CountReports&) = delete;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Reported {
    Counters counters;
    Counts counts;
    Time last{};
  };

  void Run();
  void Look(Reported* reported) const;

  const std::chrono::milliseconds look_;
  const std::chrono::milliseconds interval_;
  std::vector<Reported> reported_;  // the thread's

  std::mutex mutex_;
  std::condition_variable ends_changed_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_COUNT_REPORTS_H_
