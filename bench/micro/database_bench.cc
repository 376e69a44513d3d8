// Reads of single rows through the public interface: the effect of the block size, and of the scan
// cache if some rows are read far more often than others. On a database of 200,000 rows of a
// kilobyte, loaded in random order, with its files in the page cache.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"

#include "bigtable/bigtable.h"

#include "base/status.h"
#include "common.h"
#include "common/temporary_directory.h"
#include "common/workload.h"

namespace bigtable {
namespace {

constexpr uint32_t kDatabaseRows = 200'000;
constexpr uint64_t kBudget = uint64_t{64} << 20;

// A database in a directory of its own, which the destructor removes.
class LoadedDatabase {
 public:
  static absl::StatusOr<std::unique_ptr<LoadedDatabase>> Make(const LocalityGroup& group) {
    BT_ASSIGN_OR_RETURN(auto directory,
                        bench::TemporaryDirectory::Make("/var/tmp", "bigtable-micro-"));
    auto loaded = std::unique_ptr<LoadedDatabase>(new LoadedDatabase(std::move(directory)));
    BT_RETURN_IF_ERROR(loaded->Open({}));
    TableSchema schema;
    schema.locality_groups["default"] = group;
    schema.families["f"] = {.gc = GcRule::MaxVersions(1)};
    BT_RETURN_IF_ERROR(loaded->database_->CreateTable("t", schema));
    BT_ASSIGN_OR_RETURN(loaded->table_, loaded->database_->OpenTable("t"));
    for (const uint32_t row : ShuffledRows(kDatabaseRows)) {
      RowMutation mutation(bench::Key(row).view());
      mutation.Set("f:q", ValueOf(row, kLargeValue));
      BT_RETURN_IF_ERROR(loaded->table_->Apply(mutation));
    }
    return loaded;
  }

  absl::Status Reopen(DatabaseOptions options) {
    BT_RETURN_IF_ERROR(database_->Close());
    BT_RETURN_IF_ERROR(Open(std::move(options)));
    BT_ASSIGN_OR_RETURN(table_, database_->OpenTable("t"));
    BT_RETURN_IF_ERROR(database_->WaitUntilQuiet());
    // Reads each row once, so that every block has been verified.
    for (uint32_t row = 0; row < kDatabaseRows; ++row) {
      BT_RETURN_IF_ERROR(table_->ReadRow(bench::Key(row).view()).status());
    }
    return absl::OkStatus();
  }
  Table* table() const { return table_; }

 private:
  explicit LoadedDatabase(bench::TemporaryDirectory directory) : directory_(std::move(directory)) {}

  absl::Status Open(DatabaseOptions options) {
    options.memory_budget = kBudget;
    BT_ASSIGN_OR_RETURN(database_, Database::Open(directory_.path() + "/db", options));
    return absl::OkStatus();
  }

  const bench::TemporaryDirectory directory_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
};

// Loads a database once for each group, and keeps it.
absl::StatusOr<LoadedDatabase*> Loaded(const LocalityGroup& group) {
  static auto* const all =
      new std::vector<std::pair<LocalityGroup, std::unique_ptr<LoadedDatabase>>>;
  for (const auto& [g, loaded] : *all) {
    if (g == group) return loaded.get();
  }
  all->clear();  // one at a time
  BT_ASSIGN_OR_RETURN(std::unique_ptr<LoadedDatabase> loaded, LoadedDatabase::Make(group));
  all->emplace_back(group, std::move(loaded));
  return all->back().second.get();
}

void ReadRows(benchmark::State& state, Table* table, const std::vector<uint32_t>& rows,
              const ReadOptions& options) {
  KeyList keys(rows, [](uint64_t row) { return std::string(bench::Key(row).view()); });
  for (auto _ : state) {
    const absl::StatusOr<Row> row = table->ReadRow(keys.Next(), Filter(), options);
    if (!row.ok() || row->empty()) {
      Failed(state, row.ok() ? absl::NotFoundError("no such row") : row.status());
      break;
    }
    bench::Touch(row->cells()[0].value);
  }
  state.SetItemsProcessed(state.iterations());
}

// Section 7 of the paper reads 64 KiB blocks for every kilobyte, and remarks that applications with
// such reads use smaller ones, typically 8 KiB.
void BM_RandomReadByBlockSize(benchmark::State& state) {
  const LocalityGroup group{.block_size = static_cast<size_t>(state.range(0)) << 10};
  const bool positional = state.range(1) == 2;
  const auto loaded = Loaded(group);
  if (Failed(state, loaded.status())) return;
  DatabaseOptions options;
  if (positional) options.read_mode = FileSystem::ReadMode::kPositional;
  if (Failed(state, (*loaded)->Reopen(options))) return;
  ReadRows(state, (*loaded)->table(), DrawnRows(kDatabaseRows, 1 << 18),
           {.verify_checksums = state.range(1) == 1});
}
// KiB; 0: mapped, 1: mapped and every read verified, 2: by position, through the block cache.
BENCHMARK(BM_RandomReadByBlockSize)
    ->ArgsProduct({{4, 8, 16, 32, 64}, {0, 1, 2}})
    ->ArgNames({"KiB", "way"});

// `n` rows, the row of rank r in proportion to r^-0.99; ranks are spread over the keys.
std::vector<uint32_t> ZipfRows(size_t n) {
  std::vector<double> sums(kDatabaseRows);
  double sum = 0;
  for (uint32_t rank = 0; rank < kDatabaseRows; ++rank) {
    sums[rank] = sum += std::pow(static_cast<double>(rank + 1), -0.99);
  }
  const std::vector<uint32_t> row_of_rank = ShuffledRows(kDatabaseRows);
  bench::Random random(3);
  std::vector<uint32_t> rows(n);
  for (uint32_t& row : rows) {
    const double at = sum * static_cast<double>(random.Next() >> 11) * 0x1p-53;
    const auto rank = std::upper_bound(sums.begin(), sums.end(), at) - sums.begin();
    row = row_of_rank[std::min<size_t>(static_cast<size_t>(rank), kDatabaseRows - 1)];
  }
  return rows;
}

void BM_ZipfRead(benchmark::State& state) {
  const LocalityGroup group{.compression =
                                state.range(0) == 2 ? Compression::kZstd : Compression::kNone};
  const auto loaded = Loaded(group);
  if (Failed(state, loaded.status())) return;
  DatabaseOptions options;
  if (state.range(0) == 1) options.read_mode = FileSystem::ReadMode::kPositional;
  options.scan_cache = state.range(1) == 1;
  if (Failed(state, (*loaded)->Reopen(options))) return;
  const std::vector<uint32_t> rows = ZipfRows(1 << 20);
  for (const uint32_t row : rows) {  // warms the caches
    if (Failed(state, (*loaded)->table()->ReadRow(bench::Key(row).view()).status())) return;
  }
  ReadRows(state, (*loaded)->table(), rows, {});
}
// 0: mapped, 1: by position, through the block cache, 2: mapped and compressed, through the block
// cache.
BENCHMARK(BM_ZipfRead)->ArgsProduct({{0, 1, 2}, {0, 1}})->ArgNames({"way", "scan_cache"});

}  // namespace
}  // namespace bigtable
