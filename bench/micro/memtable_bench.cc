// The memtable, with 100,000 entries of 1000-byte values that are in the log, as in the engine.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "benchmark/benchmark.h"

#include "bigtable/memory_budget.h"

#include "base/ref_counted.h"
#include "common.h"
#include "memtable/memtable.h"
#include "memtable/memtable_cursor.h"

namespace bigtable {
namespace {

constexpr uint32_t kEntries = 100'000;
constexpr size_t kTargets = 1 << 16;

// Instead of a segment of the log.
class ValueOwner final : public RefCounted {};

// Keys begin with the expected prefix, as they usually do if a tablet already has rows.
Ref<Memtable> NewMemtable() {
  return MakeRef<Memtable>(std::make_shared<MemoryBudget>(uint64_t{1} << 30),
                           SeekTargetOf(0).substr(0, 11));
}

void Insert(benchmark::State& state, const std::vector<uint32_t>& rows) {
  const KeyList keys(rows, EntryKeyOf);
  const std::string_view value = ValueOf(0, kLargeValue);
  const Ref<const RefCounted> owner = MakeRef<ValueOwner>();
  Ref<Memtable> memtable = NewMemtable();
  size_t i = 0;
  for (auto _ : state) {
    if (i == keys.size()) [[unlikely]] {
      state.PauseTiming();
      memtable = NewMemtable();
      i = 0;
      state.ResumeTiming();
    }
    memtable->AddPinned(keys[i++], value, owner);
  }
  benchmark::DoNotOptimize(memtable->bytes());
  state.SetItemsProcessed(state.iterations());
}

// Inserting an entry, each key above the one before: no search.
void BM_MemtableInsertAscending(benchmark::State& state) { Insert(state, AscendingRows(kEntries)); }
BENCHMARK(BM_MemtableInsertAscending);

// Inserting an entry at a random position, on average of memtables from none to 100,000 entries.
void BM_MemtableInsertRandom(benchmark::State& state) { Insert(state, ShuffledRows(kEntries)); }
BENCHMARK(BM_MemtableInsertRandom);

// Seeking a random existing row. Where no prefix is expected, the first eight bytes of all rows are
// equal.
void BM_MemtableSeek(benchmark::State& state) {
  const Ref<const RefCounted> owner = MakeRef<ValueOwner>();
  const Ref<Memtable> memtable =
      state.range(0) != 0 ? NewMemtable()
                          : MakeRef<Memtable>(std::make_shared<MemoryBudget>(uint64_t{1} << 30));
  for (const uint32_t row : ShuffledRows(kEntries)) {
    memtable->AddPinned(EntryKeyOf(row), ValueOf(row, kLargeValue), owner);
  }
  KeyList targets(DrawnRows(kEntries, kTargets), SeekTargetOf);
  MemtableCursor cursor(memtable.get());
  for (auto _ : state) {
    cursor.Seek(targets.Next());
    if (Missed(state, cursor)) break;
    benchmark::DoNotOptimize(cursor.value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_MemtableSeek)->ArgName("expected_prefix")->Arg(1)->Arg(0);

}  // namespace
}  // namespace bigtable
