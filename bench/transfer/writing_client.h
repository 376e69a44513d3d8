// A client that writes beside what is measured, and how long its writes take.
#ifndef BIGTABLE_BENCH_TRANSFER_WRITING_CLIENT_H_
#define BIGTABLE_BENCH_TRANSFER_WRITING_CLIENT_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "common/workload.h"
#include "paper/engine.h"
#include "scale/pacer.h"

namespace bench {

struct WritingOptions {
  uint64_t rows = 0;             // the first ones are overwritten
  double writes_per_second = 0;  // each at its time
};

// Of the client's writes.
struct WriteTimes {
  absl::Duration median;
  absl::Duration p99;
  absl::Duration p999;
  absl::Duration most;
  uint64_t writes = 0;
};

// A client that overwrites random rows, each write at its time.
class WritingClient {
 public:
  WritingClient(Engine* engine, const WritingOptions& options, const Values* values)
      : engine_(engine), options_(options), values_(values) {}

  void Start() {
    ends_ = false;
    nanos_.clear();
    thread_ = std::thread([this] { Run(); });
  }
  absl::StatusOr<WriteTimes> Stop() {
    ends_ = true;
    thread_.join();
    if (!status_.ok()) return status_;
    std::sort(nanos_.begin(), nanos_.end());
    const auto at = [&](double part) {
      const auto index = static_cast<size_t>(part * static_cast<double>(nanos_.size() - 1));
      return absl::Nanoseconds(nanos_[index]);
    };
    return WriteTimes{at(0.5), at(0.99), at(0.999), at(1), nanos_.size()};
  }

 private:
  void Run() {
    Pacer pacer(Pacer::Clock::now(),
                std::chrono::nanoseconds(static_cast<int64_t>(1e9 / options_.writes_per_second)));
    while (!ends_ && status_.ok()) {
      const Pacer::Clock::time_point begin = pacer.Wait();
      const uint64_t row = random_.Below(options_.rows);
      status_ = engine_->Write(Key(row).view(), values_->Of(row));
      nanos_.push_back((Pacer::Clock::now() - begin).count());
    }
  }

  Engine* const engine_;
  const WritingOptions options_;
  const Values* const values_;
  Random random_{2};
  std::atomic<bool> ends_ = false;
  std::thread thread_;
  absl::Status status_;
  std::vector<int64_t> nanos_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_TRANSFER_WRITING_CLIENT_H_
