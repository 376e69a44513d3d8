#include "child.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "common/measure.h"
#include "common/strings.h"
#include "common/workload.h"

namespace bench {
namespace {

constexpr uint64_t kTimedOperations = 16;  // one of this many is timed
constexpr uint64_t kTimedRows = 64;        // the same, of a scan
// Small runs repeat, to be long enough for the clock.
constexpr uint64_t kLeastReads = 200'000;
constexpr uint64_t kLeastScannedRows = 2'000'000;
constexpr uint64_t kLeastScans = 5;
// Seeds of the orders in which rows are written and read.
constexpr uint64_t kWriteSeed = 2;
constexpr uint64_t kOverwriteSeed = 3;
constexpr uint64_t kReadSeed = 4;

double PerSecond(uint64_t operations, absl::Duration time) {
  return static_cast<double>(operations) / absl::ToDoubleSeconds(time);
}

double Microseconds(absl::Duration time, uint64_t operations) {
  return absl::ToDoubleMicroseconds(time) / static_cast<double>(operations);
}

std::string RowName(std::string_view key) { return Concat("row ", key); }

// --- Threads that write and read ---

// Writes rows `begin` to `end` of `order`, in that order; in key order if that is empty.
absl::Status WriteRows(Engine& engine, const Values& values, const std::vector<uint32_t>& order,
                       uint64_t begin, uint64_t end, Latencies& latencies) {
  for (uint64_t i = begin; i < end; ++i) {
    const uint64_t row = order.empty() ? i : order[i];
    const Key key(row);
    const std::string_view value = values.Of(row);
    absl::Status s = latencies.Time([&] { return engine.Write(key.view(), value); });
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status ReadRow(Reader& reader, uint64_t row, Latencies& latencies) {
  const Key key(row);
  absl::Status s = latencies.Time([&] {
    absl::Status read = reader.Read(key.view());
    if (read.ok()) Touch(reader.value());
    return read;
  });
  if (!s.ok()) return absl::Status(s.code(), Concat(RowName(key.view()), ": ", s.message()));
  if (reader.value().size() != kValueSize) {
    return absl::DataLossError(
        Concat(RowName(key.view()), " has a value of ", reader.value().size(), " bytes"));
  }
  return absl::OkStatus();
}

absl::Status ReadRandomRows(Engine& engine, Checking checking, uint64_t rows, uint64_t reads,
                            uint64_t seed, Latencies& latencies) {
  const std::unique_ptr<Reader> reader = engine.NewReader(checking);
  Random random(seed);
  for (uint64_t i = 0; i < reads; ++i) {
    if (absl::Status s = ReadRow(*reader, random.Below(rows), latencies); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status ReadRowsInOrder(Engine& engine, Checking checking, uint64_t rows, uint64_t reads,
                             Latencies& latencies) {
  const std::unique_ptr<Reader> reader = engine.NewReader(checking);
  for (uint64_t i = 0; i < reads; ++i) {
    if (absl::Status s = ReadRow(*reader, i % rows, latencies); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status ScanRows(Engine& engine, Checking checking, uint64_t rows, uint64_t scans,
                      Latencies& latencies) {
  for (uint64_t scan = 0; scan < scans; ++scan) {
    const std::unique_ptr<Cursor> cursor = engine.NewCursor(checking);
    uint64_t seen = 0;
    while (latencies.Time([&] {
      const bool there = cursor->Next();
      if (there) Touch(cursor->value());
      return there;
    })) {
      ++seen;
    }
    if (!cursor->status().ok()) return cursor->status();
    if (seen != rows) {
      return absl::DataLossError(Concat("a scan saw ", seen, " of ", rows, " rows"));
    }
  }
  return absl::OkStatus();
}

// --- Steps ---

class Step {
 public:
  Step(const StepOptions& options, const std::function<void(const Result&)>& report)
      : options_(options), report_(report) {}

  absl::Status Run() {
    if (options_.step == "sequential_writes") return Writes(1, {});
    if (options_.step == "random_writes") return Writes(1, RandomOrder(kWriteSeed));
    if (const uint64_t writers = WritersOf(options_.step); writers > 0) {
      return Writes(writers, RandomOrder(kWriteSeed));
    }
    if (options_.step == "reads") return Reads();
    if (options_.step == "reads_mem") return ReadsFromMemory();
    if (options_.step == "read_while_writing") return ReadWhileWriting();
    return absl::InvalidArgumentError(Concat("step ", options_.step));
  }

 private:
  std::vector<uint32_t> RandomOrder(uint64_t seed) const {
    return Permutation(options_.rows, seed);
  }
  bool IsWanted(std::string_view benchmark) const {
    return std::find(options_.benchmarks.begin(), options_.benchmarks.end(), benchmark) !=
           options_.benchmarks.end();
  }
  uint64_t ReadCount() const { return std::max(options_.rows, kLeastReads); }

  absl::Status Open(Purpose purpose) {
    uint64_t limit = options_.memory_limit;
    if (purpose == Purpose::kReadsFromMemory) {
      limit += options_.rows * (kKeySize + kValueSize) / 2 * 3;
    }
    absl::StatusOr<std::unique_ptr<Engine>> engine =
        options_.engine.open({.directory = options_.directory,
                              .purpose = purpose,
                              .memory_limit = limit,
                              .rows = options_.rows});
    if (!engine.ok()) return engine.status();
    engine_ = *std::move(engine);
    return absl::OkStatus();
  }

  // Measures the use of disk and memory now.
  absl::Status MeasureState(Figures& figures) {
    absl::StatusOr<uint64_t> space = SpaceUsed(options_.directory);
    if (!space.ok()) return space.status();
    absl::StatusOr<Memory> memory = ResidentMemory();
    if (!memory.ok()) return memory.status();
    figures.space_bytes = static_cast<double>(*space);
    figures.rss_anon_bytes = static_cast<double>(memory->anonymous);
    figures.rss_bytes = static_cast<double>(memory->resident);
    return absl::OkStatus();
  }

  static void TakeLatencies(Latencies& latencies, Figures& figures) {
    figures.p50_us = latencies.Percentile(0.5);
    figures.p99_us = latencies.Percentile(0.99);
    figures.p999_us = latencies.Percentile(0.999);
  }

  // Writes each row once, in `order`, with `threads` threads of which each has a part of the order.
  absl::Status Writes(uint64_t threads, const std::vector<uint32_t>& order) {
    if (absl::Status s = Open(Purpose::kWrites); !s.ok()) return s;
    const uint64_t rows = options_.rows;
    std::vector<Latencies> latencies(threads, Latencies(kTimedOperations, rows / threads + 1));
    Figures figures;
    absl::Status s = MeasureWork(rows, figures, [&] {
      return InParallel(threads, [&](uint64_t thread) {
        return WriteRows(*engine_, values_, order, rows * thread / threads,
                         rows * (thread + 1) / threads, latencies[thread]);
      });
    });
    if (!s.ok()) return s;
    for (uint64_t i = 1; i < threads; ++i) latencies[0].Add(latencies[i]);
    TakeLatencies(latencies[0], figures);
    if (absl::Status state = MeasureState(figures); !state.ok()) return state;
    report_({.benchmark = options_.step, .figures = figures});
    return engine_->Close();
  }

  // Runs `work`, which writes `rows` rows, and waits until quiet.
  template <typename Work>
  absl::Status MeasureWork(uint64_t rows, Figures& figures, Work&& work) {
    absl::StatusOr<uint64_t> written_before = BytesWritten();
    if (!written_before.ok()) return written_before.status();
    const uint64_t mapped_before = engine_->MappedBytesWritten();
    absl::StatusOr<absl::Duration> cpu_before = CpuTime();
    if (!cpu_before.ok()) return cpu_before.status();

    const absl::Time start = absl::Now();
    if (absl::Status s = work(); !s.ok()) return s;
    const absl::Time end = absl::Now();
    absl::StatusOr<absl::Time> quiet = engine_->WaitUntilQuiet();
    if (!quiet.ok()) return quiet.status();

    absl::StatusOr<absl::Duration> cpu = CpuTime();
    if (!cpu.ok()) return cpu.status();
    absl::StatusOr<uint64_t> written = BytesWritten();
    if (!written.ok()) return written.status();
    const uint64_t bytes =
        *written - *written_before + engine_->MappedBytesWritten() - mapped_before;
    figures.ops_per_second = PerSecond(rows, end - start);
    figures.settle_seconds = std::max(0.0, absl::ToDoubleSeconds(*quiet - end));
    figures.settled_ops_per_second = PerSecond(rows, std::max(*quiet, end) - start);
    figures.cpu_us_per_op = Microseconds(*cpu - *cpu_before, rows);
    figures.write_amplification =
        static_cast<double>(bytes) / static_cast<double>(rows * (kKeySize + kValueSize));
    return absl::OkStatus();
  }

  // Runs work(0) to work(threads - 1), each in a thread of its own; returns one of their errors, if
  // there is any.
  template <typename Work>
  static absl::Status InParallel(uint64_t threads, Work&& work) {
    if (threads == 1) return work(0);
    std::vector<absl::Status> statuses(threads);
    std::vector<std::thread> running;
    for (uint64_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] { statuses[i] = work(i); });
    }
    for (std::thread& thread : running) thread.join();
    for (absl::Status& s : statuses) {
      if (!s.ok()) return std::move(s);
    }
    return absl::OkStatus();
  }

  // Opens the database of random_writes and waits until it is quiet, on disk, and every page was
  // touched, by a scan that also checks every row and its value, and by a read of every row.
  absl::Status OpenForReads(Purpose purpose) {
    if (absl::Status s = Open(purpose); !s.ok()) return s;
    const absl::Time start = absl::Now();
    absl::StatusOr<absl::Time> quiet = engine_->WaitUntilQuiet();
    if (!quiet.ok()) return quiet.status();
    settle_ = std::max(absl::ZeroDuration(), *quiet - start);
    if (absl::Status s = SyncFileSystem(options_.directory); !s.ok()) return s;

    const std::unique_ptr<Cursor> cursor = engine_->NewCursor(Checking::kDefault);
    uint64_t row = 0;
    for (; cursor->Next(); ++row) {
      if (cursor->key() != Key(row).view() || cursor->value() != values_.Of(row)) {
        return absl::DataLossError(Concat("a scan came to ", RowName(cursor->key()),
                                          ", or to another value than "
                                          "was written, where ",
                                          RowName(Key(row).view()), " is due"));
      }
    }
    if (!cursor->status().ok()) return cursor->status();
    if (row != options_.rows) {
      return absl::DataLossError(Concat("a scan saw ", row, " of ", options_.rows, " rows"));
    }
    // LevelDB compacts files that are read often: that must be over as well.
    Latencies unused(kTimedOperations, options_.rows);
    absl::Status s =
        ReadRowsInOrder(*engine_, Checking::kDefault, options_.rows, options_.rows, unused);
    if (!s.ok()) return s;
    return engine_->WaitUntilQuiet().status();
  }

  // Runs `work`, which reads `reads` rows with the given checking and records latencies, and
  // reports.
  template <typename Work>
  absl::Status MeasureReads(std::string_view benchmark, Checking checking, uint64_t reads,
                            uint64_t interval, Work&& work) {
    Latencies latencies(interval, reads);
    absl::StatusOr<absl::Duration> cpu_before = CpuTime();
    if (!cpu_before.ok()) return cpu_before.status();
    const absl::Time start = absl::Now();
    if (absl::Status s = work(checking, latencies); !s.ok()) return s;
    const absl::Time end = absl::Now();
    absl::StatusOr<absl::Duration> cpu = CpuTime();
    if (!cpu.ok()) return cpu.status();

    Figures figures;
    figures.ops_per_second = PerSecond(reads, end - start);
    figures.cpu_us_per_op = Microseconds(*cpu - *cpu_before, reads);
    figures.settle_seconds = absl::ToDoubleSeconds(settle_);
    TakeLatencies(latencies, figures);
    if (absl::Status s = MeasureState(figures); !s.ok()) return s;
    report_({.benchmark = std::string(benchmark), .checking = checking, .figures = figures});
    return absl::OkStatus();
  }

  // The same with each requested kind of checking, if the benchmark was requested.
  template <typename Work>
  absl::Status MeasureReadsIfWanted(std::string_view benchmark, uint64_t reads, uint64_t interval,
                                    Work&& work) {
    if (!IsWanted(benchmark)) return absl::OkStatus();
    for (const Checking checking : options_.checkings) {
      if (absl::Status s = MeasureReads(benchmark, checking, reads, interval, work); !s.ok()) {
        return s;
      }
    }
    return absl::OkStatus();
  }

  absl::Status Reads() {
    if (absl::Status s = OpenForReads(Purpose::kReads); !s.ok()) return s;
    const uint64_t rows = options_.rows;
    const uint64_t reads = ReadCount();
    absl::Status s = MeasureReadsIfWanted(
        "random_reads", reads, kTimedOperations, [&](Checking checking, Latencies& latencies) {
          return ReadRandomRows(*engine_, checking, rows, reads, kReadSeed, latencies);
        });
    if (!s.ok()) return s;
    s = MeasureReadsIfWanted("sequential_reads", reads, kTimedOperations,
                             [&](Checking checking, Latencies& latencies) {
                               return ReadRowsInOrder(*engine_, checking, rows, reads, latencies);
                             });
    if (!s.ok()) return s;
    const uint64_t scans = std::max(kLeastScans, kLeastScannedRows / rows);
    s = MeasureReadsIfWanted("scans", scans * rows, kTimedRows,
                             [&](Checking checking, Latencies& latencies) {
                               return ScanRows(*engine_, checking, rows, scans, latencies);
                             });
    if (!s.ok()) return s;
    s = MeasureReadsIfWanted("random_reads_2", 2 * reads, kTimedOperations,
                             [&](Checking checking, Latencies& latencies) {
                               return ReadWithTwoThreads(checking, reads, latencies);
                             });
    if (!s.ok()) return s;
    return engine_->Close();
  }

  absl::Status ReadWithTwoThreads(Checking checking, uint64_t reads, Latencies& latencies) {
    std::vector<Latencies> own(2, Latencies(kTimedOperations, reads));
    absl::Status s = InParallel(2, [&](uint64_t thread) {
      return ReadRandomRows(*engine_, checking, options_.rows, reads, kReadSeed + thread,
                            own[thread]);
    });
    for (const Latencies& l : own) latencies.Add(l);
    return s;
  }

  absl::Status ReadsFromMemory() {
    if (absl::Status s = OpenForReads(Purpose::kReadsFromMemory); !s.ok()) return s;
    const uint64_t reads = ReadCount();
    absl::Status s = MeasureReadsIfWanted(
        "random_reads_mem", reads, kTimedOperations, [&](Checking checking, Latencies& latencies) {
          return ReadRandomRows(*engine_, checking, options_.rows, reads, kReadSeed, latencies);
        });
    if (!s.ok()) return s;
    return engine_->Close();
  }

  // A writer overwrites each row once while a reader reads, until the writer is done.
  absl::Status ReadWhileWriting() {
    if (absl::Status s = OpenForReads(Purpose::kReadsAndWrites); !s.ok()) return s;
    const std::vector<uint32_t> order = RandomOrder(kOverwriteSeed);
    Latencies write_latencies(kTimedOperations, options_.rows);
    Latencies read_latencies(kTimedOperations, options_.rows);
    std::atomic<bool> done = false;
    uint64_t reads = 0;
    Figures figures;
    absl::Status s = MeasureWork(options_.rows, figures, [&] {
      return InParallel(2, [&](uint64_t thread) {
        if (thread == 0) return ReadUntil(done, reads, read_latencies);
        absl::Status written =
            WriteRows(*engine_, values_, order, 0, options_.rows, write_latencies);
        done = true;
        return written;
      });
    });
    if (!s.ok()) return s;
    figures.writes_per_second = figures.ops_per_second;
    const double writes = static_cast<double>(options_.rows);
    figures.ops_per_second = static_cast<double>(reads) / writes * figures.writes_per_second;
    figures.cpu_us_per_op *= writes / (writes + static_cast<double>(reads));
    TakeLatencies(read_latencies, figures);
    figures.write_p50_us = write_latencies.Percentile(0.5);
    figures.write_p99_us = write_latencies.Percentile(0.99);
    figures.write_p999_us = write_latencies.Percentile(0.999);
    figures.settled_ops_per_second = Figures::kNone;
    if (absl::Status state = MeasureState(figures); !state.ok()) return state;
    report_({.benchmark = options_.step, .figures = figures});
    return engine_->Close();
  }

  absl::Status ReadUntil(const std::atomic<bool>& done, uint64_t& reads, Latencies& latencies) {
    const std::unique_ptr<Reader> reader = engine_->NewReader(Checking::kDefault);
    Random random(kReadSeed);
    uint64_t count = 0;
    absl::Status s;
    while (s.ok() && !done.load(std::memory_order_relaxed)) {
      s = ReadRow(*reader, random.Below(options_.rows), latencies);
      ++count;
    }
    reads = count;
    return s;
  }

  const StepOptions& options_;
  const std::function<void(const Result&)>& report_;
  const Values values_;
  std::unique_ptr<Engine> engine_;
  absl::Duration settle_;  // from opening until quiet
};

}  // namespace

std::vector<std::string_view> BenchmarksOf(std::string_view step) {
  if (step == "reads") return {"random_reads", "sequential_reads", "scans", "random_reads_2"};
  if (step == "reads_mem") return {"random_reads_mem"};
  return {step};
}

absl::Status RunStep(const StepOptions& options, const std::function<void(const Result&)>& report) {
  return Step(options, report).Run();
}

}  // namespace bench
