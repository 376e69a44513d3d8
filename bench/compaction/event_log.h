// The flushes, compactions and stalls of a run, in the order in which they ended, and their lines
// of a CSV (--events).
#ifndef BIGTABLE_BENCH_COMPACTION_EVENT_LOG_H_
#define BIGTABLE_BENCH_COMPACTION_EVENT_LOG_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "policy.h"
#include "sample.h"

namespace bench {

// Plain value.
struct Event {
  std::string kind;     // flush, merge, push, drop, or stall
  absl::Time end;       // by the machine's clock
  double seconds = 0;   // how long it took
  double delay_us = 0;  // of a stall: each write's, as it ends
  uint64_t inputs = 0;  // files, or memtables
  uint64_t outputs = 0;
  uint64_t moved = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  bool is_major = false;
  std::string reason;  // the policy's
};

// Thread-safe.
class EventLog final : public bigtable::EventListener {
 public:
  void OnMinorCompactionEnded(const bigtable::MinorCompactionEvent& event) override;
  void OnCompactionEnded(const bigtable::CompactionEvent& event) override;
  void OnStallChanged(const bigtable::StallEvent& event) override;

  // Those since the last call.
  std::vector<Event> Take();

 private:
  void Add(Event event);

  std::mutex mutex_;
  std::vector<Event> events_;
};

// Lines with their ends. Times are since `begin`.
std::string EventCsvHeader();
std::string EventCsvLine(std::string_view workload, const Policy& policy, const Repeat& repeat,
                         absl::Time begin, const Event& event);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_EVENT_LOG_H_
