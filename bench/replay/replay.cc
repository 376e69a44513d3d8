#include "replay.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"

#include "common/interrupt.h"
#include "common/strings.h"

namespace bench {
namespace {

using bigtable::RecordedCall;
using Kind = RecordedCall::Kind;
using SteadyClock = std::chrono::steady_clock;

// When a call is due.
class Pace {
 public:
  explicit Pace(double speed) : speed_(speed) {}
  // Waits until it is; returns when it was.
  SteadyClock::time_point Await(const RecordedCall& call) const {
    if (speed_ == 0) return SteadyClock::now();
    const SteadyClock::time_point due = start_ + absl::ToChronoNanoseconds(call.begin / speed_);
    std::this_thread::sleep_until(due);
    return due;
  }

 private:
  const double speed_;
  const SteadyClock::time_point start_ = SteadyClock::now();
};

// One thread, and the calls that it is to make next.
class Worker {
 public:
  Worker(Target* target, const Pace* pace)
      : target_(target), pace_(pace), thread_([this] { Run(); }) {}
  ~Worker() { Join().IgnoreError(); }

  // Waits while there are many. False: it has failed.
  bool Push(RecordedCall call) {
    constexpr size_t kMostQueued = 1000;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queue_.size() < kMostQueued || !status_.ok(); });
    if (!status_.ok()) return false;
    queue_.push_back(std::move(call));
    changed_.notify_all();
    return true;
  }
  // Waits until all were made.
  absl::Status Join() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    return status_;
  }
  // After Join().
  ReplayResult& result() { return result_; }

  // On its thread, or on the caller's if nothing is pushed.
  absl::Status Make(const RecordedCall& call) {
    const SteadyClock::time_point begin = pace_->Await(call);
    const absl::StatusOr<Returned> returned = target_->Do(call);
    const SteadyClock::duration time = SteadyClock::now() - begin;
    if (!returned.ok()) {
      return absl::Status(
          returned.status().code(),
          Concat(NameOf(call.kind), " of table ", call.table, " at ",
                 absl::FormatDuration(call.begin), ": ", returned.status().message()));
    }
    (call.kind == Kind::kReadRow ? result_.reads
                                 : (ReadsOnly(call.kind) ? result_.scans : result_.writes))
        .Record(time);
    ++result_.calls;
    result_.user_bytes += BytesWritten(call);
    result_.recorded_rows += call.rows;
    result_.rows += returned->rows;
    return absl::OkStatus();
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !queue_.empty() || ends_; });
      if (queue_.empty()) return;
      const RecordedCall call = std::move(queue_.front());
      queue_.pop_front();
      changed_.notify_all();
      lock.unlock();
      absl::Status s = Make(call);
      lock.lock();
      if (s.ok()) continue;
      status_ = std::move(s);
      changed_.notify_all();
      return;
    }
  }

  Target* const target_;
  const Pace* const pace_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RecordedCall> queue_;
  bool ends_ = false;
  absl::Status status_;
  ReplayResult result_;
  std::thread thread_;
};

// Whether it cannot be made again.
bool IsSkipped(const RecordedCall& call, const Overview& overview) {
  if (call.code != absl::StatusCode::kOk) return true;
  if (call.kind == Kind::kMutateRowAtomically && call.mutations.empty()) return true;
  // The end of the range is not recorded.
  return call.kind == Kind::kDropRowRange && overview.keys == bigtable::RecordedKeys::kHashed;
}

void Add(ReplayResult& worker, ReplayResult* all) {
  all->calls += worker.calls;
  all->user_bytes += worker.user_bytes;
  all->recorded_rows += worker.recorded_rows;
  all->rows += worker.rows;
  all->reads.Add(worker.reads);
  all->scans.Add(worker.scans);
  all->writes.Add(worker.writes);
}

// Passes each call to the worker of its thread.
absl::Status Distribute(const ReplayOptions& options, const Overview& overview,
                        std::vector<std::unique_ptr<Worker>>& workers, ReplayResult* result) {
  absl::StatusOr<std::unique_ptr<bigtable::RecordingReader>> reader =
      bigtable::RecordingReader::Open(options.recording);
  if (!reader.ok()) return reader.status();
  uint64_t calls = 0;
  for (RecordedCall call; (*reader)->Next(&call); ++calls) {
    if (options.most_calls != 0 && calls == options.most_calls) break;
    if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
    if (IsSkipped(call, overview)) {
      ++result->skipped;
    } else if (workers.size() == 1) {
      if (absl::Status s = workers.front()->Make(call); !s.ok()) return s;
    } else if (!workers[call.thread % workers.size()]->Push(std::move(call))) {
      break;  // Join() has the reason
    }
  }
  return (*reader)->status();
}

}  // namespace

absl::StatusOr<ReplayResult> Replay(const ReplayOptions& options, const Overview& overview,
                                    Target* target) {
  ReplayResult result;
  const absl::StatusOr<absl::Duration> cpu = CpuTime();
  if (!cpu.ok()) return cpu.status();
  const Pace pace(options.speed);
  const absl::Time begin = absl::Now();
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint64_t i = 0; i < options.threads; ++i) {
    workers.push_back(std::make_unique<Worker>(target, &pace));
  }
  absl::Status status = Distribute(options, overview, workers, &result);
  for (const auto& worker : workers) {
    const absl::Status joined = worker->Join();
    if (status.ok()) status = joined;
    Add(worker->result(), &result);
  }
  if (!status.ok()) return status;
  result.time = absl::Now() - begin;
  if (absl::Status s = target->Settle(); !s.ok()) return s;
  const absl::StatusOr<absl::Duration> cpu_at_end = CpuTime();
  if (!cpu_at_end.ok()) return cpu_at_end.status();
  result.cpu = *cpu_at_end - *cpu;
  absl::StatusOr<TargetFigures> figures = target->Figures();
  if (!figures.ok()) return figures.status();
  result.figures = *figures;
  return result;
}

}  // namespace bench
