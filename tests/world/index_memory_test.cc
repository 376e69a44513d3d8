// The memory of indexes and filters: a database whose budget has no room for them returns the same,
// and stays within it.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/database.h"
#include "bigtable/memory_budget.h"
#include "bigtable/table.h"

#include "base/strings.h"
#include "cache/budget_charge.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/scoped_index_sizes.h"
#include "support/scoped_shortcuts.h"
#include "world/world_fixture.h"

namespace bigtable {
namespace {

class IndexMemoryTest : public WorldFixture {
 protected:
  static constexpr int kRows = 20'000;

  static std::string KeyOf(int row) { return Cat("row", 1'000'000 + row); }
  static std::string ValueOf(int row) { return Cat("value ", row); }

  DatabaseOptions Options(FileSystem::ReadMode mode = FileSystem::ReadMode::kMapped) const {
    DatabaseOptions options = SmallOptions();
    options.shared_memory_budget = budget_;
    options.read_mode = mode;
    return options;
  }
  // Every third row of kRows, in several files.
  void Load(Database* database, FilterKind filter) {
    TableSchema schema;
    schema.families["f"] = {};
    schema.locality_groups["default"].filter = filter;
    ASSERT_OK(database->CreateTable("t", schema));
    Table* const table = OpenTable(database);
    for (int row = 0; row < kRows; ++row) {
      if (row % 3 != 0) continue;
      ASSERT_OK(table->Apply(RowMutation(KeyOf(row)).Set("f:q", ValueOf(row))));
      if (row % 6'000 != 0) continue;
      ASSERT_OK(database->Flush("t"));
    }
    ASSERT_OK(database->Flush("t"));
  }
  static void ExpectRow(int row, const absl::StatusOr<Row>& found) {
    ASSERT_OK(found);
    ASSERT_EQ(found->empty(), row % 3 != 0) << row;
    if (row % 3 == 0) {
      ASSERT_EQ(found->cells()[0].value, ValueOf(row));
    }
  }
  // In each of the ways in which a program may read them.
  static void ExpectAllRows(Table* table) {
    Random random(1);
    std::vector<int> rows;
    std::vector<std::string> keys;
    for (int i = 0; i < 2'000; ++i) {
      rows.push_back(static_cast<int>(random.Below(kRows)));
      keys.push_back(KeyOf(rows.back()));
    }
    for (const int row : rows) ExpectRow(row, table->ReadRow(KeyOf(row)));
    const std::vector<absl::StatusOr<Row>> together =
        table->GetRows(std::vector<std::string_view>(keys.begin(), keys.end()));
    ASSERT_EQ(together.size(), rows.size());
    for (size_t i = 0; i < rows.size(); ++i) ExpectRow(rows[i], together[i]);
    std::atomic<size_t> done{0};
    for (size_t i = 0; i < rows.size(); ++i) {
      table->ReadRowAsync(keys[i], {}, {}, [row = rows[i], &done](absl::StatusOr<Row> found) {
        ExpectRow(row, found);
        ++done;
      });
      while (i + 1 - done > 64) absl::SleepFor(absl::Microseconds(50));
    }
    while (done < rows.size()) absl::SleepFor(absl::Microseconds(50));
    for (const bool reverse : {false, true}) {
      RowReader reader = table->ReadRows(RowRange::All(), Filter::PassAll(), {.reverse = reverse});
      int next = reverse ? (kRows - 1) / 3 * 3 : 0;
      for (; reader.Next(); next += reverse ? -3 : 3) {
        ASSERT_EQ(reader.row().key(), KeyOf(next));
      }
      ASSERT_OK(reader.status());
      EXPECT_EQ(next, reverse ? -3 : (kRows + 2) / 3 * 3);
    }
  }

  // All shortcuts are on, and parts are small: the files here have many.
  const ScopedShortcutsOn shortcuts_;
  const ScopedIndexSizes sizes_{8, 200};
  const std::shared_ptr<MemoryBudget> budget_ =
      std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
};

TEST_F(IndexMemoryTest, ADatabaseWithoutRoomForIndexesReturnsTheSame) {
  BudgetCharge others(budget_.get(), MemoryBudget::Use::kIndexes);
  others.Set(budget_->limit() / 2);
  for (const FilterKind filter :
       {FilterKind::kRow, FilterKind::kRowAndColumn, FilterKind::kRowIndex, FilterKind::kNone}) {
    const std::string path = Cat(directory_.database(), static_cast<int>(filter));
    {
      const auto database = Open(path, Options());
      Load(database.get(), filter);
      const uint64_t files = database->Statistics().files_in_parts;
      EXPECT_GT(files, 2);
      EXPECT_LT(budget_->used(MemoryBudget::Use::kIndexes),
                budget_->limit() / 2 + (files + 20) * (6 << 10));
      ExpectAllRows(OpenTable(database.get()));
      ASSERT_OK(database->Compact("t"));
      EXPECT_GT(database->Statistics().files_in_parts, 0);
      ExpectAllRows(OpenTable(database.get()));
    }
    EXPECT_EQ(budget_->files_in_parts(), 0) << "closed";
    EXPECT_EQ(budget_->used(MemoryBudget::Use::kIndexes), budget_->limit() / 2);
    const auto database = Open(path, Options(FileSystem::ReadMode::kPositional));
    ExpectAllRows(OpenTable(database.get()));
    EXPECT_GT(database->Statistics().files_in_parts, 0);
  }
  // With room again.
  others.Set(0);
  const auto database =
      Open(Cat(directory_.database(), static_cast<int>(FilterKind::kRow)), Options());
  ExpectAllRows(OpenTable(database.get()));
  EXPECT_EQ(database->Statistics().files_in_parts, 0);
}

// Each file would have more memory for its row index than the smallest budget has for all.
TEST_F(IndexMemoryTest, AFileOfTinyRowsEndsWhereItsFilterTakesTooMuchToWrite) {
  const auto database = Open(directory_.database(), Options());
  TableSchema schema;
  schema.families["f"] = {};
  schema.locality_groups["default"].filter = FilterKind::kRowIndex;
  ASSERT_OK(database->CreateTable("t", schema));
  Table* const table = OpenTable(database.get());
  constexpr int kTiny = 150'000;  // 16 bytes of memory each while they are written
  std::vector<RowMutation> batch;
  for (int row = 0; row < kTiny; ++row) {
    batch.push_back(RowMutation(KeyOf(row)).Set("f:", ""));
    if (batch.size() < 500) continue;
    for (const absl::Status& status : table->ApplyBatch(batch)) ASSERT_OK(status);
    batch.clear();
  }
  ASSERT_OK(database->Compact("t"));
  uint64_t files = 0;
  const DatabaseStatistics statistics = database->Statistics();
  for (const auto& [group, size] : statistics.tables.at("t")) files += size.files;
  EXPECT_GE(files, 2);
  for (int row = 0; row < kTiny; row += 997) {
    ASSERT_OK_AND_ASSIGN(const Row found, table->ReadRow(KeyOf(row)));
    EXPECT_FALSE(found.empty()) << row;
  }
}

TEST_F(IndexMemoryTest, KeysLargerThanABlockTakeLittleOfIt) {
  const auto database = Create(directory_.database(), Options());
  Table* const table = OpenTable(database.get());
  Random random(1);
  std::vector<std::string> keys;
  for (int i = 0; i < 150; ++i) {
    keys.push_back(random.Bytes(60'000));
    ASSERT_OK(table->Apply(RowMutation(keys.back()).Set("f:q", ValueOf(i))));
  }
  ASSERT_OK(database->Compact("t"));
  EXPECT_LT(database->Statistics().memory_indexes, 1 << 20);
  for (int i = 0; i < 150; ++i) {
    ASSERT_OK_AND_ASSIGN(const Row found, table->ReadRow(keys[static_cast<size_t>(i)]));
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.cells()[0].value, ValueOf(i));
  }
}

}  // namespace
}  // namespace bigtable
