#include "changes.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"

#include "common/measure.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"
#include "rows.h"

namespace bench {
namespace {

absl::StatusOr<std::unique_ptr<Engine>> Open(const ChangesOptions& options,
                                             const std::string& directory, bool keeps_changes) {
  return options.engine.open({.directory = directory,
                              .purpose = Purpose::kWrites,
                              .memory_limit = options.memory_limit,
                              .rows = options.rows,
                              .keeps_changes = keeps_changes});
}

absl::StatusOr<ChangesResult::Writes> Write(Engine* engine, const ChangesOptions& options,
                                            const Values& values) {
  const absl::StatusOr<absl::Duration> cpu = CpuTime();
  if (!cpu.ok()) return cpu.status();
  ChangesResult::Writes writes;
  const absl::Time begin = absl::Now();
  for (const uint32_t row : Permutation(options.rows, 1)) {
    if (absl::Status s = engine->Write(Key(row).view(), values.Of(row)); !s.ok()) return s;
  }
  writes.time = absl::Now() - begin;
  if (absl::StatusOr<absl::Time> s = engine->WaitUntilQuiet(); !s.ok()) return s.status();
  const absl::StatusOr<absl::Duration> cpu_now = CpuTime();
  if (!cpu_now.ok()) return cpu_now.status();
  writes.cpu = *cpu_now - *cpu;
  return writes;
}

absl::Status Follow(Engine* engine, const std::string& directory, const ChangesOptions& options,
                    const Values& values, ChangesResult* result) {
  absl::Time begin = absl::Now();
  absl::StatusOr<std::unique_ptr<Replica>> replica = engine->Replicate(directory);
  if (absl::IsUnimplemented(replica.status())) return absl::OkStatus();
  if (!replica.ok()) return replica.status();
  if (absl::Status s = (*replica)->CatchUp(); !s.ok()) return s;
  result->catch_up = absl::Now() - begin;

  std::atomic<bool> is_written{false};
  absl::StatusOr<ChangesResult::Writes> writes;
  std::thread writer([&] {
    writes = Write(engine, options, values);
    is_written = true;
  });
  std::vector<absl::Duration> lags;
  while (!is_written) {
    absl::SleepFor(absl::Milliseconds(10));
    lags.push_back((*replica)->Lag());
  }
  writer.join();
  if (!writes.ok()) return writes.status();
  std::sort(lags.begin(), lags.end());
  result->lag = lags[lags.size() / 2];
  result->longest_lag = lags.back();
  result->lag_writes = writes->time;
  return (*replica)->CatchUp();
}

}  // namespace

absl::StatusOr<ChangesResult> MeasureChanges(const ChangesOptions& options) {
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(options.directory, "changes");
  if (!directory.ok()) return directory.status();
  const Values values(options.value_size);
  ChangesResult result;
  {
    absl::StatusOr<std::unique_ptr<Engine>> engine =
        Open(options, Concat(directory->path(), "/without"), false);
    if (!engine.ok()) return engine.status();
    const absl::StatusOr<ChangesResult::Writes> writes = Write(engine->get(), options, values);
    if (!writes.ok()) return writes.status();
    result.without = *writes;
    if (absl::Status s = (*engine)->Close(); !s.ok()) return s;
  }
  if (absl::Status s = SyncFileSystem(directory->path()); !s.ok()) return s;
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      Open(options, Concat(directory->path(), "/with"), true);
  if (!engine.ok()) return engine.status();
  const absl::StatusOr<ChangesResult::Writes> writes = Write(engine->get(), options, values);
  if (!writes.ok()) return writes.status();
  result.with = *writes;
  const absl::Time begin = absl::Now();
  const absl::StatusOr<uint64_t> count = (*engine)->CountChanges();
  if (!count.ok()) return count.status();
  result.read = absl::Now() - begin;
  if (*count != options.rows) {
    return absl::DataLossError(
        Concat("there are ", *count, " changes after ", options.rows, " writes"));
  }
  if (absl::Status s =
          Follow(engine->get(), Concat(directory->path(), "/follower"), options, values, &result);
      !s.ok()) {
    return s;
  }
  if (absl::Status s = (*engine)->Close(); !s.ok()) return s;
  return result;
}

}  // namespace bench
