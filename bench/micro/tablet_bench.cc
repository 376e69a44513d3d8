// Reading cells of a tablet of 100,000 rows: an SSTable, and a memtable with one row in a hundred.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"

#include "bigtable/memory_budget.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"

#include "base/ref_counted.h"
#include "base/status.h"
#include "common.h"
#include "common/workload.h"
#include "memtable/memtable.h"
#include "read/cell_cursor.h"
#include "schema/table_layout.h"
#include "sstable/sstable.h"
#include "table_file.h"
#include "tablet/tablet_version.h"

namespace bigtable {
namespace {

constexpr uint32_t kTabletRows = 100'000;
constexpr uint32_t kInMemtable = 100;  // one row in this many

absl::StatusOr<std::unique_ptr<TabletVersion>> MakeTablet() {
  static const TableFile file = [] {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < kTabletRows; ++row) {
      if (row % kInMemtable != 0) rows.push_back(row);
    }
    return TableFile(rows, kLargeValue);
  }();
  const auto budget = std::make_shared<MemoryBudget>(uint64_t{1} << 30);
  const Ref<Memtable> memtable = MakeRef<Memtable>(budget);
  for (uint32_t row = 0; row < kTabletRows; row += kInMemtable) {
    memtable->Add(EntryKeyOf(row), ValueOf(row, kLargeValue));
  }
  BT_ASSIGN_OR_RETURN(Ref<SSTable> table, file.Open(budget));
  BT_RETURN_IF_ERROR(ReadThrough(*table));
  TableSchema schema;
  schema.families["f"] = {};
  BT_ASSIGN_OR_RETURN(TableLayout layout, MakeTableLayout("bench", /*table_id=*/1, schema));
  std::vector<GroupVersion> groups;
  groups.push_back({.active = memtable, .runs = {SortedRun{{std::move(table)}}}});
  return std::make_unique<TabletVersion>(std::make_shared<const TableLayout>(std::move(layout)),
                                         std::move(groups), MakeRef<ReadLimit>());
}

// A read of one random row with a cursor of its own: memtable, Bloom filter, SSTable, visibility.
void BM_TabletReadRow(benchmark::State& state) {
  const auto tablet = MakeTablet();
  if (Failed(state, tablet.status())) return;
  const std::vector<uint32_t> drawn = DrawnRows(kTabletRows, 1 << 16);
  KeyList rows(drawn, [](uint64_t row) { return std::string(bench::Key(row).view()); });
  for (auto _ : state) {
    const RowProbe row(**tablet, rows.Next(), /*asks_all=*/true);
    const ReadSpec spec;
    CellCursor cells(tablet->get(), spec);
    cells.ReadRow(row);
    if (!cells.Next()) {
      Failed(state, cells.status().ok() ? absl::NotFoundError("no such row") : cells.status());
      break;
    }
    benchmark::DoNotOptimize(cells.value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_TabletReadRow);

// One step of a scan of all rows, to a cell whose value is not read.
void BM_TabletScan(benchmark::State& state) {
  const auto tablet = MakeTablet();
  if (Failed(state, tablet.status())) return;
  const ReadSpec spec;
  CellCursor cells(tablet->get(), spec);
  cells.ReadRange(RowRange::All());
  for (auto _ : state) {
    if (!cells.Next()) [[unlikely]] {
      if (Failed(state, cells.status())) break;
      cells.ReadRange(RowRange::All());
    }
    benchmark::DoNotOptimize(cells.value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_TabletScan);

}  // namespace
}  // namespace bigtable
