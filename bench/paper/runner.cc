#include "runner.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "child.h"
#include "common/child_process.h"
#include "common/interrupt.h"
#include "common/strings.h"
#include "common/temporary_directory.h"

namespace bench {
namespace {

std::string CheckingNames(const std::vector<Checking>& checkings) {
  std::vector<std::string> names;
  for (const Checking checking : checkings) names.emplace_back(CheckingName(checking));
  return absl::StrJoin(names, ",");
}

std::vector<Checking> CheckingsNamed(std::string_view list) {
  std::vector<Checking> checkings;
  for (const std::string& name : Split(list, ',')) {
    for (const Checking checking : kCheckings) {
      if (name == CheckingName(checking)) checkings.push_back(checking);
    }
  }
  return checkings;
}

class Runner {
 public:
  explicit Runner(const RunOptions& options) : options_(options) {}

  absl::StatusOr<std::vector<EngineResult>> Run() {
    absl::StatusOr<TemporaryDirectory> directory =
        TemporaryDirectory::Make(options_.directory, "paper");
    if (!directory.ok()) return directory.status();
    directory_ = directory->path();
    for (round_ = 1; round_ <= options_.rounds; ++round_) {
      for (size_t i = 0; i < options_.engines.size(); ++i) {
        const std::string& engine = options_.engines[(i + round_ - 1) % options_.engines.size()];
        if (absl::Status s = RunEngine(engine); !s.ok()) return s;
      }
    }
    return std::move(results_);
  }

 private:
  bool IsWanted(std::string_view step) const {
    const std::vector<std::string_view> of_step = BenchmarksOf(step);
    return std::any_of(options_.benchmarks.begin(), options_.benchmarks.end(),
                       [&](const std::string& b) {
                         return std::find(of_step.begin(), of_step.end(), b) != of_step.end();
                       });
  }
  bool SharedDatabaseIsWanted() const {
    return IsWanted("random_writes") || IsWanted("reads") || IsWanted("reads_mem") ||
           IsWanted("read_while_writing");
  }

  absl::Status RunEngine(const std::string& engine) {
    const std::string shared = Concat(directory_, "/", engine);
    for (const std::string_view step : kSteps) {
      const bool is_load = step == "random_writes";
      if (is_load ? !SharedDatabaseIsWanted() : !IsWanted(step)) continue;
      const bool is_shared = step != "sequential_writes" && WritersOf(step) == 0;
      const std::string database = is_shared ? shared : Concat(shared, "-", step);
      std::error_code error;
      std::filesystem::create_directory(database, error);
      if (error) return absl::InternalError(Concat(database, ": ", error.message()));
      if (absl::Status s = RunChild(engine, step, database); !s.ok()) return s;
      if (!is_shared) RemoveAll(database);
    }
    RemoveAll(shared);
    return absl::OkStatus();
  }

  absl::Status RunChild(const std::string& engine, std::string_view step,
                        const std::string& database) {
    ChildProcess child(Concat(engine, ", step ", step));
    absl::Status s =
        child.Start({"benchmarks", std::string(kChildArgument), engine, std::string(step), database,
                     Concat(options_.rows), Concat(options_.memory_limit),
                     absl::StrJoin(options_.benchmarks, ","), CheckingNames(options_.checkings)});
    if (!s.ok()) return s;
    return child.ReadLines([&](std::string_view line) {
      absl::StatusOr<Result> result = FromLine(line);
      if (!result.ok()) return result.status();
      // The results of writes that only prepare reads were not requested.
      if (std::find(options_.benchmarks.begin(), options_.benchmarks.end(), result->benchmark) ==
          options_.benchmarks.end()) {
        return absl::OkStatus();
      }
      absl::FPrintF(stderr, "round %d of %d  %-9s %-19s %-11s %12.0f/s\n", round_, options_.rounds,
                    engine, result->benchmark, CheckingName(result->checking),
                    result->figures.ops_per_second);
      results_.push_back({engine, *std::move(result)});
      return absl::OkStatus();
    });
  }

  const RunOptions& options_;
  std::string directory_;
  uint64_t round_ = 0;
  std::vector<EngineResult> results_;
};

}  // namespace

uint64_t MemoryLimit(uint64_t rows) {
  constexpr uint64_t kMebibyte = 1 << 20;
  return std::max(64 * kMebibyte, 256 * kMebibyte * rows / 1'000'000);
}

absl::StatusOr<std::vector<EngineResult>> RunRounds(const RunOptions& options) {
  const InterruptHandler handler;
  return Runner(options).Run();
}

int ChildMain(const std::vector<std::string>& arguments, const FindEngine& find_engine) {
  DieWithParent();
  StepOptions options;
  std::optional<EngineKind> engine;
  if (arguments.size() == 7) engine = find_engine(arguments[0]);
  if (!engine.has_value() || !absl::SimpleAtoi(arguments[3], &options.rows) ||
      !absl::SimpleAtoi(arguments[4], &options.memory_limit)) {
    absl::FPrintF(stderr, "%s is for internal use\n", kChildArgument);
    return EXIT_FAILURE;
  }
  options.engine = *std::move(engine);
  options.step = arguments[1];
  options.directory = arguments[2];
  options.benchmarks = Split(arguments[5], ',');
  options.checkings = CheckingsNamed(arguments[6]);
  if (!options.engine.has_checksums) std::erase(options.checkings, Checking::kEveryRead);
  const absl::Status s = RunStep(options, [](const Result& result) {
    absl::PrintF("%s\n", ToLine(result));
    std::fflush(stdout);
  });
  if (s.ok()) return EXIT_SUCCESS;
  absl::FPrintF(stderr, "%s, step %s: %s\n", options.engine.name, options.step, s.ToString());
  return EXIT_FAILURE;
}

}  // namespace bench
