// Merging, and whole compactions. Their files are in memory: this measures the CPU, with one copy
// of the bytes instead of the disk.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"

#include "bigtable/memory_budget.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/entry_cursor.h"
#include "base/ref_counted.h"
#include "base/status.h"
#include "blocks/read_settings.h"
#include "common.h"
#include "common/strings.h"
#include "common/workload.h"
#include "compaction/job.h"
#include "compaction/merging_cursor.h"
#include "compaction/sorted_run.h"
#include "memtable/memtable.h"
#include "memtable/memtable_cursor.h"
#include "sstable/sstable.h"
#include "sstable/sstable_info.h"
#include "table_file.h"

namespace bigtable {
namespace {

const std::shared_ptr<MemoryBudget>& Budget() {
  static const auto budget = std::make_shared<MemoryBudget>(uint64_t{1} << 30);
  return budget;
}

// The number of rows with values of this size in a compaction's input of 16 MiB.
uint32_t RowsOf(size_t value_size) {
  constexpr size_t kInput = 16 << 20;
  return static_cast<uint32_t>(kInput / (EntryKeyOf(0).size() + value_size));
}

// Sorted runs of one file each, over which the rows are distributed at random.
class Runs {
 public:
  Runs(uint32_t rows, size_t runs, size_t value_size) {
    std::vector<std::vector<uint32_t>> rows_of(runs);
    for (uint32_t row = 0; row < rows; ++row)
      rows_of[bench::Random::Mix(row) % runs].push_back(row);
    for (const std::vector<uint32_t>& some : rows_of) files_.emplace_back(some, value_size);
  }

  // Opens all of them. Call it once.
  absl::Status Open() {
    for (const TableFile& file : files_) {
      BT_ASSIGN_OR_RETURN(Ref<SSTable> table, file.Open(Budget()));
      BT_RETURN_IF_ERROR(ReadThrough(*table));
      runs_.push_back(SortedRun({std::move(table)}));
    }
    return absl::OkStatus();
  }
  const std::deque<SortedRun>& runs() const { return runs_; }

 private:
  std::deque<TableFile> files_;  // a deque because these cannot be moved
  std::deque<SortedRun> runs_;
};

// All of them merged, as in a compaction.
class MergedRuns {
 public:
  explicit MergedRuns(const Runs& runs) {
    for (const SortedRun& run : runs.runs()) {
      input_.Add(&cursors_.emplace_back(&run, ReadSettings{.fill_cache = false}));
    }
  }
  MergingCursor& cursor() { return input_; }

 private:
  std::deque<RunCursor> cursors_;
  MergingCursor input_;
};

// One step of a merge of this many sorted runs with random turns.
void BM_Merge(benchmark::State& state) {
  Runs runs(/*rows=*/100'000, static_cast<size_t>(state.range(0)), kSmallValue);
  if (Failed(state, runs.Open())) return;
  MergedRuns merged(runs);
  MergingCursor& cursor = merged.cursor();
  for (auto _ : state) {
    cursor.valid() ? cursor.Next() : cursor.SeekToFirst();
    benchmark::DoNotOptimize(cursor.value());
  }
  Failed(state, cursor.status());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Merge)->ArgName("runs")->Arg(2)->Arg(4)->Arg(8);

// Repeats the same compaction, each time in an empty file system.
class Compactor {
 public:
  Compactor() {
    job_.new_file_number = [this] { return ++last_number_; };
    job_.path_of = [](uint64_t number) { return Cat("/", number); };
    job_.retention.families = {{.name = "f", .versions = {}}};
  }

  void Reset() { job_.file_system = &file_system_.emplace(); }
  // OK if all of `rows` entries were written.
  absl::Status Run(EntryCursor* input, uint64_t rows) {
    const absl::StatusOr<std::vector<SSTableInfo>> files = job_.Run(input);
    if (!files.ok()) return files.status();
    uint64_t written = 0;
    for (const SSTableInfo& file : *files) written += file.entries;
    if (written == rows) return absl::OkStatus();
    return absl::InternalError(Cat("of ", rows, " entries ", written, " were written"));
  }

 private:
  CompactionJob job_;
  std::optional<InMemoryFileSystem> file_system_;
  uint64_t last_number_ = 0;
};

void Compact(benchmark::State& state, EntryCursor* input, size_t value_size) {
  const uint64_t rows = RowsOf(value_size);
  Compactor compactor;
  for (auto _ : state) {
    state.PauseTiming();
    compactor.Reset();
    state.ResumeTiming();
    if (Failed(state, compactor.Run(input, rows))) break;
  }
  const uint64_t bytes = rows * (EntryKeyOf(0).size() + value_size);
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(rows));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

// Writing a memtable of 16 MiB, filled in random order, to an SSTable; bytes are keys and values.
void BM_MinorCompaction(benchmark::State& state) {
  const auto value_size = static_cast<size_t>(state.range(0));
  const Ref<Memtable> memtable = MakeRef<Memtable>(Budget());
  for (const uint32_t row : ShuffledRows(RowsOf(value_size))) {
    memtable->Add(EntryKeyOf(row), ValueOf(row, value_size));
  }
  MemtableCursor input(memtable.get());
  Compact(state, &input, value_size);
}
BENCHMARK(BM_MinorCompaction)
    ->ArgName("value")
    ->Arg(kSmallValue)
    ->Arg(kLargeValue)
    ->Unit(benchmark::kMillisecond);

// Merging four sorted runs, together 16 MiB, into one; bytes are keys and values.
void BM_MergingCompaction(benchmark::State& state) {
  const auto value_size = static_cast<size_t>(state.range(0));
  Runs runs(RowsOf(value_size), /*runs=*/4, value_size);
  if (Failed(state, runs.Open())) return;
  MergedRuns merged(runs);
  Compact(state, &merged.cursor(), value_size);
}
BENCHMARK(BM_MergingCompaction)
    ->ArgName("value")
    ->Arg(kSmallValue)
    ->Arg(kLargeValue)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bigtable
