// Memtables and logs stay within their budget, also when several databases share it.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "cache/budget_access.h"
#include "support/database_fixture.h"

namespace bigtable {
namespace {

class MemoryBudgetTest : public DatabaseFixture {};

TEST_F(MemoryBudgetTest, ManySmallMemtablesKeepToTheBudget) {
  const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
  DatabaseOptions options = Options();
  options.shared_memory_budget = budget;
  Open(options);
  std::vector<Table*> tables;
  for (int i = 0; i < 64; ++i) tables.push_back(CreateTable(absl::StrCat("t", i), {"f"}));
  uint64_t most = 0;
  for (int i = 0; i < 110; ++i) {
    for (Table* table : tables) {
      // Without the log, which would cause a flush when it is too long.
      ASSERT_OK(table->Apply(RowMutation(absl::StrCat("row", i)).Set("f:q", std::string(900, 'v')),
                             {.durability = Durability::kNone}));
      most = std::max(most, budget->used(MemoryBudget::Use::kMemtables));
    }
  }
  EXPECT_LE(most, budget->limit() / 8 * 5 + budget->limit() / 8);
}

TEST_F(MemoryBudgetTest, IdleDatabasesFreeMemoryForOneThatWrites) {
  const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
  DatabaseOptions options = Options();
  options.shared_memory_budget = budget;
  options.memtable_size = 2 << 20;
  std::vector<std::unique_ptr<Database>> databases;
  for (const char* path : {"/idle", "/idle2", "/busy"}) {
    ASSERT_OK_AND_ASSIGN(databases.emplace_back(), Database::Open(path, options));
    ASSERT_OK(databases.back()->CreateTable("t", TableSchema{.families = {{"f", {}}}}));
  }
  const auto write = [&](int database, int rows) {
    ASSERT_OK_AND_ASSIGN(Table * table, databases[database]->OpenTable("t"));
    for (int i = 0; i < rows; ++i) {
      Set(table, absl::StrCat("row", i), "f:q", 1, std::string(1000, 'v'));
    }
  };
  write(0, 1800);
  write(1, 1600);
  write(2, 1700);
  ASSERT_OK(databases[0]->WaitUntilQuiet());  // rotated memtables are flushed
  EXPECT_GE(databases[0]->Statistics().minor_compactions, 1u);
}

TEST_F(MemoryBudgetTest, RecoveryWritesLargeFilesEvenIfAnotherDatabaseHasTheMemory) {
  const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
  DatabaseOptions options = Options();
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 200; ++i) {
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(100, 'v'));
  }
  Kill();
  options.shared_memory_budget = budget;
  BudgetAccess::Charge(*budget, MemoryBudget::Use::kMemtables, MemoryBudget::kMinimum / 3);
  Open(options);
  EXPECT_LE(database_->Statistics().minor_compactions, 5u);  // including METADATA's
  database_.reset();
}

TEST_F(MemoryBudgetTest, TwoDatabasesShareOneMemoryBudget) {
  const auto budget = std::make_shared<MemoryBudget>(32 << 20);
  DatabaseOptions options = Options();
  options.shared_memory_budget = budget;
  options.memory_budget = 0;  // ignored
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> other, Database::Open("/other", options));
  TableSchema schema;
  schema.families["f"] = {};
  ASSERT_OK(other->CreateTable("t", schema));
  ASSERT_OK_AND_ASSIGN(Table * other_table, other->OpenTable("t"));

  const auto written = [&] {
    return budget->used(MemoryBudget::Use::kMemtables) + budget->used(MemoryBudget::Use::kLog) +
           budget->used(MemoryBudget::Use::kSpareLog);
  };
  Set(table, "r", "f:q", 1, std::string(100'000, 'v'));
  const uint64_t one = written();
  Set(other_table, "r", "f:q", 1, std::string(100'000, 'v'));
  const uint64_t two = written();

  EXPECT_GE(one, 100'000u);
  EXPECT_GE(two, 200'000u);
  EXPECT_EQ(database_->Statistics().memory_limit, uint64_t{32} << 20);
  EXPECT_EQ(other->Statistics().memory_limit, uint64_t{32} << 20);
  database_.reset();
  other.reset();
  EXPECT_EQ(budget->used(), 0u);
}

TEST_F(MemoryBudgetTest, MemoryStaysWithinASmallBudgetUnderManyWrites) {
  const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::kMinimum);
  DatabaseOptions options = Options();
  options.shared_memory_budget = budget;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  uint64_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    Set(table, absl::StrCat("row", i * 7919 % 20'000), "f:q", 1, std::string(1000, 'v'));
    most = std::max(most, budget->used());
  }

  EXPECT_LE(most, budget->limit() + budget->limit() / 4);
  EXPECT_OK(database_->Statistics().background_error);
}

}  // namespace
}  // namespace bigtable
