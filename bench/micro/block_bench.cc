// The steps of a read before and in a block: Bloom filter, index, block.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"

#include "base/coding.h"
#include "blocks/block_builder.h"
#include "blocks/block_cursor.h"
#include "blocks/block_index.h"
#include "blocks/stored_block.h"
#include "common.h"
#include "common/workload.h"
#include "sstable/bloom_filter.h"

namespace bigtable {
namespace {

// Entries of the rows from 0 until the block is as large as `size`; `*rows` is their number.
std::string BuildBlock(size_t size, size_t value_size, uint32_t* rows) {
  BlockBuilder builder;
  size_t shared;
  *rows = 0;
  while (builder.size() < size) {
    builder.Add(EntryKeyOf(*rows), ValueOf(*rows, value_size), &shared);
    ++*rows;
  }
  std::string block;
  builder.FinishTo(&block);
  return block;
}

// Opening a block that is in the CPU's cache, and seeking a random row in it.
void BM_BlockSeek(benchmark::State& state) {
  uint32_t rows;
  const std::string block = BuildBlock(static_cast<size_t>(state.range(0)) << 10,
                                       static_cast<size_t>(state.range(1)), &rows);
  KeyList targets(DrawnRows(rows, 1 << 12), SeekTargetOf);
  BlockCursor cursor;
  for (auto _ : state) {
    cursor.Open(block);
    cursor.Seek(targets.Next());
    if (!cursor.valid()) {
      Failed(state, absl::InternalError("a row is not in its block"));
      break;
    }
    benchmark::DoNotOptimize(cursor.value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_BlockSeek)
    ->ArgNames({"KiB", "value"})
    ->ArgsProduct({{4, 16, 64}, {kSmallValue, kLargeValue}});

// Finding the block of a random row in an index of this many blocks of sixteen rows.
void BM_IndexFind(benchmark::State& state) {
  constexpr uint32_t kRowsInBlock = 16;
  constexpr uint64_t kBlockSize = 16 << 10;
  const auto blocks = static_cast<uint32_t>(state.range(0));
  BlockBuilder builder;
  std::string stored_size;
  AppendVarint64(&stored_size, kBlockSize * 4);
  size_t shared;
  for (uint32_t i = 1; i <= blocks; ++i) {
    builder.Add(EntryKeyOf(uint64_t{i} * kRowsInBlock - 1), stored_size, &shared);
  }
  std::string bytes;
  builder.FinishTo(&bytes);
  const absl::StatusOr<BlockIndex> index =
      BlockIndex::Load(bytes, blocks * (kBlockSize + kBlockTrailerSize));
  if (Failed(state, index.status())) return;

  KeyList targets(DrawnRows(blocks * kRowsInBlock, 1 << 16), SeekTargetOf);
  for (auto _ : state) benchmark::DoNotOptimize(index->Find(targets.Next()));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_IndexFind)->ArgName("blocks")->Arg(1000)->Arg(100'000);

// Filters of ten bits a row, all of the same rows, in which row n hashes to Mix(n).
class Filters {
 public:
  Filters(uint64_t rows, size_t count) {
    BloomFilterBuilder builder(/*bits_per_hash=*/10);
    for (uint64_t row = 0; row < rows; ++row) builder.Add(bench::Random::Mix(row));
    std::string lines;
    builder.AppendTo(&lines);
    for (size_t i = 0; i < count; ++i)
      filters_.emplace_back(HashedLines(lines), BloomFilter::Shape{builder.probes()});
  }
  const BloomFilter& operator[](size_t i) const { return filters_[i]; }
  size_t size() const { return filters_.size(); }

 private:
  std::vector<BloomFilter> filters_;
};

// Queries the filters in turn for one of `rows` rows that all, or none, of them have. Queries do
// not depend on each other, so the CPU can overlap them.
void ProbeFilters(benchmark::State& state, bool hit) {
  const auto rows = static_cast<uint64_t>(state.range(0));
  const Filters filters(rows, static_cast<size_t>(state.range(1)));
  const uint64_t first = hit ? 0 : rows;
  size_t filter = 0;
  uint64_t row = 0;
  int64_t maybe = 0;
  for (auto _ : state) {
    if (++filter == filters.size()) filter = 0;
    if (filter == 0 && ++row == rows) row = 0;
    maybe += filters[filter].MayContain(bench::Random::Mix(first + row)) ? 1 : 0;
  }
  benchmark::DoNotOptimize(maybe);
  state.SetItemsProcessed(state.iterations());
  state.counters["maybe"] =
      benchmark::Counter(static_cast<double>(maybe), benchmark::Counter::kAvgIterations);
}

// Querying Bloom filters for a row that they have: one of 12 kB, then 64 of 1.25 MB each.
void BM_BloomFilterHit(benchmark::State& state) { ProbeFilters(state, /*hit=*/true); }
BENCHMARK(BM_BloomFilterHit)
    ->ArgNames({"rows", "filters"})
    ->Args({10'000, 1})
    ->Args({1'000'000, 64});

// The same for rows that they do not have, where mostly the first or second probe decides.
void BM_BloomFilterMiss(benchmark::State& state) { ProbeFilters(state, /*hit=*/false); }
BENCHMARK(BM_BloomFilterMiss)
    ->ArgNames({"rows", "filters"})
    ->Args({10'000, 1})
    ->Args({1'000'000, 64});

}  // namespace
}  // namespace bigtable
