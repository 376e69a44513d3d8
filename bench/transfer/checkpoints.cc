#include "checkpoints.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/time/clock.h"

#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"
#include "rows.h"
#include "writing_client.h"

namespace bench {
namespace {

using Clock = Pacer::Clock;

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
  if (absl::Status s = WriteRows(engine->get(), options.rows, values); !s.ok()) return s;

  CheckpointResult result;
  WritingClient client(engine->get(), {options.rows, options.writes_per_second}, &values);
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
