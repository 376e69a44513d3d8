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

absl::StatusOr<Figures> RunFor(absl::Duration time, Operations* operations) {
  const absl::Time begin = absl::Now();
  const Used before = UsedSoFar();
  int64_t counted = 0;
  while (absl::Now() < begin + time) {
    // The clock is not read for each operation.
    for (int i = 0; i < 20; ++i) {
      absl::StatusOr<int64_t> count = operations->Next();
      if (!count.ok()) return count.status();
      counted += *count;
    }
  }
  const auto count = static_cast<double>(counted);
  const Used after = UsedSoFar();
  return Figures{.per_second = count / absl::ToDoubleSeconds(absl::Now() - begin),
                 .cpu_micros = (after.cpu_micros - before.cpu_micros) / count,
                 .disk_kilobytes = (after.disk_bytes - before.disk_bytes) / 1024 / count};
}

absl::StatusOr<Figures> MeasureOperations(const Trial& trial, Operations operations) {
  // Of what the warm-up before needed from the disk.
  constexpr double kHardlyLess = 0.98;
  const uint64_t most = OperationKindNamed(trial.reads).writes ? 1 : trial.most_warm_ups;
  absl::StatusOr<Figures> warm_up = RunFor(trial.time, &operations);
  for (uint64_t i = 1; warm_up.ok() && i < most; ++i) {
    const double before = warm_up->disk_kilobytes;
    warm_up = RunFor(trial.time, &operations);
    if (warm_up.ok() && warm_up->disk_kilobytes >= kHardlyLess * before) break;
  }
  return warm_up.ok() ? RunFor(trial.time, &operations) : warm_up;
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
      MeasureOperations(trial, Operations(subject->get(), trial.reads, trial.rows));
  if (!figures.ok()) return figures;
  if (absl::Status s = (*subject)->Close(); !s.ok()) return s;
  return figures;
}

}  // namespace

absl::StatusOr<Figures> RunTrial(const Trial& trial) {
  if (absl::Status s = DropFromPageCache(trial.directory); !s.ok()) return s;
  const std::string description = Concat(trial.reads, ", ", trial.way);
  ChildProcess child(description);
  absl::Status s = child.Start({"benchmarks", std::string(kTrialArgument), trial.way, trial.reads,
                                Concat(trial.rows), Concat(trial.memory_budget),
                                Concat(absl::ToInt64Milliseconds(trial.time)),
                                Concat(trial.most_warm_ups), trial.directory, trial.cgroup});
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
  if (arguments.size() != 8 || !absl::SimpleAtoi(arguments[2], &trial.rows) ||
      !absl::SimpleAtoi(arguments[3], &trial.memory_budget) ||
      !absl::SimpleAtoi(arguments[4], &milliseconds) ||
      !absl::SimpleAtoi(arguments[5], &trial.most_warm_ups)) {
    std::cerr << "bench/memory/run: a trial has other arguments\n";
    return EXIT_FAILURE;
  }
  trial.way = arguments[0];
  trial.reads = arguments[1];
  trial.time = absl::Milliseconds(milliseconds);
  trial.directory = arguments[6];
  trial.cgroup = arguments[7];
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
