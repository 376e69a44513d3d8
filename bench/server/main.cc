// Compares bigtable-server with a server of the same messages that does nothing, and with Google's
// emulator if it is installed. See bench/server/run.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "common/machine.h"
#include "common/median.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"
#include "server/echo.h"
#include "server/load.h"
#include "server/served_process.h"

ABSL_FLAG(bool, echo, false, "be the server that does nothing");
ABSL_FLAG(std::string, server, "", "the program bigtable-server");
ABSL_FLAG(std::string, emulator, "", "Google's emulator; empty: without");
ABSL_FLAG(std::string, directory, "", "directory on the file system to measure");
ABSL_FLAG(bool, quick, false, "a fifth of the calls, and three rounds instead of five");
ABSL_FLAG(uint64_t, rounds, 0, "how many rounds; 0: depends on --quick");
ABSL_FLAG(int, threads, 8, "threads of the client, each with its own connection");
ABSL_FLAG(int, idle, 0,
          "streams that nobody reads meanwhile, but for the server that does nothing");
ABSL_FLAG(size_t, value_bytes, bench::kValueSize, "size of the values, at most 9999");
ABSL_FLAG(std::string, only, "", "only the kinds of calls whose name contains this text");

namespace bench {
namespace {

constexpr size_t kMostValueSize = 9999;

struct Kind {
  std::string name;
  std::vector<std::string> arguments;  // of its process
};

struct Figures {
  std::vector<double> cpu_us;  // of the server, a call
  std::vector<double> calls_per_second;
  std::vector<double> bytes_per_second;
  std::vector<double> p50_us;
  std::vector<double> p99_us;
};

uint64_t CallsOf(Work work, bool quick) {
  const uint64_t calls = work == Work::kScan ? 20 : work == Work::kMutateRows ? 4'000 : 100'000;
  return quick ? calls / 5 : calls;
}

absl::Status Measure(const ServedProcess& server, Work work, uint64_t calls, int threads,
                     Figures* figures) {
  const size_t value_size = absl::GetFlag(FLAGS_value_bytes);
  if (work == Work::kScan) threads = 2;
  // Connections, code and caches are warm then.
  if (absl::StatusOr<LoadResult> warm =
          Run(server.address(), work, value_size, calls / 10, threads);
      !warm.ok()) {
    return warm.status();
  }
  const absl::StatusOr<absl::Duration> before = server.CpuTime();
  if (!before.ok()) return before.status();
  const absl::StatusOr<LoadResult> result = Run(server.address(), work, value_size, calls, threads);
  if (!result.ok()) return result.status();
  const absl::StatusOr<absl::Duration> after = server.CpuTime();
  if (!after.ok()) return after.status();
  const double count = static_cast<double>(result->calls);
  figures->cpu_us.push_back(absl::ToDoubleMicroseconds(*after - *before) / count);
  figures->calls_per_second.push_back(count / result->seconds);
  figures->bytes_per_second.push_back(static_cast<double>(result->bytes) / result->seconds);
  figures->p50_us.push_back(result->p50_us);
  figures->p99_us.push_back(result->p99_us);
  return absl::OkStatus();
}

// Flushes and compactions of what was written before are no cost of what is measured next, and
// streams that nobody reads have filled the buffers of their connections.
absl::Status WaitUntilIdle(const ServedProcess& server) {
  absl::Duration before;
  for (int seconds = 0; seconds < 60; ++seconds) {
    const absl::StatusOr<absl::Duration> now = server.CpuTime();
    if (!now.ok()) return now.status();
    if (*now - before <= absl::Milliseconds(50)) return absl::OkStatus();
    before = *now;
    absl::SleepFor(absl::Seconds(1));
  }
  return absl::DeadlineExceededError("the server is still busy a minute later");
}

void PrintLine(std::string_view name, const Figures& figures, double echo_cpu_us) {
  const double cpu_us = Median(figures.cpu_us);
  absl::PrintF("  %-18s %10.0f %10.1f %8.2f %10.1f %10.1f %8.0f\n", ToAbsl(name),
               Median(figures.calls_per_second), cpu_us, cpu_us / echo_cpu_us,
               Median(figures.p50_us), Median(figures.p99_us),
               Median(figures.bytes_per_second) / 1e6);
}

absl::Status Main(const std::string& self) {
  const bool quick = absl::GetFlag(FLAGS_quick);
  uint64_t rounds = absl::GetFlag(FLAGS_rounds);
  if (rounds == 0) rounds = quick ? 3 : 5;
  const size_t value_size = absl::GetFlag(FLAGS_value_bytes);
  if (value_size == 0 || value_size > kMostValueSize) {
    return absl::InvalidArgumentError(
        ToAbsl(Concat("--value_bytes=", value_size, ": must be 1 to ", kMostValueSize)));
  }
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(absl::GetFlag(FLAGS_directory), "server");
  if (!directory.ok()) return directory.status();

  std::vector<Kind> kinds = {
      {"echo", {self, "--echo", Concat("--value_bytes=", value_size)}},
      {"bigtable-server",
       {absl::GetFlag(FLAGS_server), directory->path() + "/database", "--address", "127.0.0.1:0"}}};
  if (const std::string emulator = absl::GetFlag(FLAGS_emulator); !emulator.empty()) {
    kinds.push_back({"Google's emulator", {emulator, "-host=127.0.0.1", "-port=0"}});
  }
  std::vector<std::unique_ptr<ServedProcess>> servers;
  std::vector<std::unique_ptr<IdleStreams>> idle;
  for (const Kind& kind : kinds) {
    absl::StatusOr<std::unique_ptr<ServedProcess>> server = ServedProcess::Start(kind.arguments);
    if (!server.ok()) return server.status();
    if (kind.name != "echo") {
      if (absl::Status s = Prepare((*server)->address(), value_size); !s.ok()) return s;
    }
    // The synchronous interface of the server that does nothing hardly works with many.
    if (const int count = absl::GetFlag(FLAGS_idle); count > 0 && kind.name != "echo") {
      absl::StatusOr<std::unique_ptr<IdleStreams>> opened =
          IdleStreams::Open((*server)->address(), count);
      if (!opened.ok()) return opened.status();
      idle.push_back(*std::move(opened));
    }
    servers.push_back(*std::move(server));
  }

  absl::PrintF("  %-18s %10s %10s %8s %10s %10s %8s\n", "server", "calls/s", "CPU us", "/ echo",
               "p50 us", "p99 us", "MB/s");
  for (const Work work : {Work::kMutateRow, Work::kMutateRows, Work::kPointRead, Work::kScan}) {
    if (NameOf(work).find(absl::GetFlag(FLAGS_only)) == std::string_view::npos) continue;
    for (const std::unique_ptr<ServedProcess>& server : servers) {
      if (absl::Status s = WaitUntilIdle(*server); !s.ok()) return s;
    }
    std::vector<Figures> figures(kinds.size());
    for (uint64_t round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < kinds.size(); ++i) {
        if (absl::Status s = Measure(*servers[i], work, CallsOf(work, quick),
                                     absl::GetFlag(FLAGS_threads), &figures[i]);
            !s.ok()) {
          return absl::Status(
              s.code(),
              ToAbsl(Concat(kinds[i].name, ", ", std::string(NameOf(work)), ": ", s.message())));
        }
      }
    }
    absl::PrintF("%s\n", ToAbsl(NameOf(work)));
    for (size_t i = 0; i < kinds.size(); ++i) {
      PrintLine(kinds[i].name, figures[i], Median(figures[0].cpu_us));
    }
    std::fflush(stdout);
  }
  absl::PrintF(
      "\nMedians of %d rounds, values of %d bytes, %d threads (scans: 2). CPU us: of the server's "
      "process, a call.\n%s\n",
      rounds, value_size, absl::GetFlag(FLAGS_threads), DescribeMachine());
  return absl::OkStatus();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Compares servers of Google's Bigtable API: see bench/server/run");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = absl::GetFlag(FLAGS_echo)
                                  ? bench::RunEcho(absl::GetFlag(FLAGS_value_bytes))
                                  : bench::Main("/proc/self/exe");
  if (status.ok()) return 0;
  std::fprintf(stderr, "bench/server: %s\n", std::string(status.message()).c_str());
  return 1;
}
