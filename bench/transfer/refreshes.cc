#include "refreshes.h"

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

absl::StatusOr<absl::Duration> Refresh(Follower* follower) {
  const Clock::time_point begin = Clock::now();
  if (absl::Status s = follower->Refresh(); !s.ok()) return s;
  return absl::FromChrono(Clock::now() - begin);
}

}  // namespace

absl::StatusOr<RefreshResult> MeasureRefreshes(const RefreshOptions& options) {
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(options.directory, "transfer");
  if (!directory.ok()) return directory.status();
  const OpenOptions open = {.directory = Concat(directory->path(), "/database"),
                            .purpose = Purpose::kReadsAndWrites,
                            .memory_limit = options.memory_limit,
                            .rows = options.rows};
  absl::StatusOr<std::unique_ptr<Engine>> engine = options.engine.open(open);
  if (!engine.ok()) return engine.status();
  const Values values;
  if (absl::Status s = WriteRows(engine->get(), options.rows, values); !s.ok()) return s;

  RefreshResult result;
  WritingClient client(engine->get(), {options.rows, options.writes_per_second}, &values);
  client.Start();
  absl::SleepFor(options.time);
  absl::StatusOr<WriteTimes> times = client.Stop();
  if (!times.ok()) return times.status();
  result.without = *times;

  const Clock::time_point begin = Clock::now();
  absl::StatusOr<std::unique_ptr<Follower>> follower =
      (*engine)->Follow(Concat(directory->path(), "/follower"));
  if (!follower.ok()) return follower.status();
  result.opening = absl::FromChrono(Clock::now() - begin);
  client.Start();
  absl::Status status;
  const absl::Time end = absl::Now() + options.time;
  while (status.ok() && absl::Now() < end) {
    const absl::StatusOr<absl::Duration> refreshed = Refresh(follower->get());
    status = refreshed.status();
    if (status.ok()) result.refreshes.push_back(*refreshed);
    absl::SleepFor(options.interval);
  }
  times = client.Stop();
  if (!status.ok()) return status;
  if (!times.ok()) return times.status();
  result.beside = *times;
  if (absl::StatusOr<absl::Time> s = (*engine)->WaitUntilQuiet(); !s.ok()) return s.status();

  constexpr std::string_view kLast = "the last write";
  const auto key = Key(0);
  if (absl::Status s = (*engine)->Write(key.view(), kLast); !s.ok()) return s;
  if (absl::Status s = (*follower)->Refresh(); !s.ok()) return s;
  const absl::StatusOr<std::string> read = (*follower)->Read(key.view());
  if (!read.ok()) return read.status();
  if (*read != kLast) return absl::DataLossError("a refresh did not bring the last write");
  std::vector<absl::Duration> unchanged;
  for (int i = 0; i < 21; ++i) {
    const absl::StatusOr<absl::Duration> refreshed = Refresh(follower->get());
    if (!refreshed.ok()) return refreshed.status();
    unchanged.push_back(*refreshed);
  }
  std::sort(unchanged.begin(), unchanged.end());
  result.unchanged = unchanged[unchanged.size() / 2];
  std::sort(result.refreshes.begin(), result.refreshes.end());
  follower->reset();
  if (absl::Status s = (*engine)->Close(); !s.ok()) return s;
  return result;
}

}  // namespace bench
