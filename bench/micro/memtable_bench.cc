// The memtable, with 100,000 entries of 1000-byte values that are in the log, as in the engine.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"

#include "bigtable/memory_budget.h"

#include "base/ref_counted.h"
#include "common.h"
#include "memtable/group_search.h"
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

template <typename Keys>
void InsertAll(benchmark::State& state, Keys keys) {
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
    memtable->AddPinned(keys[i++], value, owner.get());
  }
  benchmark::DoNotOptimize(memtable->bytes());
  state.SetItemsProcessed(state.iterations());
}

void Insert(benchmark::State& state, const std::vector<uint32_t>& rows) {
  InsertAll(state, KeyList(rows, EntryKeyOf));
}

// Inserting an entry, each key above the one before: no search.
void BM_MemtableInsertAscending(benchmark::State& state) { Insert(state, AscendingRows(kEntries)); }
BENCHMARK(BM_MemtableInsertAscending);

// Inserting an entry at a random position, on average of memtables from none to 100,000 entries.
void BM_MemtableInsertRandom(benchmark::State& state) { Insert(state, ShuffledRows(kEntries)); }
BENCHMARK(BM_MemtableInsertRandom);

// The same in groups of 100, as batches are inserted, with searches one after the other or
// together. Between groups, other memory went through the caches.
void BM_MemtableInsertGroups(benchmark::State& state) {
  constexpr size_t kGroup = 100;
  const KeyList keys(ShuffledRows(kEntries), EntryKeyOf);
  const std::string_view value = ValueOf(0, kLargeValue);
  const Ref<const RefCounted> owner = MakeRef<ValueOwner>();
  std::vector<uint64_t> other(static_cast<size_t>(state.range(1)) << 17);
  Ref<Memtable> memtable = NewMemtable();
  GroupSearch search;
  size_t next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    if (next == keys.size()) {
      memtable = NewMemtable();
      next = 0;
    }
    for (size_t i = 0; i < other.size(); i += 8) ++other[i];
    benchmark::DoNotOptimize(other.data());
    state.ResumeTiming();
    for (const size_t end = next + kGroup; next < end;) {
      const size_t some = std::min(GroupSearch::kMost, end - next);
      if (state.range(0) != 0) {
        for (size_t i = next; i < next + some; ++i) search.Add(memtable.get(), keys[i]);
        search.Run();
      }
      for (size_t i = 0; i < some; ++i) {
        if (state.range(0) != 0) search.Use(i);
        memtable->AddPinned(keys[next++], value, owner.get());
      }
      search.Clear();
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kGroup));
}
BENCHMARK(BM_MemtableInsertGroups)
    ->ArgNames({"together", "other_MiB"})
    ->ArgsProduct({{0, 1}, {4, 40}})
    ->MinTime(0.05);

// Inserting newer versions of random cells, ten of each on average at the end.
void BM_MemtableInsertVersions(benchmark::State& state) {
  constexpr uint32_t kMemtableRows = kEntries / 10;
  const std::vector<uint32_t> rows = DrawnRows(kMemtableRows, kEntries);
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < rows.size(); ++i) keys.push_back(EntryKeyOf(rows[i], i + 1));
  InsertAll(state, std::move(keys));
}
BENCHMARK(BM_MemtableInsertVersions);

// Seeking a random existing row. Where no prefix is expected, the first eight bytes of all rows are
// equal. The rows were inserted in random order or in ascending order, as by a first load.
void BM_MemtableSeek(benchmark::State& state) {
  const Ref<const RefCounted> owner = MakeRef<ValueOwner>();
  const Ref<Memtable> memtable =
      state.range(0) != 0 ? NewMemtable()
                          : MakeRef<Memtable>(std::make_shared<MemoryBudget>(uint64_t{1} << 30));
  for (const uint32_t row :
       state.range(1) != 0 ? AscendingRows(kEntries) : ShuffledRows(kEntries)) {
    memtable->AddPinned(EntryKeyOf(row), ValueOf(row, kLargeValue), owner.get());
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
BENCHMARK(BM_MemtableSeek)
    ->ArgNames({"expected_prefix", "ascending"})
    ->ArgsProduct({{1, 0}, {0, 1}});

}  // namespace
}  // namespace bigtable
