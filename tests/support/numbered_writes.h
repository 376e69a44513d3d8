// Writes with a number, for tests of recovery after a crash: each writer numbers its writes from 0.
// The writes found after the crash must be complete and a prefix of the writer's writes.
//
// Write k of a writer sets, in one of the writer's rows, columns of two locality groups at
// timestamp k + 1, with values derived from k, and a column at timestamp 0, which every write to
// the row overwrites.
#ifndef BIGTABLE_TESTS_SUPPORT_NUMBERED_WRITES_H_
#define BIGTABLE_TESTS_SUPPORT_NUMBERED_WRITES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "support/random.h"

namespace bigtable {

inline constexpr const char* kNumberedTable = "numbered";
inline constexpr std::array<const char*, 4> kNumberedColumns = {"left:", "left:x",
                                                                "right:", "right:y"};
inline constexpr const char* kLastColumn = "right:last";

inline TableSchema NumberedSchema() {
  TableSchema schema;
  schema.locality_groups["one"] = {.compression = Compression::kZstd, .block_size = 1 << 10};
  schema.locality_groups["two"] = {.filter = FilterKind::kRowAndColumn};
  schema.families["left"] = {.locality_group = "one"};
  schema.families["right"] = {.locality_group = "two"};
  return schema;
}

inline std::string NumberedRow(int writer, uint64_t k) {
  return absl::StrCat("writer", writer, "/", Random(k).Below(300));
}
// Mostly small, sometimes larger than a block, rarely larger than a tenth of a small memtable.
inline std::string NumberedValue(int writer, uint64_t k, size_t column) {
  Random random(k * 64 + static_cast<uint64_t>(writer) * 8 + column);
  const size_t size = random.OneIn(400) ? 8 << 10 : random.OneIn(40) ? 1200 : random.Below(60);
  return absl::StrCat(writer, ".", k, ".", column, ":") + random.Bytes(size);
}
inline RowMutation NumberedWrite(int writer, uint64_t k) {
  RowMutation mutation(NumberedRow(writer, k));
  for (size_t i = 0; i < kNumberedColumns.size(); ++i) {
    mutation.Set(kNumberedColumns[i], Timestamp(static_cast<int64_t>(k) + 1),
                 NumberedValue(writer, k, i));
  }
  mutation.Set(kLastColumn, Timestamp(0), absl::StrCat(k));
  return mutation;
}

// Counts the writes of each writer in a table. DataLoss: the writes are not a prefix, a write is
// incomplete, or bytes are wrong.
class NumberedWriteCounter {
 public:
  explicit NumberedWriteCounter(int writers) : seen_(static_cast<size_t>(writers)) {}

  absl::StatusOr<std::vector<uint64_t>> Count(Table* table) {
    RowReader reader = table->ReadRows(RowRange::All());
    for (const Row& row : reader) {
      if (absl::Status status = Add(row); !status.ok()) return status;
    }
    if (!reader.status().ok()) return reader.status();

    std::vector<uint64_t> counts;
    for (const std::vector<uint8_t>& masks : seen_) {
      const auto missing = std::find_if(masks.begin(), masks.end(), [](uint8_t mask) {
        return mask != (1 << kNumberedColumns.size()) - 1;
      });
      if (missing != masks.end()) {
        return absl::DataLossError(Cat("write ", missing - masks.begin(), " of writer ",
                                       counts.size(), " has columns ", int{*missing},
                                       " of 15, but the table has write ", masks.size() - 1));
      }
      counts.push_back(masks.size());
    }
    return counts;
  }

 private:
  absl::Status Add(const Row& row) {
    const auto wrong = [&row](const Cell& cell) {
      return absl::DataLossError(Cat("row ", Quoted(row.key()), ", column ", cell.family, ":",
                                     Quoted(cell.qualifier), "@", cell.timestamp.micros(), ": ",
                                     Quoted(cell.value.substr(0, 40)), ", ", cell.value.size(),
                                     " bytes"));
    };
    int64_t newest = -1;
    std::string_view last;
    for (const Cell& cell : row.cells()) {
      const std::string name = Cat(cell.family, ":", cell.qualifier);
      if (name == kLastColumn && cell.timestamp == Timestamp(0)) {
        last = cell.value;
        continue;
      }
      const auto column = std::find(kNumberedColumns.begin(), kNumberedColumns.end(), name);
      const int writer = row.key().size() > 6 ? row.key()[6] - '0' : -1;
      if (column == kNumberedColumns.end() || cell.timestamp == Timestamp(0) || writer < 0 ||
          writer >= static_cast<int>(seen_.size())) {
        return wrong(cell);
      }
      const uint64_t k = static_cast<uint64_t>(cell.timestamp.micros()) - 1;
      const size_t index = static_cast<size_t>(column - kNumberedColumns.begin());
      if (row.key() != NumberedRow(writer, k) || cell.value != NumberedValue(writer, k, index)) {
        return wrong(cell);
      }
      std::vector<uint8_t>& masks = seen_[static_cast<size_t>(writer)];
      if (masks.size() <= k) masks.resize(k + 1);
      masks[k] = static_cast<uint8_t>(masks[k] | 1 << index);
      newest = std::max(newest, static_cast<int64_t>(k));
    }
    if (last != absl::StrCat(newest)) {
      return absl::DataLossError(Cat("row ", Quoted(row.key()), " names as its last write ",
                                     Quoted(last), ", but it has write ", newest));
    }
    return absl::OkStatus();
  }

  std::vector<std::vector<uint8_t>> seen_;  // by writer, then k: a bit mask of columns
};

inline absl::StatusOr<std::vector<uint64_t>> CountNumberedWrites(Table* table, int writers) {
  return NumberedWriteCounter(writers).Count(table);
}

// Options with which a few thousand writes fill memtables and segments and cause compactions.
inline DatabaseOptions SmallOptions(Random& random) {
  DatabaseOptions options;
  options.memory_budget = MemoryBudget::kMinimum;
  options.memtable_size = random.OneIn(3) ? 256 << 10 : 64 << 10;
  options.log_segment_size = random.OneIn(2) ? 64 << 10 : 512 << 10;
  options.target_file_size = 1 << 20;
  options.compaction_threads = random.OneIn(2) ? 2 : 1;
  options.read_mode =
      random.OneIn(2) ? FileSystem::ReadMode::kMapped : FileSystem::ReadMode::kPositional;
  return options;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_NUMBERED_WRITES_H_
