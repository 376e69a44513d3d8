#include "experiment.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "common/interrupt.h"
#include "common/measure.h"
#include "common/page_cache.h"
#include "common/strings.h"
#include "operation_latencies.h"
#include "probe.h"
#include "subject.h"
#include "workloads/workloads.h"

namespace bench {
namespace {

// In lockstep, the number of checks for due compactions while a memtable fills.
constexpr uint64_t kLooksPerMemtable = 16;
// A row takes at least this much of a memtable, however short its value is.
constexpr uint64_t kLeastInMemtable = 100;

// Time and CPU of the operations, without samples.
class Effort {
 public:
  struct Spent {
    absl::Duration time;
    absl::Duration cpu;
  };

  absl::Status Start() {
    start_ = absl::Now();
    return TakeCpu(&cpu_start_);
  }
  absl::StatusOr<Spent> SoFar() const {
    absl::Duration cpu;
    if (absl::Status s = TakeCpu(&cpu); !s.ok()) return s;
    return Spent{absl::Now() - start_ - without_.time, cpu - cpu_start_ - without_.cpu};
  }
  // Runs `work`. Its time does not count, nor the CPU of the calling thread. The CPU of other
  // threads does, because compactions continue.
  template <typename Work>
  absl::Status Without(Work&& work) {
    const absl::Time start = absl::Now();
    const absl::Duration cpu = ThreadCpuTime();
    absl::Status s = work();
    without_.time += absl::Now() - start;
    without_.cpu += ThreadCpuTime() - cpu;
    return s;
  }

 private:
  static absl::Status TakeCpu(absl::Duration* cpu) {
    absl::StatusOr<absl::Duration> now = CpuTime();
    if (now.ok()) *cpu = *now;
    return now.status();
  }

  absl::Time start_;
  absl::Duration cpu_start_;
  Spent without_;
};

class Experiment {
 public:
  Experiment(const ExperimentOptions& options, Report* report)
      : options_(options),
        report_(*report),
        workload_(MakeWorkload(options.workload, options.workload_options)),
        row_size_(options.format.row_size()),
        operations_per_look_(std::max<uint64_t>(
            1, options.memtable_size / std::max(row_size_, kLeastInMemtable) / kLooksPerMemtable)) {
  }

  absl::Status Run() {
    absl::StatusOr<std::unique_ptr<Subject>> subject =
        OpenSubject({.directory = options_.directory,
                     .policy = options_.policy,
                     .format = options_.format,
                     .memory_budget = options_.memory_budget,
                     .memtable_size = options_.memtable_size,
                     .compaction_threads = options_.compaction_threads,
                     .rocksdb_options = options_.rocksdb_options,
                     .tablet_size = options_.tablet_size,
                     .lifetime = workload_->lifetime(),
                     .positional = options_.positional,
                     .counts_touches = options_.counts_touches});
    if (!subject.ok()) return subject.status();
    subject_ = *std::move(subject);
    if (absl::Status s = Prepare(); !s.ok()) return s;
    if (absl::Status s = Operate(); !s.ok()) return s;
    if (absl::Status s = Verify(); !s.ok()) return s;
    return subject_->Close();
  }

 private:
  absl::Status Prepare() {
    for (const uint32_t row : workload_->Preparation()) {
      if (absl::Status s = Do({Operation::Kind::kWrite, row}); !s.ok()) return s;
    }
    done_ = 0;
    user_bytes_ = 0;
    if (absl::Status s = subject_->Settle(); !s.ok()) return s;
    absl::StatusOr<SubjectFigures> before = subject_->Figures();
    if (before.ok()) before_ = *before;
    (void)subject_->TakeEvents();
    latencies_ = {};
    begin_ = absl::Now();
    return before.status();
  }

  absl::Status Operate() {
    if (absl::Status s = effort_.Start(); !s.ok()) return s;
    if (workload_->live_rows() > 0) {
      if (absl::Status s = TakeSample(/*quiet=*/false); !s.ok()) return s;
    }
    const uint64_t operations = workload_->operations();
    for (uint64_t sample = 1; sample <= options_.samples; ++sample) {
      while (done_ < operations * sample / options_.samples) {
        if (absl::Status s = Do(workload_->Next()); !s.ok()) return s;
      }
      if (absl::Status s = TakeSample(/*quiet=*/false); !s.ok()) return s;
    }
    if (absl::Status s = subject_->Settle(); !s.ok()) return s;
    return TakeSample(/*quiet=*/true);
  }

  absl::Status Do(const Operation& operation) {
    subject_->Step();
    const auto begin = std::chrono::steady_clock::now();
    absl::Status s = DoOnSubject(operation);
    latencies_.Record(operation.kind, std::chrono::steady_clock::now() - begin);
    if (!s.ok()) return s;
    ++done_;
    if (done_ % operations_per_look_ != 0) return s;
    if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
    if (options_.lockstep) s = subject_->WaitUntilQuiet();
    const uint64_t operations_per_drop = kLooksPerMemtable * operations_per_look_;
    if (!s.ok() || !options_.drops_pages || done_ % operations_per_drop != 0) return s;
    return effort_.Without([&] { return DropFromPageCache(options_.directory); });
  }

  absl::Status DoOnSubject(const Operation& operation) {
    switch (operation.kind) {
      case Operation::Kind::kWrite:
        user_bytes_ += row_size_;
        return subject_->Write(operation.row);
      case Operation::Kind::kDelete:
        user_bytes_ += options_.format.key_size;
        return subject_->Delete(operation.row);
      case Operation::Kind::kRead:
        return subject_->Read(operation.row);
      case Operation::Kind::kScan:
        return subject_->Scan(operation.row, operation.scanned_rows).status();
      case Operation::Kind::kReadModifyWrite:
        if (absl::Status s = subject_->Read(operation.row); !s.ok()) return s;
        user_bytes_ += row_size_;
        return subject_->Write(operation.row);
    }
    return absl::InternalError("an operation of no kind");
  }

  // --- Samples ---

  absl::Status TakeSample(bool quiet) {
    absl::StatusOr<Effort::Spent> spent = effort_.SoFar();
    if (!spent.ok()) return spent.status();
    return effort_.Without([&] {
      Sample sample;
      sample.operations = static_cast<double>(done_);
      sample.quiet = quiet ? 1 : 0;
      AddRates(*spent, quiet ? Mark() : last_, &sample);
      if (absl::Status s = AddStatistics(&sample); !s.ok()) return s;
      if (absl::Status s = AddSpace(&sample); !s.ok()) return s;
      latencies_.AddTo(quiet, &sample);
      if (absl::Status s = AddReads(&sample); !s.ok()) return s;
      report_.Add(sample);
      report_.AddEvents(begin_, subject_->TakeEvents());
      last_ = {done_, *spent};
      return absl::OkStatus();
    });
  }

  struct Mark {
    uint64_t operations = 0;
    Effort::Spent spent;
  };

  void AddRates(const Effort::Spent& spent, const Mark& since, Sample* sample) const {
    sample->seconds = absl::ToDoubleSeconds(spent.time);
    if (done_ == since.operations) return;
    const auto operations = static_cast<double>(done_ - since.operations);
    sample->ops_per_second = operations / absl::ToDoubleSeconds(spent.time - since.spent.time);
    // RocksDB does not notify anybody that it is quiet, so in lockstep most of the CPU is polling.
    if (options_.lockstep && options_.policy.is_rocksdb) return;
    sample->cpu_us_per_op = absl::ToDoubleMicroseconds(spent.cpu - since.spent.cpu) / operations;
  }

  absl::Status AddStatistics(Sample* sample) const {
    const absl::StatusOr<SubjectFigures> now = subject_->Figures();
    if (!now.ok()) return now.status();
    const auto since = [&](double SubjectFigures::*figure) {
      return (*now).*figure - before_.*figure;
    };
    sample->stall_seconds = since(&SubjectFigures::stall_seconds);
    sample->user_bytes = static_cast<double>(user_bytes_);
    sample->log_bytes = since(&SubjectFigures::log_bytes);
    sample->flush_bytes = since(&SubjectFigures::flush_bytes);
    sample->merge_read_bytes = since(&SubjectFigures::merge_read_bytes);
    sample->merge_bytes = since(&SubjectFigures::merge_bytes);
    sample->moved_bytes = since(&SubjectFigures::moved_bytes);
    sample->dropped_bytes = since(&SubjectFigures::dropped_bytes);
    if (user_bytes_ > 0) {
      sample->write_amplification =
          (sample->log_bytes + sample->flush_bytes + sample->merge_bytes) / sample->user_bytes;
    }
    sample->tablets = now->tablets;
    sample->file_bytes = now->file_bytes;
    sample->entries = now->entries;
    sample->sorted_runs = now->sorted_runs;
    sample->files = now->files;
    sample->memtables = now->memtables;
    sample->sources = sample->sorted_runs + sample->memtables;
    return absl::OkStatus();
  }

  absl::Status AddSpace(Sample* sample) const {
    absl::StatusOr<uint64_t> disk = SpaceUsed(options_.directory);
    if (!disk.ok()) return disk.status();
    sample->disk_bytes = static_cast<double>(*disk);
    sample->live_bytes = static_cast<double>(workload_->live_rows() * row_size_);
    if (sample->live_bytes > 0)
      sample->space_amplification = sample->file_bytes / sample->live_bytes;
    return absl::OkStatus();
  }

  absl::Status AddReads(Sample* sample) {
    return ProbeReads(*subject_, *workload_, done_,
                      {.is_first = options_.positional, .counts_touches = options_.counts_touches},
                      sample);
  }

  // Checks that no row was lost or restored.
  absl::Status Verify() {
    absl::StatusOr<uint64_t> rows = subject_->Scan(0, 0);
    if (!rows.ok()) return rows.status();
    if (*rows != workload_->live_rows()) {
      return absl::DataLossError(
          Concat("a scan in the end saw ", *rows, " of ", workload_->live_rows(), " rows"));
    }
    return absl::OkStatus();
  }

  const ExperimentOptions& options_;
  Report& report_;
  const std::unique_ptr<Workload> workload_;
  const uint64_t row_size_;
  const uint64_t operations_per_look_;
  std::unique_ptr<Subject> subject_;
  SubjectFigures before_;  // the measured operations
  absl::Time begin_;       // of these
  OperationLatencies latencies_;
  Effort effort_;
  uint64_t done_ = 0;        // operations
  uint64_t user_bytes_ = 0;  // of these
  Mark last_;                // sample
};

}  // namespace

absl::Status RunExperiment(const ExperimentOptions& options, Report* report) {
  return Experiment(options, report).Run();
}

}  // namespace bench
