// How many rows are read and written in which key ranges of each table, over the last half hour.
//
// A table's rows are divided into ranges of about the same size on disk, so that a range with much
// load for its size stands out. One with a large share of all load is split further, at the median
// of the keys that were seen in it lately, so that a few hot rows are told apart from those around
// them; when there are as many ranges as there may be, the neighbours with the least load are
// merged. Where a tablet begins, a range begins, as long as there are few tablets. When a range is
// split, its past is divided as the keys that were seen in it lately, or evenly if there are few.
//
// Thread-safe; one lock. Memory: kColumns * kMostRanges * 8 bytes, 180 KB, for each of at most
// kMostTables tables, and the keys. The table that was idle for longest makes room for another.
#ifndef BIGTABLE_SERVER_MONITOR_HEAT_MAP_H_
#define BIGTABLE_SERVER_MONITOR_HEAT_MAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/row_key_sample.h"

namespace bigtable::server {

enum class RowAccess : uint8_t { kRead, kWrite };

// The heat of one table. Plain value.
struct TableHeat {
  // Rows that were read and written in a range, in one column.
  struct Cell {
    float reads = 0;
    float writes = 0;
  };
  struct Column {
    int64_t number = 0;       // it begins at number * HeatMap::kColumnSeconds after 1970
    std::vector<Cell> cells;  // by range
  };

  std::vector<std::string> begins;  // first rows of the ranges; that of the first is empty
  uint64_t epoch = 0;               // changes when the ranges do
  std::vector<Column> columns;      // from old to new; none where nothing happened
};

class HeatMap {
 public:
  static constexpr int64_t kColumnSeconds = 5;
  static constexpr size_t kColumns = 360;
  static constexpr size_t kMostRanges = 64;
  // Tablets and sizes take so many of them; the others are for load.
  static constexpr size_t kMostSizedRanges = 48;
  // A range with a larger share of all load is split.
  static constexpr double kLargestShare = 1.0 / 12;
  static constexpr size_t kMostTables = 16;
  // Longer keys are truncated: they begin a range in any case.
  static constexpr size_t kMostKeyBytes = 128;

  HeatMap() = default;
  HeatMap(const HeatMap&) = delete;
  HeatMap& operator=(const HeatMap&) = delete;

  // `weight` rows at or near this one, now.
  void Add(std::string_view table, std::string_view row, RowAccess access, uint32_t weight);
  // Every second: begins a column if it is time, and divides the ranges anew.
  void Tick(absl::Time now);
  // Lets ranges begin where the table's tablets do.
  void SetTablets(std::string_view table, const std::vector<std::string>& begins);

  // Splits ranges that have more than their share of the table's bytes.
  void SetSizes(std::string_view table, const std::vector<RowKeySample>& samples);

  std::vector<std::string> Tables() const;  // sorted
  // If the ranges are still those of `epoch`, only the columns from number `from` on. Null: nothing
  // is known of the table.
  std::optional<TableHeat> Read(std::string_view table, uint64_t epoch, int64_t from) const;

 private:
  using Cell = TableHeat::Cell;
  static constexpr size_t kRecentKeys = 16;

  struct Range {
    std::string begin;
    std::vector<Cell> cells;        // by number of the column, modulo kColumns
    double load = 0;                // recent rows; older ones count less
    std::vector<std::string> keys;  // some of the last that were seen
    size_t next_key = 0;            // which one the next replaces
  };
  struct Table {
    std::string name;
    std::vector<Range> ranges;  // by `begin`
    uint64_t epoch = 0;
    int64_t last_use = 0;                     // column
    std::array<int64_t, kColumns> used = {};  // numbers of the columns in which something happened
  };

  Table* Find(std::string_view name);
  const Table* Find(std::string_view name) const;
  Table* FindOrAdd(std::string_view name);
  void ClearColumn(Table* table, int64_t column);
  static size_t RangeOf(const Table& table, std::string_view row);
  void SplitAt(Table* table, std::string_view row);
  bool SplitLargest(Table* table, const std::vector<RowKeySample>& samples);
  bool SplitHottest(Table* table, double total);
  static bool MergeColdest(Table* table, double most_load);
  void Divide(Table* table);

  mutable std::mutex mutex_;
  std::vector<Table> tables_;
  int64_t column_ = 0;  // the present one
  uint64_t epochs_ = 0;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_HEAT_MAP_H_
