#include "checkpoints.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "absl/time/clock.h"

#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"
#include "scale/pacer.h"

namespace bench {
namespace {

using Clock = Pacer::Clock;

// A client that overwrites random rows, each write at its time.
class Client {
 public:
  Client(Engine* engine, const CheckpointOptions& options, const Values* values)
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
    return WriteTimes{at(0.5), at(0.999), at(1), nanos_.size()};
  }

 private:
  void Run() {
    Pacer pacer(Clock::now(),
                std::chrono::nanoseconds(static_cast<int64_t>(1e9 / options_.writes_per_second)));
    while (!ends_ && status_.ok()) {
      const Clock::time_point begin = pacer.Wait();
      const uint64_t row = random_.Below(options_.rows);
      status_ = engine_->Write(Key(row).view(), values_->Of(row));
      nanos_.push_back((Clock::now() - begin).count());
    }
  }

  Engine* const engine_;
  const CheckpointOptions& options_;
  const Values* const values_;
  Random random_{2};
  std::atomic<bool> ends_ = false;
  std::thread thread_;
  absl::Status status_;
  std::vector<int64_t> nanos_;
};

absl::StatusOr<std::unique_ptr<Engine>> Open(const CheckpointOptions& options,
                                             const std::string& directory) {
  return options.engine.open({.directory = directory,
                              .purpose = Purpose::kReadsAndWrites,
                              .memory_limit = options.memory_limit,
                              .rows = options.rows});
}

// Some of the rows, which were all there before the copy was made.
absl::Status CheckCopy(const CheckpointOptions& options, const std::string& directory,
                       const Values& values) {
  constexpr uint64_t kRows = 1000;
  absl::StatusOr<std::unique_ptr<Engine>> copy = Open(options, directory);
  if (!copy.ok()) return copy.status();
  const std::unique_ptr<Reader> reader = (*copy)->NewReader(Checking::kDefault);
  Random random(3);
  for (uint64_t i = 0; i < kRows; ++i) {
    const uint64_t row = random.Below(options.rows);
    if (absl::Status s = reader->Read(Key(row).view()); !s.ok()) return s;
    if (reader->value() != values.Of(row)) {
      return absl::DataLossError(Concat("a copy has another value of row ", row));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CheckpointResult> MeasureCheckpoints(const CheckpointOptions& options) {
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(options.directory, "transfer");
  if (!directory.ok()) return directory.status();
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Open(options, Concat(directory->path(), "/database"));
  if (!engine.ok()) return engine.status();
  const Values values;
  for (const uint32_t row : Permutation(options.rows, 1)) {
    if (absl::Status s = (*engine)->Write(Key(row).view(), values.Of(row)); !s.ok()) return s;
  }
  if (absl::Status s = (*engine)->WaitUntilQuiet().status(); !s.ok()) return s;

  CheckpointResult result;
  Client client(engine->get(), options, &values);
  client.Start();
  absl::SleepFor(options.time);
  absl::StatusOr<WriteTimes> times = client.Stop();
  if (!times.ok()) return times.status();
  result.without = *times;

  client.Start();
  absl::Status status;
  const absl::Time end = absl::Now() + options.time;
  for (int i = 0; status.ok() && absl::Now() < end; ++i) {
    const std::string copy = Concat(directory->path(), "/copy", i);
    const Clock::time_point begin = Clock::now();
    status = (*engine)->Checkpoint(copy);
    result.checkpoints.push_back(absl::FromChrono(Clock::now() - begin));
    if (status.ok() && i == 0) status = CheckCopy(options, copy, values);
    RemoveAll(copy);
    absl::SleepFor(absl::Milliseconds(100));
  }
  times = client.Stop();
  if (!status.ok()) return status;
  if (!times.ok()) return times.status();
  result.beside = *times;
  std::sort(result.checkpoints.begin(), result.checkpoints.end());
  if (absl::Status s = (*engine)->Close(); !s.ok()) return s;
  return result;
}

}  // namespace bench
