#include "trial.h"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <sys/resource.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

#include "common/child_process.h"
#include "common/measure.h"
#include "common/page_cache.h"
#include "common/strings.h"
#include "memory_cgroup.h"
#include "operations.h"
#include "subject.h"

namespace bench {
namespace {

// CPU in microseconds, and bytes from the disk, used by this process so far.
struct Used {
  double cpu_micros = 0;
  double disk_bytes = 0;
};
Used UsedSoFar() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return {micros(usage.ru_utime) + micros(usage.ru_stime),
          static_cast<double>(usage.ru_inblock) * 512};
}

// Runs operations for twice the time.
absl::StatusOr<Figures> MeasureOperations(Operations operations, absl::Duration time) {
  const absl::Time begin = absl::Now();
  absl::Time half = absl::InfiniteFuture();
  Used before;
  int64_t counted = 0;
  for (absl::Time now = begin; now < begin + 2 * time; now = absl::Now()) {
    if (half == absl::InfiniteFuture() && now >= begin + time) {
      half = now;
      before = UsedSoFar();
    }
    // The clock is not read for each operation.
    for (int i = 0; i < 20; ++i) {
      absl::StatusOr<int64_t> count = operations.Next();
      if (!count.ok()) return count.status();
      if (half != absl::InfiniteFuture()) counted += *count;
    }
  }
  const auto count = static_cast<double>(counted);
  const Used after = UsedSoFar();
  return Figures{.per_second = count / absl::ToDoubleSeconds(absl::Now() - half),
                 .cpu_micros = (after.cpu_micros - before.cpu_micros) / count,
                 .disk_kilobytes = (after.disk_bytes - before.disk_bytes) / 1024 / count};
}

absl::StatusOr<Figures> Measure(const Trial& trial) {
  if (absl::Status s = MemoryCgroup::Enter(trial.cgroup); !s.ok()) return s;
  const OperationKind& kind = OperationKindNamed(trial.reads);
  absl::StatusOr<std::unique_ptr<Subject>> subject =
      SubjectOfWay(trial.way).open({.directory = trial.directory,
                                    .way = trial.way,
                                    .memory_budget = trial.memory_budget,
                                    .writes = kind.writes,
                                    .in_order = kind.in_order});
  if (!subject.ok()) return subject.status();
  absl::StatusOr<Figures> figures =
      MeasureOperations(Operations(subject->get(), trial.reads, trial.rows), trial.time);
  if (!figures.ok()) return figures;
  if (absl::Status s = (*subject)->Close(); !s.ok()) return s;
  return figures;
}

}  // namespace

absl::StatusOr<Figures> RunTrial(const Trial& trial) {
  if (absl::Status s = DropFromPageCache(trial.directory); !s.ok()) return s;
  const std::string description = Concat(trial.reads, ", ", trial.way);
  ChildProcess child(description);
  absl::Status s =
      child.Start({"benchmarks", std::string(kTrialArgument), trial.way, trial.reads,
                   Concat(trial.rows), Concat(trial.memory_budget),
                   Concat(absl::ToInt64Milliseconds(trial.time)), trial.directory, trial.cgroup});
  if (!s.ok()) return s;
  Figures figures;
  s = child.ReadLines([&](std::string_view line) {
    const std::vector<std::string> words = Split(line, ' ');
    return words.size() == 3 && absl::SimpleAtod(words[0], &figures.per_second) &&
                   absl::SimpleAtod(words[1], &figures.cpu_micros) &&
                   absl::SimpleAtod(words[2], &figures.disk_kilobytes)
               ? absl::OkStatus()
               : absl::InternalError(Concat(description, ": not three figures: ", line));
  });
  if (!s.ok()) return s;
  return figures;
}

int TrialMain(const std::vector<std::string>& arguments) {
  DieWithParent();
  Trial trial;
  uint64_t milliseconds = 0;
  if (arguments.size() != 7 || !absl::SimpleAtoi(arguments[2], &trial.rows) ||
      !absl::SimpleAtoi(arguments[3], &trial.memory_budget) ||
      !absl::SimpleAtoi(arguments[4], &milliseconds)) {
    std::cerr << "bench/memory/run: a trial has other arguments\n";
    return EXIT_FAILURE;
  }
  trial.way = arguments[0];
  trial.reads = arguments[1];
  trial.time = absl::Milliseconds(milliseconds);
  trial.directory = arguments[5];
  trial.cgroup = arguments[6];
  const absl::StatusOr<Figures> figures = Measure(trial);
  if (!figures.ok()) {
    std::cerr << "bench/memory/run: " << trial.reads << ", " << trial.way << ": "
              << figures.status() << "\n";
    return EXIT_FAILURE;
  }
  absl::PrintF("%.9g %.9g %.9g\n", figures->per_second, figures->cpu_micros,
               figures->disk_kilobytes);
  return EXIT_SUCCESS;
}

}  // namespace bench
