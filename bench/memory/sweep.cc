#include "sweep.h"

#include <filesystem>
#include <iostream>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "common/interrupt.h"
#include "common/median.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"
#include "operations.h"
#include "subject.h"
#include "trial.h"

namespace bench {
namespace {

// The tables of the engines at one ratio, each in a directory of its own.
class Tables {
 public:
  static absl::StatusOr<Tables> Make(const SweepOptions& options, uint64_t rows) {
    absl::StatusOr<TemporaryDirectory> directory =
        TemporaryDirectory::Make(options.directory, "memory");
    if (!directory.ok()) return directory.status();
    Tables tables(*std::move(directory));
    for (const std::string& way : options.ways) {
      const std::string path = tables.PathOf(way);
      if (std::filesystem::exists(path)) continue;
      if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
      if (absl::Status s = SubjectOfWay(way).make(path, rows); !s.ok()) return s;
    }
    return tables;
  }

  absl::StatusOr<Figures> Run(Trial trial) const {
    trial.directory = PathOf(trial.way);
    if (!OperationKindNamed(trial.reads).writes) return RunTrial(trial);
    // Each trial that writes begins with the same table: it works on a copy.
    absl::StatusOr<TemporaryDirectory> copy = TemporaryDirectory::Make(directory_.path(), "copy");
    if (!copy.ok()) return copy.status();
    std::error_code error;
    std::filesystem::copy(trial.directory, copy->path(), std::filesystem::copy_options::recursive,
                          error);
    if (error) return absl::InternalError(Concat(copy->path(), ": ", error.message()));
    trial.directory = copy->path();
    return RunTrial(trial);
  }

 private:
  explicit Tables(TemporaryDirectory directory) : directory_(std::move(directory)) {}
  std::string PathOf(std::string_view way) const {
    return Concat(directory_.path(), "/", SubjectOfWay(way).engine);
  }

  TemporaryDirectory directory_;
};

double MedianOf(const std::vector<Figures>& trials, double Figures::*figure) {
  std::vector<double> values;
  for (const Figures& trial : trials) values.push_back(trial.*figure);
  return Median(std::move(values));
}

// What is measured at one ratio.
struct Point {
  double ratio = 0;
  uint64_t rows = 0;
  uint64_t readahead = 0;
  std::string reads;
};

// The ways take turns, so that other load on the machine affects all of them.
absl::Status MeasureWays(const SweepOptions& options, const MemoryCgroup& cgroup,
                         const Tables& tables, const Point& point, SweepResults* results) {
  std::map<std::string, std::vector<Figures>> trials;
  for (uint64_t i = 0; i < options.repeats; ++i) {
    for (const std::string& way : options.ways) {
      if (!CanRun(way, point.reads)) continue;
      if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
      absl::StatusOr<Figures> figures = tables.Run({.way = way,
                                                    .reads = point.reads,
                                                    .rows = point.rows,
                                                    .memory_budget = MemoryBudget(options),
                                                    .time = options.time,
                                                    .most_warm_ups = options.most_warm_ups,
                                                    .directory = {},
                                                    .cgroup = cgroup.path()});
      if (!figures.ok()) return figures.status();
      absl::FPrintF(stderr, "%g times the memory, %s, readahead %d, %s: %.0f/s\n", point.ratio,
                    point.reads, point.readahead, way, figures->per_second);
      trials[way].push_back(*figures);
    }
  }
  for (const auto& [way, figures] : trials) {
    results->figures[{point.readahead, point.reads, way}].push_back(
        {.per_second = MedianOf(figures, &Figures::per_second),
         .cpu_micros = MedianOf(figures, &Figures::cpu_micros),
         .disk_kilobytes = MedianOf(figures, &Figures::disk_kilobytes)});
  }
  return absl::OkStatus();
}

uint64_t RowsAt(double ratio, uint64_t memory) {
  return static_cast<uint64_t>(ratio * static_cast<double>(memory) /
                               static_cast<double>(kKeySize + kValueSize));
}

}  // namespace

bool CanRun(std::string_view way, std::string_view reads) {
  return SubjectOfWay(way).writes || !OperationKindNamed(reads).writes;
}

absl::StatusOr<SweepResults> Sweep(const SweepOptions& options, const MemoryCgroup& cgroup,
                                   absl::StatusOr<DiskReadahead>* disk) {
  const InterruptHandler interrupts;
  SweepResults results = {.ratios = options.ratios,
                          .ways = options.ways,
                          .reads = options.reads,
                          .readaheads = options.readaheads,
                          .figures = {}};
  if (results.readaheads.empty()) results.readaheads.push_back(disk->ok() ? (*disk)->found() : 0);
  for (const double ratio : options.ratios) {
    const uint64_t rows = RowsAt(ratio, options.memory);
    const absl::StatusOr<Tables> tables = Tables::Make(options, rows);
    if (!tables.ok()) return tables.status();
    for (const uint64_t readahead : results.readaheads) {
      if (!options.readaheads.empty()) {
        if (absl::Status s = (*disk)->Set(readahead); !s.ok()) return s;
      }
      for (const std::string& reads : options.reads) {
        const Point point = {ratio, rows, readahead, reads};
        absl::Status s = MeasureWays(options, cgroup, *tables, point, &results);
        if (!s.ok()) return s;
      }
    }
  }
  return results;
}

}  // namespace bench
