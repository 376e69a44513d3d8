// The block cache, with blocks of 16 KiB.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "benchmark/benchmark.h"

#include "bigtable/memory_budget.h"

#include "base/ref_counted.h"
#include "cache/block.h"
#include "cache/block_cache.h"
#include "cache/budget_access.h"
#include "common.h"
#include "common/workload.h"

namespace bigtable {
namespace {

constexpr size_t kBlockSize = 16 << 10;
constexpr uint64_t kLimit = 64 << 20;

Ref<Block> NewBlock() {
  char* bytes = nullptr;
  return Block::New(nullptr, kBlockSize, &bytes);
}

// A cache that has the blocks 0 to kBlocks - 1, and room for more.
class WarmCache {
 public:
  static constexpr uint64_t kBlocks = 2000;

  WarmCache() : budget_(kLimit) {
    for (uint64_t i = 0; i < kBlocks; ++i) {
      BudgetAccess::Cache(budget_).Insert(KeyOf(i), NewBlock());
    }
  }
  Ref<Block> Lookup(uint64_t i) { return BudgetAccess::Cache(budget_).Lookup(KeyOf(i)); }

 private:
  static BlockCache::Key KeyOf(uint64_t i) { return {.file_id = 1, .offset = i * kBlockSize}; }

  MemoryBudget budget_;
};

// Finding a random one of 2000 blocks and taking a reference, alone and with another thread.
void BM_CacheHit(benchmark::State& state) {
  static WarmCache cache;
  bench::Random random(static_cast<uint64_t>(state.thread_index()) + 1);
  for (auto _ : state) {
    const Ref<Block> block = cache.Lookup(random.Below(WarmCache::kBlocks));
    if (!block) {
      Failed(state, absl::NotFoundError("a block is not in the cache"));
      break;
    }
    benchmark::DoNotOptimize(block.get());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_CacheHit)->Threads(1)->Threads(2)->UseRealTime();

// Not finding a block in a full cache, allocating it and inserting it, which evicts another.
void BM_CacheMissAndInsert(benchmark::State& state) {
  MemoryBudget budget(kLimit);
  BlockCache& cache = BudgetAccess::Cache(budget);
  BlockCache::Key key{.file_id = 1};
  const auto read = [&] {
    key.offset += kBlockSize;
    Ref<Block> block = cache.Lookup(key);
    if (block) return false;
    cache.Insert(key, NewBlock());
    return true;
  };
  while (key.offset < 2 * kLimit) read();
  for (auto _ : state) {
    if (!read()) {
      Failed(state, absl::InternalError("a block was found that was not inserted"));
      break;
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_CacheMissAndInsert);

}  // namespace
}  // namespace bigtable
