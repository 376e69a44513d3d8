// Sorting a commit log for recovery, and reading the sorted one, on the machine's own file system:
// a gibibyte of mutations of a kilobyte each, in random order of rows, in the page cache.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"

#include "base/status.h"
#include "commitlog/commit_log.h"
#include "common.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "recovery/log_sorter.h"
#include "recovery/sorted_log.h"
#include "schema/mutation_format.h"

namespace bigtable {
namespace {

constexpr uint64_t kLogBytes = uint64_t{1} << 30;
constexpr uint64_t kRecords = kLogBytes / kLargeValue;
constexpr uint64_t kTables = 4;

absl::Status KeyOfMutation(RecordType, std::string_view payload, RecordKey* key) {
  MutationRecord record;
  if (!ParseMutationRecord(payload, &record)) return absl::DataLossError("no mutation");
  *key = {record.table_id, record.mutation.row};
  return absl::OkStatus();
}

// A log, and a directory for the sorted one. Created once, at first use, for all benchmarks.
class LogToSort {
 public:
  static absl::StatusOr<const LogToSort*> Get() {
    static const absl::StatusOr<LogToSort> log = Make();
    BT_RETURN_IF_ERROR(log.status());
    return &*log;
  }

  std::string log() const { return Cat(directory_.path(), "/log"); }
  std::string sorted() const { return Cat(directory_.path(), "/sorted"); }

  absl::Status Sort(size_t threads) const {
    return SortLog(FileSystem::Posix(), log(), {}, KeyOfMutation, sorted(), {.threads = threads})
        .status();
  }

 private:
  explicit LogToSort(bench::TemporaryDirectory directory) : directory_(std::move(directory)) {}

  static absl::StatusOr<LogToSort> Make() {
    const char* const parent = std::getenv("TMPDIR");
    BT_ASSIGN_OR_RETURN(auto directory, bench::TemporaryDirectory::Make(
                                            parent != nullptr ? parent : "/tmp", "bigtable_sort."));
    LogToSort made(std::move(directory));
    BT_ASSIGN_OR_RETURN(const auto log, CommitLog::Create(FileSystem::Posix(), made.log(), {}));
    SequenceNumber sequence = 0;
    std::string payload;
    for (const uint32_t row : ShuffledRows(static_cast<uint32_t>(kRecords))) {
      const bench::Key key(row);
      payload.clear();
      AppendMutationHeader(&payload, {.table_id = row % kTables,
                                      .server_timestamp = 1,
                                      .mutation = {.row = key.view(), .operations = {}}});
      AppendOperation(&payload,
                      {.family = "f", .qualifier = "q", .value = ValueOf(row, kLargeValue)});
      const std::string_view part = payload;
      BT_RETURN_IF_ERROR(log->Append(RecordType::kMutation, ++sequence, {&part, 1}, nullptr));
    }
    BT_RETURN_IF_ERROR(log->Close());
    return made;
  }

  bench::TemporaryDirectory directory_;
};

// With this many threads that sort and write, besides the one that reads.
void BM_SortLog(benchmark::State& state) {
  const auto log = LogToSort::Get();
  if (Failed(state, log.status())) return;
  for (auto _ : state) {
    if (Failed(state, (*log)->Sort(static_cast<size_t>(state.range(0))))) return;
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kLogBytes));
}
BENCHMARK(BM_SortLog)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Iterations(3)
    ->UseRealTime()
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

// The reads of this many recovering servers with equal parts of a table, in turn.
void BM_ReadSortedLog(benchmark::State& state) {
  const auto log = LogToSort::Get();
  if (Failed(state, log.status()) || Failed(state, (*log)->Sort(2))) return;
  const auto sorted = SortedLog::Open(FileSystem::Posix(), (*log)->sorted(), {.verify = false});
  if (Failed(state, sorted.status())) return;
  const auto takers = static_cast<uint64_t>(state.range(0));
  uint64_t bytes = 0;
  for (auto _ : state) {
    for (uint64_t taker = 0; taker < takers; ++taker) {
      const bench::Key first(kRecords * taker / takers);
      const bench::Key end(kRecords * (taker + 1) / takers);
      for (uint64_t table = 0; table < kTables; ++table) {
        const SortedRange range{
            .table_id = table, .first_row = first.view(), .end_row = end.view()};
        const absl::Status status = (*sorted)->Read(range, [&](const SortedRecord& record) {
          bytes += record.payload.size();
          return absl::OkStatus();
        });
        if (Failed(state, status)) return;
      }
    }
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
  state.counters["read"] = static_cast<double>((*sorted)->bytes_read()) /
                           static_cast<double>(bytes);  // for each requested byte
}
BENCHMARK(BM_ReadSortedLog)
    ->ArgName("takers")
    ->Arg(1)
    ->Arg(10)
    ->Arg(100)
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

// The cost of verifying that all of it exists.
void BM_VerifySortedLog(benchmark::State& state) {
  const auto log = LogToSort::Get();
  if (Failed(state, log.status()) || Failed(state, (*log)->Sort(2))) return;
  for (auto _ : state) {
    const auto sorted = SortedLog::Open(FileSystem::Posix(), (*log)->sorted(), {.verify = true});
    if (Failed(state, sorted.status())) return;
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(kLogBytes));
}
BENCHMARK(BM_VerifySortedLog)->Iterations(3)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bigtable
