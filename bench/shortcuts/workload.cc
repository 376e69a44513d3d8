#include "workload.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "common/strings.h"
#include "loads.h"

namespace bench {
namespace {

using bigtable::DatabaseOptions;
using bigtable::Filter;
using bigtable::ReadOptions;
using bigtable::RowMutation;
using bigtable::RowRange;
using bigtable::RowReader;
using bigtable::TableSchema;
using bigtable::Timestamp;

// --- Rounds ---

absl::Status CheckCells(const bigtable::Row& row, size_t least) {
  if (row.cells().size() >= least) return absl::OkStatus();
  return absl::InternalError(Concat("a row has ", row.cells().size(), " cells, not ", least));
}

// Single rows; each must have a cell if `least` is 1.
absl::StatusOr<uint64_t> ReadRandomRows(Subject* subject, uint64_t count, uint64_t rows,
                                        const Filter& filter, size_t least = 1) {
  for (uint64_t i = 0; i < count; ++i) {
    absl::StatusOr<bigtable::Row> row =
        subject->table->ReadRow(Key(subject->random.Below(rows)).view(), filter);
    if (!row.ok()) return row.status();
    if (absl::Status s = CheckCells(*row, least); !s.ok()) return s;
  }
  return count;
}

absl::StatusOr<uint64_t> ReadRows(Subject* subject) {
  return ReadRandomRows(subject, 50'000, kRows, {});
}
absl::StatusOr<uint64_t> ReadHotRows(Subject* subject) {
  return ReadRandomRows(subject, 100'000, 1000, {});
}
absl::StatusOr<uint64_t> ReadColdRows(Subject* subject) {
  return ReadRandomRows(subject, 5'000, kRows, {});
}
absl::StatusOr<uint64_t> ReadLargeRows(Subject* subject) {
  return ReadRandomRows(subject, 5'000, kLargeRows, {});
}
absl::StatusOr<uint64_t> ReadCounters(Subject* subject) {
  return ReadRandomRows(subject, 2000, kCounters, {});
}
absl::StatusOr<uint64_t> ReadOldVersions(Subject* subject) {
  return ReadRandomRows(subject, 20'000, kRows / kVersions,
                        Filter::TimestampRange(Timestamp(1), Timestamp(3)));
}
absl::StatusOr<uint64_t> ReadOneColumn(Subject* subject) {
  return ReadRandomRows(subject, 20'000, kWideRows, Filter::Column("f", "column-12"));
}

absl::StatusOr<uint64_t> ReadBatchesOf64(Subject* subject, uint64_t batches) {
  constexpr size_t kRowsOfBatch = 64;
  for (uint64_t batch = 0; batch < batches; ++batch) {
    std::vector<Key> keys;
    std::vector<std::string_view> rows;
    for (size_t i = 0; i < kRowsOfBatch; ++i) keys.emplace_back(subject->random.Below(kRows));
    for (const Key& key : keys) rows.push_back(key.view());
    for (const absl::StatusOr<bigtable::Row>& row : subject->table->GetRows(rows)) {
      if (!row.ok()) return row.status();
      if (absl::Status s = CheckCells(*row, 1); !s.ok()) return s;
    }
  }
  return batches * kRowsOfBatch;
}
absl::StatusOr<uint64_t> ReadBatches(Subject* subject) { return ReadBatchesOf64(subject, 1000); }
absl::StatusOr<uint64_t> ReadColdBatches(Subject* subject) { return ReadBatchesOf64(subject, 100); }

absl::StatusOr<uint64_t> ReadTenantRows(Subject* subject) {
  constexpr uint64_t kCount = 50'000;
  for (uint64_t i = 0; i < kCount; ++i) {
    absl::StatusOr<bigtable::Row> row =
        subject->table->ReadRow(TenantKey(subject->random.Below(kRows)));
    if (!row.ok()) return row.status();
    if (absl::Status s = CheckCells(*row, 1); !s.ok()) return s;
  }
  return kCount;
}

absl::StatusOr<uint64_t> ReadAbsentRows(Subject* subject) {
  constexpr uint64_t kCount = 50'000;
  for (uint64_t i = 0; i < kCount; ++i) {
    const std::string key = Concat(Key(subject->random.Below(kRows)).view(), "x");
    absl::StatusOr<bigtable::Row> row = subject->table->ReadRow(key);
    if (!row.ok()) return row.status();
    if (!row->empty()) return absl::InternalError("an absent row was found");
  }
  return kCount;
}

// Returns the number of cells.
absl::StatusOr<uint64_t> Scan(Subject* subject, const RowRange& range, const Filter& filter,
                              uint64_t least, const ReadOptions& options = {}) {
  uint64_t cells = 0;
  RowReader rows = subject->table->ReadRows(range, filter, options);
  while (rows.Next()) cells += rows.row().cells().size();
  if (!rows.status().ok()) return rows.status();
  if (cells < least) return absl::InternalError(Concat("a scan has ", cells, " cells"));
  return cells;
}

absl::StatusOr<uint64_t> ScanAll(Subject* subject) {
  return Scan(subject, RowRange::All(), {}, kRows);
}
absl::StatusOr<uint64_t> ScanBackwards(Subject* subject) {
  return Scan(subject, RowRange::All(), {}, kRows, {.reverse = true});
}
absl::StatusOr<uint64_t> ScanColumns(Subject* subject) {
  return Scan(subject, RowRange::All(), {}, kWideRows);
}
absl::StatusOr<uint64_t> ScanOneColumn(Subject* subject) {
  return Scan(subject, RowRange::All(), Filter::Column("f", "column-12"), kWideRows);
}
absl::StatusOr<uint64_t> ScanLatest(Subject* subject) {
  return Scan(subject, RowRange::All(), Filter::Latest(1), 1000);
}
absl::StatusOr<uint64_t> ScanOneGroup(Subject* subject) {
  return Scan(subject, RowRange::All(), Filter::Family("f"), kRows / 2);
}

absl::StatusOr<uint64_t> ScanTenRows(Subject* subject, uint64_t scans) {
  for (uint64_t i = 0; i < scans; ++i) {
    const Key key(subject->random.Below(kRows - 100));
    absl::StatusOr<uint64_t> cells =
        Scan(subject, RowRange::StartingAt(key.view()), {}, 10, {.row_limit = 10});
    if (!cells.ok()) return cells.status();
  }
  return scans;
}
absl::StatusOr<uint64_t> ScanTenRows(Subject* subject) { return ScanTenRows(subject, 5'000); }
absl::StatusOr<uint64_t> ScanTenColdRows(Subject* subject) { return ScanTenRows(subject, 200); }

// The same by their first and their last row.
absl::StatusOr<uint64_t> ScanRangesOfTenRows(Subject* subject) {
  constexpr uint64_t kScans = 5'000;
  for (uint64_t i = 0; i < kScans; ++i) {
    const uint64_t row = subject->random.Below(kRows - 100);
    absl::StatusOr<uint64_t> cells =
        Scan(subject, RowRange::RightOpen(Key(row).view(), Key(row + 10).view()), {}, 10);
    if (!cells.ok()) return cells.status();
  }
  return kScans;
}

// As ScanTenRows, while another thread writes and syncs.
absl::StatusOr<uint64_t> ScanWhileSyncing(Subject* subject) {
  std::atomic<bool> is_done = false;
  absl::Status written;
  std::thread writer([&] {
    for (uint64_t row = 0; !is_done && written.ok(); row = (row + 1) % kRows) {
      RowMutation mutation(Key(row).view());
      mutation.Set("f:q", SmallValues().Of(row));
      written = subject->table->Apply(mutation, {.durability = bigtable::Durability::kSync});
    }
  });
  const absl::Time end = absl::Now() + absl::Milliseconds(200);
  absl::StatusOr<uint64_t> scans = 0;
  do {
    const absl::StatusOr<uint64_t> more = ScanTenRows(subject, 100);
    scans = more.ok() ? *scans + *more : more;
  } while (scans.ok() && absl::Now() < end);
  is_done = true;
  writer.join();
  return written.ok() ? scans : written;
}

// Rows of a few prefixes, as the values of a dimension in a key are asked for.
absl::StatusOr<uint64_t> ScanByRegex(Subject* subject) {
  constexpr uint64_t kScans = 20;
  for (uint64_t i = 0; i < kScans; ++i) {
    absl::StatusOr<uint64_t> cells =
        Scan(subject, RowRange::All(), Filter::RowKeysRegex("00000000000(01|23|45)..."), 3000);
    if (!cells.ok()) return cells.status();
  }
  return kScans;
}

// The first row that is left.
absl::StatusOr<uint64_t> ScanPastDeleted(Subject* subject) {
  constexpr uint64_t kScans = 20;
  for (uint64_t i = 0; i < kScans; ++i) {
    absl::StatusOr<uint64_t> cells = Scan(subject, RowRange::All(), {}, 1, {.row_limit = 1});
    if (!cells.ok()) return cells.status();
  }
  return kScans;
}

absl::StatusOr<uint64_t> WriteRandomRows(Subject* subject) {
  constexpr uint64_t kCount = 20'000;
  for (uint64_t i = 0; i < kCount; ++i) {
    const uint64_t row = subject->random.Below(1'000'000);
    if (absl::Status s = WriteRow(subject, row, LargeValues().Of(row)); !s.ok()) return s;
  }
  return kCount;
}

absl::StatusOr<uint64_t> WriteSmallRandomRows(Subject* subject) {
  constexpr uint64_t kCount = 30'000;
  for (uint64_t i = 0; i < kCount; ++i) {
    const uint64_t row = subject->random.Below(1'000'000);
    if (absl::Status s = WriteRow(subject, row, SmallValues().Of(row)); !s.ok()) return s;
  }
  return kCount;
}

absl::StatusOr<uint64_t> WriteTenantRows(Subject* subject) {
  constexpr uint64_t kCount = 30'000;
  for (uint64_t i = 0; i < kCount; ++i) {
    if (absl::Status s = WriteTenantRow(subject, subject->random.Below(1'000'000)); !s.ok())
      return s;
  }
  return kCount;
}

absl::StatusOr<uint64_t> WriteRowsInOrder(Subject* subject) {
  constexpr uint64_t kCount = 30'000;
  for (uint64_t i = 0; i < kCount; ++i) {
    const uint64_t row = subject->rounds * kCount + i;
    if (absl::Status s = WriteRow(subject, row, SmallValues().Of(row)); !s.ok()) return s;
  }
  return kCount;
}

absl::StatusOr<uint64_t> WriteBatches(Subject* subject) {
  constexpr uint64_t kBatches = 300;
  constexpr uint64_t kRowsOfBatch = 100;
  std::vector<RowMutation> batch;
  for (uint64_t i = 0; i < kBatches; ++i) {
    batch.clear();
    for (uint64_t j = 0; j < kRowsOfBatch; ++j) {
      const uint64_t row = subject->random.Below(1'000'000);
      batch.emplace_back(Key(row).view());
      batch.back().Set("f:q", SmallValues().Of(row));
    }
    for (const absl::Status& s : subject->table->ApplyBatch(batch)) {
      if (!s.ok()) return s;
    }
  }
  return kBatches * kRowsOfBatch;
}

absl::StatusOr<uint64_t> WriteWideRows(Subject* subject) {
  constexpr uint64_t kCount = 2000;
  for (uint64_t i = 0; i < kCount; ++i) {
    const uint64_t row = subject->random.Below(1'000'000);
    RowMutation mutation(Key(row).view());
    for (uint64_t column = 0; column < kColumns; ++column) {
      mutation.Set(Column(column), SmallValues().Of(row));
    }
    if (absl::Status s = subject->table->Apply(mutation); !s.ok()) return s;
  }
  return kCount * kColumns;
}

// All that a load of new rows costs in the end.
template <absl::StatusOr<uint64_t> (*kWrite)(Subject*)>
absl::StatusOr<uint64_t> WriteAndCompact(Subject* subject) {
  uint64_t count = 0;
  for (int i = 0; i < 3; ++i) {
    absl::StatusOr<uint64_t> written = kWrite(subject);
    if (!written.ok()) return written.status();
    count += *written;
    if (absl::Status s = Flush(subject); !s.ok()) return s;
    ++subject->rounds;
  }
  return count;
}

// --- Settings ---

void NoCompactions(DatabaseOptions* /*options*/, TableSchema* schema) {
  schema->locality_groups["default"].compaction = bigtable::CompactionStyle::kNone;
}
void RowIndex(DatabaseOptions* /*options*/, TableSchema* schema) {
  schema->locality_groups["default"].filter = bigtable::FilterKind::kRowIndex;
}
void ByPosition(DatabaseOptions* options, TableSchema* /*schema*/) {
  options->read_mode = bigtable::FileSystem::ReadMode::kPositional;
}
// Little of what is read stays in memory.
void ByPositionInLittleMemory(DatabaseOptions* options, TableSchema* schema) {
  ByPosition(options, schema);
  options->memory_budget = uint64_t{32} << 20;
}
void ScanCache(DatabaseOptions* options, TableSchema* /*schema*/) { options->scan_cache = true; }
void SmallFiles(DatabaseOptions* options, TableSchema* schema) {
  options->target_file_size = uint64_t{1} << 20;
  schema->locality_groups["default"].compaction = bigtable::CompactionStyle::kLeveled;
}
void AllVersions(DatabaseOptions* /*options*/, TableSchema* schema) {
  schema->families["f"].gc = {};
  schema->locality_groups["default"].compaction = bigtable::CompactionStyle::kNone;
}
void AllVersionsInLittleMemory(DatabaseOptions* options, TableSchema* schema) {
  AllVersions(options, schema);
  ByPositionInLittleMemory(options, schema);
}
void ThreeVersions(DatabaseOptions* options, TableSchema* schema) {
  AllVersions(options, schema);
  schema->families["f"].gc = bigtable::GcRule::MaxVersions(3);
}
void TwoGroups(DatabaseOptions* /*options*/, TableSchema* schema) {
  schema->locality_groups["large"] = {};
  schema->families["g"] = {.locality_group = "large"};
}
void Counters(DatabaseOptions* /*options*/, TableSchema* schema) {
  schema->families["f"].value_type = bigtable::ValueType::kInt64Sum;
}
void Leveled(DatabaseOptions* options, TableSchema* schema) {
  options->memtable_size = uint64_t{1} << 20;
  schema->locality_groups["default"].compaction = bigtable::CompactionStyle::kLeveled;
}

void LittleMemory(DatabaseOptions* options, TableSchema*) {
  options->memory_budget = uint64_t{16} << 20;
}

constexpr std::array kWorkloads = {
    Workload{"write", "a row of 1,000 bytes", nullptr, nullptr, WriteRandomRows},
    Workload{"write_small", "a row of 100 bytes", nullptr, nullptr, WriteSmallRandomRows},
    Workload{"write_in_order", "a row of 100 bytes", nullptr, nullptr, WriteRowsInOrder},
    Workload{"write_wide", "a cell of 20 in a row", nullptr, nullptr, WriteWideRows},
    Workload{"write_batch", "a row of 100 in a batch", nullptr, nullptr, WriteBatches},
    Workload{"write_tenants", "a row of 100 bytes and a long key", nullptr, LoadFewTenants,
             WriteTenantRows},
    Workload{"load_in_order", "a row, compactions included", Leveled, nullptr,
             WriteAndCompact<WriteRowsInOrder>, Start::kOpen, true},
    Workload{"load", "a row, compactions included", Leveled, nullptr,
             WriteAndCompact<WriteSmallRandomRows>, Start::kOpen, true},
    Workload{"load_tablets", "a row in one of 200 tablets, compactions included", LittleMemory,
             SplitIntoTablets, WriteAndCompact<WriteSmallRandomRows>, Start::kOpen, true},
    Workload{"read_memtable", "a row", nullptr, LoadMemtable, ReadRows},
    Workload{"read_memtable_tenants", "a row with a long key", nullptr, LoadTenants,
             ReadTenantRows},
    Workload{"read", "a row", nullptr, LoadCompacted, ReadRows},
    Workload{"read_large_by_position", "a row of 16,000 bytes", ByPositionInLittleMemory,
             LoadLargeRows, ReadLargeRows},
    Workload{"read_large_cold", "a row of 16,000 bytes, first touch", nullptr, LoadLargeRows,
             ReadLargeRows, Start::kCold},
    Workload{"read_row_index", "a row", RowIndex, LoadCompacted, ReadRows},
    Workload{"read_by_position", "a row", ByPosition, LoadCompacted, ReadRows},
    Workload{"read_overlapping", "a row in one of 6 files", NoCompactions, LoadOverlappingFiles,
             ReadRows},
    Workload{"read_small_files", "a row in a run of many files", SmallFiles, LoadCompacted,
             ReadRows},
    Workload{"read_absent", "an absent row", NoCompactions, LoadOverlappingFiles, ReadAbsentRows},
    Workload{"read_hot", "a row of 1,000, with a scan cache", ScanCache, LoadCompacted,
             ReadHotRows},
    Workload{"read_cold", "a row, first touch", nullptr, LoadCompacted, ReadColdRows, Start::kCold},
    Workload{"batch", "a row of a batch of 64", nullptr, LoadCompacted, ReadBatches},
    Workload{"batch_cold", "a row of a batch of 64, first touch", nullptr, LoadCompacted,
             ReadColdBatches, Start::kCold},
    Workload{"batch_cold_by_position", "a row of a batch of 64, first touch", ByPosition,
             LoadCompacted, ReadColdBatches, Start::kCold},
    Workload{"read_reopened", "a row, first touch in the page cache", nullptr, LoadCompacted,
             ReadColdRows, Start::kReopened},
    Workload{"read_column", "a row, one column of 20", nullptr, LoadWideRows, ReadOneColumn},
    Workload{"read_old", "a row, two old versions of 50", AllVersions, LoadHistory,
             ReadOldVersions},
    Workload{"read_old_compacted", "a row, two old versions of 50 in one file", AllVersions,
             LoadCompactedHistory, ReadOldVersions},
    Workload{"read_counter", "a counter of 1,000 increments", Counters, LoadCounters, ReadCounters},
    Workload{"scan_memtable", "a cell", nullptr, LoadMemtable, ScanAll},
    Workload{"scan", "a cell", nullptr, LoadCompacted, ScanAll},
    Workload{"scan_backwards", "a cell", nullptr, LoadCompacted, ScanBackwards},
    Workload{"scan_by_position", "a cell", ByPosition, LoadCompacted, ScanAll},
    Workload{"scan_overlapping", "a cell in one of 6 files", NoCompactions, LoadOverlappingFiles,
             ScanAll},
    Workload{"scan_disjoint", "a cell in one of 20 files", NoCompactions, LoadDisjointFiles,
             ScanAll},
    Workload{"scan_cold", "a cell, first touch", nullptr, LoadCompacted, ScanAll, Start::kCold},
    Workload{"scan_reopened", "a cell, first touch in the page cache", nullptr, LoadCompacted,
             ScanAll, Start::kReopened},
    Workload{"scan_reopened_large", "a cell of 1,000 bytes, first touch in the page cache", nullptr,
             LoadLarge, ScanAll, Start::kReopened},
    Workload{"scan_cold_by_position", "a cell, first touch", ByPosition, LoadCompacted, ScanAll,
             Start::kCold},
    Workload{"scan_wide", "a cell of 20 in a row", nullptr, LoadWideRows, ScanColumns},
    Workload{"scan_column_overlapping", "a cell of 20 in a row in one of 6 files", NoCompactions,
             LoadOverlappingWideRows, ScanOneColumn},
    Workload{"scan_versions", "a cell, 3 of 10 versions", ThreeVersions, LoadTenVersions,
             ScanLatest},
    Workload{"scan_latest", "a cell, 1 of 10 versions", AllVersions, LoadTenVersions, ScanLatest},
    Workload{"scan_latest_large", "a cell of 4,000 bytes, 1 of 10 versions",
             AllVersionsInLittleMemory, LoadLargeVersions, ScanLatest},
    Workload{"scan_history", "a cell, 1 of 50 versions in 5 files", AllVersions, LoadHistory,
             ScanLatest},
    Workload{"scan_history_compacted", "a cell, 1 of 50 versions in one file", AllVersions,
             LoadCompactedHistory, ScanLatest},
    Workload{"scan_short_disjoint", "a scan of ten rows in one of 20 files", NoCompactions,
             LoadDisjointFiles, ScanTenRows},
    Workload{"scan_short_neighbours", "a range of ten rows in two of 200 files", NoCompactions,
             LoadNeighbouringFiles, ScanRangesOfTenRows},
    Workload{"scan_short", "a scan of ten rows", nullptr, LoadCompacted, ScanTenRows},
    Workload{"scan_short_overlapping", "a scan of ten rows in 6 files", NoCompactions,
             LoadOverlappingFiles, ScanTenRows},
    Workload{"scan_short_cold_overlapping", "a scan of ten rows in 6 files, first touch",
             NoCompactions, LoadOverlappingFiles, ScanTenColdRows, Start::kCold},
    Workload{"scan_short_syncing", "a scan of ten rows while another thread syncs", nullptr,
             LoadCompacted, ScanWhileSyncing},
    Workload{"scan_group", "a cell, one group of two", TwoGroups, LoadTwoGroups, ScanOneGroup},
    Workload{"scan_regex", "a scan by a row regex", nullptr, LoadCompacted, ScanByRegex},
    Workload{"scan_deleted", "a scan past deleted rows", nullptr, LoadDeleted, ScanPastDeleted},
};

}  // namespace

const Workload* FindWorkload(std::string_view name) {
  const auto found = std::find_if(kWorkloads.begin(), kWorkloads.end(),
                                  [&](const Workload& workload) { return workload.name == name; });
  return found == kWorkloads.end() ? nullptr : &*found;
}

}  // namespace bench
