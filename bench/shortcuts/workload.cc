#include "workload.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "common/strings.h"

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

constexpr uint64_t kRows = 102'000;  // a multiple of 6, 20 and 50
constexpr size_t kSmall = 100;       // bytes of a value

const Values& SmallValues() {
  static const Values values(kSmall);
  return values;
}
const Values& LargeValues() {
  static const Values values;
  return values;
}

// --- Loading ---

absl::Status WriteRow(Subject* subject, uint64_t row, std::string_view value) {
  RowMutation mutation(Key(row).view());
  mutation.Set("f:q", value);
  return subject->table->Apply(mutation);
}
absl::Status Flush(Subject* subject) { return subject->database->Flush("t"); }
absl::Status Compact(Subject* subject) { return subject->database->Compact("t"); }

// Writes the rows `begin` to `end` - 1 in random order.
absl::Status Write(Subject* subject, uint64_t begin, uint64_t end) {
  for (const uint32_t row : Permutation(end - begin, begin + 1)) {
    if (absl::Status s = WriteRow(subject, begin + row, SmallValues().Of(row)); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LoadMemtable(Subject* subject) { return Write(subject, 0, kRows); }

absl::Status LoadCompacted(Subject* subject) {
  if (absl::Status s = Write(subject, 0, kRows); !s.ok()) return s;
  return Compact(subject);
}

// 102 MB.
absl::Status LoadLarge(Subject* subject) {
  for (uint64_t row = 0; row < kRows; ++row) {
    if (absl::Status s = WriteRow(subject, row, LargeValues().Of(row)); !s.ok()) return s;
  }
  return Compact(subject);
}

// Each file has rows from the whole range.
absl::Status LoadOverlappingFiles(Subject* subject) {
  constexpr uint64_t kFiles = 6;
  for (uint64_t file = 0; file < kFiles; ++file) {
    for (const uint32_t row : Permutation(kRows / kFiles, file)) {
      if (absl::Status s = WriteRow(subject, row * kFiles + file, SmallValues().Of(row)); !s.ok())
        return s;
    }
    if (absl::Status s = Flush(subject); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// Each file has a part of the range.
absl::Status LoadDisjointFiles(Subject* subject) {
  constexpr uint64_t kFiles = 20;
  for (uint64_t file = 0; file < kFiles; ++file) {
    if (absl::Status s = Write(subject, file * kRows / kFiles, (file + 1) * kRows / kFiles);
        !s.ok()) {
      return s;
    }
    if (absl::Status s = Flush(subject); !s.ok()) return s;
  }
  return absl::OkStatus();
}

constexpr uint64_t kWideRows = 5'000;
constexpr uint64_t kColumns = 20;

std::string Column(uint64_t i) { return Concat("f:column-", Key(i).view().substr(kKeySize - 2)); }

// Rows of 20 columns, so many versions of each; compacted.
absl::Status LoadColumns(Subject* subject, uint64_t versions) {
  for (uint64_t row = 0; row < kWideRows / versions; ++row) {
    RowMutation mutation(Key(row).view());
    for (uint64_t column = 0; column < kColumns; ++column) {
      for (uint64_t version = 1; version <= versions; ++version) {
        mutation.Set(Column(column), Timestamp(static_cast<int64_t>(version)),
                     SmallValues().Of(row + version));
      }
    }
    if (absl::Status s = subject->table->Apply(mutation); !s.ok()) return s;
  }
  return Compact(subject);
}

// One column with 50 versions, written as time goes on, in files of ten versions each.
constexpr uint64_t kVersions = 50;
absl::Status LoadHistory(Subject* subject) {
  constexpr uint64_t kVersionsOfFile = 10;
  for (uint64_t version = 1; version <= kVersions; ++version) {
    for (uint64_t row = 0; row < kRows / kVersions; ++row) {
      RowMutation mutation(Key(row).view());
      mutation.Set("f:q", Timestamp(static_cast<int64_t>(version)), SmallValues().Of(row));
      if (absl::Status s = subject->table->Apply(mutation); !s.ok()) return s;
    }
    if (version % kVersionsOfFile != 0) continue;
    if (absl::Status s = Flush(subject); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status LoadCompactedHistory(Subject* subject) {
  if (absl::Status s = LoadHistory(subject); !s.ok()) return s;
  return Compact(subject);
}

// A small family and a large one, in two groups.
absl::Status LoadTwoGroups(Subject* subject) {
  for (uint64_t row = 0; row < kRows / 2; ++row) {
    RowMutation mutation(Key(row).view());
    mutation.Set("f:q", SmallValues().Of(row)).Set("g:q", LargeValues().Of(row));
    if (absl::Status s = subject->table->Apply(mutation); !s.ok()) return s;
  }
  return Compact(subject);
}

// As in a queue: of all rows but the last thousand, the deletions are left.
absl::Status LoadDeleted(Subject* subject) {
  if (absl::Status s = Write(subject, 0, kRows); !s.ok()) return s;
  if (absl::Status s = Flush(subject); !s.ok()) return s;
  for (uint64_t row = 0; row < kRows - 1000; ++row) {
    RowMutation mutation(Key(row).view());
    mutation.DeleteRow();
    if (absl::Status s = subject->table->Apply(mutation); !s.ok()) return s;
  }
  return absl::OkStatus();
}

constexpr uint64_t kCounters = 100;
absl::Status LoadCounters(Subject* subject) {
  for (uint64_t i = 0; i < kRows; ++i) {
    RowMutation mutation(Key(i % kCounters).view());
    mutation.AddToCell("f:q", Timestamp(0), int64_t{1});
    if (absl::Status s = subject->table->Apply(mutation); !s.ok()) return s;
  }
  return absl::OkStatus();
}

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
absl::StatusOr<uint64_t> ScanLatest(Subject* subject) {
  return Scan(subject, RowRange::All(), Filter::Latest(1), 1000);
}
absl::StatusOr<uint64_t> ScanOneGroup(Subject* subject) {
  return Scan(subject, RowRange::All(), Filter::Family("f"), kRows / 2);
}

absl::StatusOr<uint64_t> ScanTenRows(Subject* subject) {
  constexpr uint64_t kScans = 5'000;
  for (uint64_t i = 0; i < kScans; ++i) {
    const Key key(subject->random.Below(kRows - 100));
    absl::StatusOr<uint64_t> cells =
        Scan(subject, RowRange::StartingAt(key.view()), {}, 10, {.row_limit = 10});
    if (!cells.ok()) return cells.status();
  }
  return kScans;
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
void ScanCache(DatabaseOptions* options, TableSchema* /*schema*/) { options->scan_cache = true; }
void SmallFiles(DatabaseOptions* options, TableSchema* schema) {
  options->target_file_size = uint64_t{1} << 20;
  schema->locality_groups["default"].compaction = bigtable::CompactionStyle::kLeveled;
}
void AllVersions(DatabaseOptions* /*options*/, TableSchema* schema) {
  schema->families["f"].gc = {};
  schema->locality_groups["default"].compaction = bigtable::CompactionStyle::kNone;
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

constexpr std::array kWorkloads = {
    Workload{"write", "a row of 1,000 bytes", nullptr, nullptr, WriteRandomRows},
    Workload{"write_small", "a row of 100 bytes", nullptr, nullptr, WriteSmallRandomRows},
    Workload{"write_in_order", "a row of 100 bytes", nullptr, nullptr, WriteRowsInOrder},
    Workload{"write_wide", "a cell of 20 in a row", nullptr, nullptr, WriteWideRows},
    Workload{"write_batch", "a row of 100 in a batch", nullptr, nullptr, WriteBatches},
    Workload{"load_in_order", "a row, compactions included", Leveled, nullptr,
             WriteAndCompact<WriteRowsInOrder>, Start::kOpen, true},
    Workload{"load", "a row, compactions included", Leveled, nullptr,
             WriteAndCompact<WriteSmallRandomRows>, Start::kOpen, true},
    Workload{"read_memtable", "a row", nullptr, LoadMemtable, ReadRows},
    Workload{"read", "a row", nullptr, LoadCompacted, ReadRows},
    Workload{"read_row_index", "a row", RowIndex, LoadCompacted, ReadRows},
    Workload{"read_by_position", "a row", ByPosition, LoadCompacted, ReadRows},
    Workload{"read_overlapping", "a row in one of 6 files", NoCompactions, LoadOverlappingFiles,
             ReadRows},
    Workload{"read_disjoint", "a row in one of 20 files", NoCompactions, LoadDisjointFiles,
             ReadRows},
    Workload{"read_small_files", "a row in a run of many files", SmallFiles, LoadCompacted,
             ReadRows},
    Workload{"read_absent", "an absent row", NoCompactions, LoadOverlappingFiles, ReadAbsentRows},
    Workload{"read_hot", "a row of 1,000, with a scan cache", ScanCache, LoadCompacted,
             ReadHotRows},
    Workload{"read_cold", "a row, first touch", nullptr, LoadCompacted, ReadColdRows, Start::kCold},
    Workload{"read_reopened", "a row, first touch in the page cache", nullptr, LoadCompacted,
             ReadColdRows, Start::kReopened},
    Workload{"read_column", "a row, one column of 20", nullptr,
             [](Subject* subject) { return LoadColumns(subject, 1); }, ReadOneColumn},
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
    Workload{"scan_wide", "a cell of 20 in a row", nullptr,
             [](Subject* subject) { return LoadColumns(subject, 1); }, ScanColumns},
    Workload{"scan_versions", "a cell, 3 of 10 versions", ThreeVersions,
             [](Subject* subject) { return LoadColumns(subject, 10); }, ScanLatest},
    Workload{"scan_latest", "a cell, 1 of 10 versions", AllVersions,
             [](Subject* subject) { return LoadColumns(subject, 10); }, ScanLatest},
    Workload{"scan_history", "a cell, 1 of 50 versions in 5 files", AllVersions, LoadHistory,
             ScanLatest},
    Workload{"scan_short_disjoint", "a scan of ten rows in one of 20 files", NoCompactions,
             LoadDisjointFiles, ScanTenRows},
    Workload{"scan_short", "a scan of ten rows", nullptr, LoadCompacted, ScanTenRows},
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
