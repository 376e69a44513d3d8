// Reading one SSTable of 100,000 rows, in memory: index, blocks and cursor together, no filter.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"

#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"

#include "base/ref_counted.h"
#include "blocks/read_settings.h"
#include "common.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "table_file.h"

namespace bigtable {
namespace {

constexpr uint32_t kFileRows = 100'000;
constexpr size_t kTargets = 1 << 16;

const TableFile& PlainFile() {
  static const TableFile file(AscendingRows(kFileRows), kLargeValue);
  return file;
}
const TableFile& ZstdFile() {
  static const TableFile file(AscendingRows(kFileRows), kLargeValue,
                              {.compression = Compression::kZstd});
  return file;
}

// Looks up random rows, each with a cursor of its own. All blocks were read once before: they are
// verified, and compressed ones are in the block cache if `settings` allow that.
void LookUp(benchmark::State& state, const TableFile& file, const ReadSettings& settings) {
  const absl::StatusOr<Ref<SSTable>> table =
      file.Open(std::make_shared<MemoryBudget>(uint64_t{1} << 30));
  if (Failed(state, table.status())) return;
  if (Failed(state, ReadThrough(**table, settings))) return;

  KeyList targets(DrawnRows(kFileRows, kTargets), SeekTargetOf);
  for (auto _ : state) {
    SSTableCursor cursor(table->get(), settings);
    cursor.Seek(targets.Next());
    if (Missed(state, cursor)) break;
    benchmark::DoNotOptimize(cursor.value());
  }
  state.SetItemsProcessed(state.iterations());
}

// Finding a row in the mapping of a file that is not compressed.
void BM_TableLookupMapped(benchmark::State& state) { LookUp(state, PlainFile(), {}); }
BENCHMARK(BM_TableLookupMapped);

// The same with the block's checksum verified by each read.
void BM_TableLookupVerified(benchmark::State& state) {
  LookUp(state, PlainFile(), {.verify_checksums = true});
}
BENCHMARK(BM_TableLookupVerified);

// Finding a row in a zstd block that is in the block cache.
void BM_TableLookupZstdCached(benchmark::State& state) { LookUp(state, ZstdFile(), {}); }
BENCHMARK(BM_TableLookupZstdCached);

// The same with nothing in the block cache: each read decompresses a block.
void BM_TableLookupZstdUncached(benchmark::State& state) {
  LookUp(state, ZstdFile(), {.fill_cache = false});
}
BENCHMARK(BM_TableLookupZstdUncached);

// One step of a scan through a mapped table, to an entry whose value is not read.
void BM_TableScan(benchmark::State& state) {
  const TableFile file(AscendingRows(kFileRows), static_cast<size_t>(state.range(0)));
  const absl::StatusOr<Ref<SSTable>> table =
      file.Open(std::make_shared<MemoryBudget>(uint64_t{1} << 30));
  if (Failed(state, table.status())) return;
  if (Failed(state, ReadThrough(**table))) return;

  SSTableCursor cursor(table->get());
  for (auto _ : state) {
    cursor.valid() ? cursor.Next() : cursor.SeekToFirst();
    benchmark::DoNotOptimize(cursor.value());
  }
  Failed(state, cursor.status());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_TableScan)->ArgName("value")->Arg(kSmallValue)->Arg(kLargeValue);

}  // namespace
}  // namespace bigtable
