#include "server/monitor/heat_map.h"

#include <algorithm>
#include <utility>

namespace bigtable::server {
namespace {

// A second later, a row counts this much for the load of its range.
constexpr double kDecay = 0.9;
// Keys of which a median is worth a split.
constexpr size_t kLeastKeys = 8;
constexpr int kSplitsInATick = 16;
// A range with more than two of so many parts of the table is split.
constexpr uint64_t kParts = HeatMap::kMostSizedRanges;

// How much of its past the left part of a range gets, from the keys that were seen in both.
float ShareOf(size_t left, size_t right) {
  if (left + right < kLeastKeys) return 0.5F;
  return static_cast<float>(left) / static_cast<float>(left + right);
}

}  // namespace

HeatMap::Table* HeatMap::Find(std::string_view name) {
  return const_cast<Table*>(std::as_const(*this).Find(name));
}

const HeatMap::Table* HeatMap::Find(std::string_view name) const {
  for (const Table& table : tables_) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

HeatMap::Table* HeatMap::FindOrAdd(std::string_view name) {
  Table* const found = Find(name);
  if (found != nullptr) return found;
  if (tables_.size() == kMostTables) {
    tables_.erase(
        std::min_element(tables_.begin(), tables_.end(),
                         [](const Table& a, const Table& b) { return a.last_use < b.last_use; }));
  }
  Table& table = tables_.emplace_back();
  table.name = name;
  table.ranges.push_back({.cells = std::vector<Cell>(kColumns)});
  table.epoch = ++epochs_;
  table.used.fill(-1);
  return &table;
}

// The column's place may have what was there half an hour ago.
void HeatMap::ClearColumn(Table* table, int64_t column) {
  const auto place = static_cast<size_t>(column) % kColumns;
  table->used[place] = column;
  for (Range& range : table->ranges) range.cells[place] = {};
}

size_t HeatMap::RangeOf(const Table& table, std::string_view row) {
  const auto after =
      std::upper_bound(table.ranges.begin() + 1, table.ranges.end(), row,
                       [](std::string_view key, const Range& range) { return key < range.begin; });
  return static_cast<size_t>(after - table.ranges.begin()) - 1;
}

void HeatMap::Add(std::string_view table_name, std::string_view row, RowAccess access,
                  uint32_t weight) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Table* const table = FindOrAdd(table_name);
  const auto place = static_cast<size_t>(column_) % kColumns;
  if (table->used[place] != column_) ClearColumn(table, column_);
  table->last_use = column_;
  Range& range = table->ranges[RangeOf(*table, row)];
  Cell& cell = range.cells[place];
  (access == RowAccess::kRead ? cell.reads : cell.writes) += static_cast<float>(weight);
  range.load += weight;
  const std::string_view key = row.substr(0, kMostKeyBytes);
  if (range.keys.size() < kRecentKeys) {
    range.keys.emplace_back(key);
  } else {
    range.keys[range.next_key].assign(key);
    range.next_key = (range.next_key + 1) % kRecentKeys;
  }
}

void HeatMap::Tick(absl::Time now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  column_ = absl::ToUnixSeconds(now) / kColumnSeconds;
  for (Table& table : tables_) Divide(&table);
}

void HeatMap::Divide(Table* table) {
  double total = 0;
  for (Range& range : table->ranges) {
    range.load *= kDecay;
    total += range.load;
  }
  if (total < 1) return;
  for (int i = 0; i < kSplitsInATick; ++i) {
    if (table->ranges.size() == kMostRanges && !MergeColdest(table, total / kMostRanges)) break;
    if (!SplitHottest(table, total)) break;
  }
}

// Splits the range with the most load, if that is too large a share and keys are known that divide
// it.
bool HeatMap::SplitHottest(Table* table, double total) {
  Range* hottest = nullptr;
  std::string median;
  for (Range& range : table->ranges) {
    if (range.load <= kLargestShare * total || range.keys.size() < kLeastKeys) continue;
    if (hottest != nullptr && range.load <= hottest->load) continue;
    std::vector<std::string> keys = range.keys;
    std::sort(keys.begin(), keys.end());
    // The median, or the first key after it that is not the first of all.
    const auto key = std::upper_bound(keys.begin() + static_cast<ptrdiff_t>(keys.size() / 2) - 1,
                                      keys.end(), std::max(range.begin, keys.front()));
    if (key == keys.end()) continue;
    hottest = &range;
    median = *key;
  }
  if (hottest == nullptr) return false;
  SplitAt(table, median);
  return true;
}

void HeatMap::SplitAt(Table* table, std::string_view row) {
  const size_t index = RangeOf(*table, row);
  Range& left = table->ranges[index];
  if (left.begin == row) return;
  Range right{.begin = std::string(row), .cells = left.cells, .load = left.load};
  std::vector<std::string> keys = std::exchange(left.keys, {});
  left.next_key = 0;
  for (std::string& key : keys) (key < row ? left : right).keys.push_back(std::move(key));
  const float share = ShareOf(left.keys.size(), right.keys.size());
  left.load *= share;
  right.load -= left.load;
  for (size_t i = 0; i < kColumns; ++i) {
    Cell& cell = left.cells[i];
    cell = {cell.reads * share, cell.writes * share};
    right.cells[i].reads -= cell.reads;
    right.cells[i].writes -= cell.writes;
  }
  table->ranges.insert(table->ranges.begin() + static_cast<ptrdiff_t>(index) + 1, std::move(right));
  table->epoch = ++epochs_;
}

// Merges the two neighbours with the least load, if that is not more than `most_load`.
bool HeatMap::MergeColdest(Table* table, double most_load) {
  std::vector<Range>& ranges = table->ranges;
  size_t coldest = 0;
  double least = most_load;
  for (size_t i = 1; i < ranges.size(); ++i) {
    const double load = ranges[i - 1].load + ranges[i].load;
    if (load > least) continue;
    least = load;
    coldest = i;
  }
  if (coldest == 0) return false;
  Range& left = ranges[coldest - 1];
  const Range& right = ranges[coldest];
  for (size_t i = 0; i < kColumns; ++i) {
    left.cells[i].reads += right.cells[i].reads;
    left.cells[i].writes += right.cells[i].writes;
  }
  left.load += right.load;
  for (const std::string& key : right.keys) {
    if (left.keys.size() < kRecentKeys) left.keys.push_back(key);
  }
  ranges.erase(ranges.begin() + static_cast<ptrdiff_t>(coldest));
  return true;
}

void HeatMap::SetTablets(std::string_view table_name, const std::vector<std::string>& begins) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Table* const table = Find(table_name);
  if (table == nullptr || begins.size() > kMostSizedRanges) return;
  for (const std::string& begin : begins) {
    if (begin.empty() || begin.size() > kMostKeyBytes) continue;
    if (table->ranges.size() == kMostRanges) return;
    SplitAt(table, begin);
  }
}

void HeatMap::SetSizes(std::string_view table_name, const std::vector<RowKeySample>& samples) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Table* const table = Find(table_name);
  if (table == nullptr) return;
  while (table->ranges.size() < kMostSizedRanges && SplitLargest(table, samples)) {
  }
}

// Splits the range with the most bytes in the middle of them, if that is more than twice its share.
bool HeatMap::SplitLargest(Table* table, const std::vector<RowKeySample>& samples) {
  if (samples.empty()) return false;
  const uint64_t share = 2 * samples.back().offset_bytes / kParts;
  uint64_t most = 0;
  std::string_view middle;
  auto sample = samples.begin();
  uint64_t begin_offset = 0;
  for (size_t i = 0; i < table->ranges.size(); ++i) {
    const auto first = sample;
    const bool is_last = i + 1 == table->ranges.size();
    while (sample != samples.end() && !sample->row.empty() &&
           (is_last || sample->row < table->ranges[i + 1].begin)) {
      ++sample;
    }
    const uint64_t end_offset =
        sample == samples.end() ? samples.back().offset_bytes : sample->offset_bytes;
    const uint64_t bytes = end_offset - begin_offset;
    if (bytes > std::max(share, most)) {
      const auto half = std::find_if(first, sample, [&](const RowKeySample& inner) {
        return inner.offset_bytes >= begin_offset + bytes / 2;
      });
      const auto key = half == sample && half != first ? half - 1 : half;
      if (key != sample && key->row > table->ranges[i].begin) {
        most = bytes;
        middle = std::string_view(key->row).substr(0, kMostKeyBytes);
      }
    }
    begin_offset = end_offset;
  }
  if (most == 0) return false;
  const size_t before = table->ranges.size();
  SplitAt(table, middle);
  return table->ranges.size() > before;
}

std::vector<std::string> HeatMap::Tables() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> names;
  names.reserve(tables_.size());
  for (const Table& table : tables_) names.push_back(table.name);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<TableHeat> HeatMap::Read(std::string_view table_name, uint64_t epoch,
                                       int64_t from) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Table* const table = Find(table_name);
  if (table == nullptr) return std::nullopt;
  TableHeat heat;
  heat.epoch = table->epoch;
  for (const Range& range : table->ranges) heat.begins.push_back(range.begin);
  const int64_t oldest = column_ - static_cast<int64_t>(kColumns) + 1;
  for (int64_t number = std::max(epoch == table->epoch ? from : oldest, oldest); number <= column_;
       ++number) {
    const auto place = static_cast<size_t>(number) % kColumns;
    if (number < 0 || table->used[place] != number) continue;
    TableHeat::Column& column = heat.columns.emplace_back();
    column.number = number;
    column.cells.reserve(table->ranges.size());
    for (const Range& range : table->ranges) column.cells.push_back(range.cells[place]);
  }
  return heat;
}

}  // namespace bigtable::server
