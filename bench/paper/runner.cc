#include "runner.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "child.h"
#include "common/interrupt.h"
#include "common/strings.h"
#include "common/temporary_directory.h"

extern char** environ;

namespace bench {
namespace {

// A run of this program in another process, whose stdout we read.
class Child {
 public:
  explicit Child(std::string description) : description_(std::move(description)) {}
  ~Child() {
    if (output_ >= 0) close(output_);
    if (process_ > 0) {  // an error of ours: its results are not wanted
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  absl::Status Start(const std::vector<std::string>& arguments) {
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
    output_ = pipe_ends[0];
    std::vector<char*> argv;
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    const int error =
        posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
    if (error != 0) {
      process_ = -1;
      return absl::ErrnoToStatus(error, "posix_spawn /proc/self/exe");
    }
    return absl::OkStatus();
  }

  // Calls `line` for each line that the child prints, until it ends well or otherwise.
  template <typename Line>
  absl::Status ReadLines(Line&& line) {
    std::string text;
    char buffer[4096];
    for (;;) {
      const ssize_t n = read(output_, buffer, sizeof(buffer));
      if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return absl::ErrnoToStatus(errno, "read");
      if (n == 0) break;
      text.append(buffer, static_cast<size_t>(n));
      for (size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
        if (absl::Status s = line(std::string_view(text).substr(0, end)); !s.ok()) return s;
      }
    }
    return Wait();
  }

 private:
  absl::Status Wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0) {
      if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
      if (errno != EINTR) return absl::ErrnoToStatus(errno, "waitpid");
    }
    process_ = -1;
    if (WIFSIGNALED(status)) {
      return absl::InternalError(Concat(description_, " died of signal ", WTERMSIG(status), ", ",
                                        std::string(strsignal(WTERMSIG(status)))));
    }
    if (WEXITSTATUS(status) != 0) return absl::InternalError(Concat(description_, " failed"));
    return absl::OkStatus();
  }

  const std::string description_;
  int output_ = -1;
  pid_t process_ = -1;
};

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
      const bool is_shared = step != "sequential_writes" && step != "writes_2";
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
    Child child(Concat(engine, ", step ", step));
    absl::Status s =
        child.Start({"paper_benchmarks", std::string(kChildArgument), engine, std::string(step),
                     database, Concat(options_.rows), Concat(options_.memory_limit),
                     absl::StrJoin(options_.benchmarks, ",")});
    if (!s.ok()) return s;
    return child.ReadLines([&](std::string_view line) {
      absl::StatusOr<Result> result = FromLine(line);
      if (!result.ok()) return result.status();
      // The writes that only prepare the reads are not among what was asked for.
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

absl::StatusOr<std::vector<EngineResult>> RunRounds(const RunOptions& options) {
  const InterruptHandler handler;
  return Runner(options).Run();
}

int ChildMain(const std::vector<std::string>& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // do not outlive the runner
  StepOptions options;
  const std::vector<EngineKind> engines = BuiltEngines();
  const auto engine = std::find_if(engines.begin(), engines.end(), [&](const EngineKind& e) {
    return !arguments.empty() && e.name == arguments[0];
  });
  if (arguments.size() != 6 || engine == engines.end() ||
      !absl::SimpleAtoi(arguments[3], &options.rows) ||
      !absl::SimpleAtoi(arguments[4], &options.memory_limit)) {
    absl::FPrintF(stderr, "paper_benchmarks: %s is for the program itself\n", kChildArgument);
    return EXIT_FAILURE;
  }
  options.engine = *engine;
  options.step = arguments[1];
  options.directory = arguments[2];
  options.benchmarks = Split(arguments[5], ',');
  const absl::Status s = RunStep(options, [](const Result& result) {
    absl::PrintF("%s\n", ToLine(result));
    std::fflush(stdout);
  });
  if (s.ok()) return EXIT_SUCCESS;
  absl::FPrintF(stderr, "%s, step %s: %s\n", options.engine.name, options.step, s.ToString());
  return EXIT_FAILURE;
}

}  // namespace bench
