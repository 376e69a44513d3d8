#include "increments.h"

#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "common/measure.h"
#include "common/strings.h"
#include "common/workload.h"

namespace bench {
namespace {

absl::Status CheckSum(Store* store, uint64_t counters, uint64_t increments) {
  uint64_t sum = 0;
  for (uint64_t counter = 0; counter < counters; ++counter) {
    const absl::StatusOr<int64_t> value = store->Value(counter);
    if (!value.ok()) return value.status();
    sum += static_cast<uint64_t>(*value);
  }
  if (sum == increments) return absl::OkStatus();
  return absl::DataLossError(
      Concat("the counters add up to ", sum, " after ", increments, " increments"));
}

}  // namespace

absl::StatusOr<IncrementsResult> RunIncrements(Store* store, const IncrementsCase& work,
                                               uint64_t increments) {
  const uint64_t each = increments / work.threads;
  const uint64_t total = each * work.threads;
  std::vector<absl::Status> statuses(work.threads);
  const absl::StatusOr<absl::Duration> cpu_before = CpuTime();
  if (!cpu_before.ok()) return cpu_before.status();
  const absl::Time begin = absl::Now();
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < work.threads; ++i) {
    threads.emplace_back([&, i] {
      Random random(i + 1);
      for (uint64_t n = 0; n < each && statuses[i].ok(); ++n) {
        statuses[i] = store->Increment(random.Below(work.counters));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const absl::Duration time = absl::Now() - begin;
  const absl::StatusOr<absl::Duration> cpu_after = CpuTime();
  if (!cpu_after.ok()) return cpu_after.status();
  for (const absl::Status& s : statuses) {
    if (!s.ok()) return s;
  }
  if (absl::Status s = CheckSum(store, work.counters, total); !s.ok()) return s;
  const double count = static_cast<double>(total);
  return IncrementsResult{
      .per_second = count / absl::ToDoubleSeconds(time),
      .cpu_micros = absl::ToDoubleMicroseconds(*cpu_after - *cpu_before) / count};
}

}  // namespace bench
