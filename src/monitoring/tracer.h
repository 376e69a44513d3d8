// Decides which requests of a database are traced. Thread-safe.
#ifndef BIGTABLE_MONITORING_TRACER_H_
#define BIGTABLE_MONITORING_TRACER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "bigtable/log_sink.h"
#include "bigtable/trace.h"

#include "monitoring/thread_calls.h"

namespace bigtable {

class Tracer {
 public:
  // Traces one of `one_of` requests; 0 is none. `sink` must outlive the tracer.
  Tracer(TraceSink* sink, uint64_t one_of) : sink_(sink), one_of_(one_of) {}
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Before the first request: where to log what the sink throws. May be null.
  void LogTo(std::shared_ptr<LogSink> log_sink) { log_sink_ = std::move(log_sink); }
  // Whether requests are traced more often than calls are measured: then all calls are measured.
  bool is_dense() const {
    return one_of_ > 0 && one_of_ < static_cast<uint64_t>(SampleGaps::kMean);
  }
  // Whether to trace a request that represents `weight` requests.
  bool Takes(uint64_t weight) {
    if (one_of_ == 0) return false;
    const uint64_t before = requests_.fetch_add(weight, std::memory_order_relaxed);
    return before / one_of_ != (before + weight) / one_of_;
  }
  // Creates the trace of a request that begins now. The caller passes it to Finish.
  RequestTrace* Begin(RequestTrace::Request request, std::string_view table);
  // Ends the request. No lock may be held.
  void Finish(RequestTrace* trace);

 private:
  TraceSink* const sink_;
  const uint64_t one_of_;
  std::shared_ptr<LogSink> log_sink_;
  std::atomic<uint64_t> requests_{0};
};

// The entry of the file in a trace.
FileTrace* FileIn(RequestTrace* trace, uint64_t number);

}  // namespace bigtable

#endif  // BIGTABLE_MONITORING_TRACER_H_
