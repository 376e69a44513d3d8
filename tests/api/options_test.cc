// Options that change while a database is open.
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/memory_budget.h"

#include "support/capturing_sink.h"
#include "support/database_fixture.h"

namespace bigtable {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ChangeableOptionsTest : public DatabaseFixture {
 protected:
  void Write(Table* table, int rows) {
    for (int i = 0; i < rows; ++i) {
      Set(table, absl::StrCat("row", written_++), "f:q", 1, std::string(1000, 'v'));
    }
  }
  uint64_t Flushes() { return database_->Statistics().minor_compactions; }

  int written_ = 0;
};

TEST_F(ChangeableOptionsTest, AreThoseOfTheOpeningAtFirst) {
  DatabaseOptions options = Options();
  options.balance_interval = absl::Seconds(90);
  options.compaction_rate = 1'000'000'000;
  options.compaction_threads = 2;
  options.durability = Durability::kSync;
  options.memtable_size = 1 << 20;
  options.metadata_tablet_size = 2 << 20;
  options.target_file_size = 4 << 20;
  Open(options);

  const std::map<std::string, std::string> expected = {
      {"balance_interval", "1m30s"},       {"compaction_rate", "1000000000"},
      {"compaction_threads", "2"},         {"durability", "sync"},
      {"memory_budget", "33554432"},       {"memtable_size", "1048576"},
      {"metadata_tablet_size", "2097152"}, {"target_file_size", "4194304"}};
  EXPECT_EQ(database_->ChangeableOptions(), expected);
  // What it returns can be given to it.
  EXPECT_OK(database_->SetOptions(expected));
  EXPECT_EQ(database_->ChangeableOptions(), expected);
}

TEST_F(ChangeableOptionsTest, AnUnknownOneIsRefusedByNameAndNothingChanges) {
  Open();
  const auto before = database_->ChangeableOptions();

  const absl::Status unknown =
      database_->SetOptions({{"durability", "sync"}, {"memtable_sise", "1048576"}});
  EXPECT_STATUS(kInvalidArgument, "\"memtable_sise\"", unknown);
  EXPECT_STATUS(kInvalidArgument, "memtable_size, metadata_tablet_size", unknown);
  // There is such an option, but it cannot be changed.
  EXPECT_STATUS(kInvalidArgument, "\"tablet_servers\"",
                database_->SetOptions({{"durability", "sync"}, {"tablet_servers", "2"}}));

  EXPECT_EQ(database_->ChangeableOptions(), before);
}

TEST_F(ChangeableOptionsTest, AValueThatOpenWouldRefuseIsRefusedAndNothingChanges) {
  Open();
  const auto before = database_->ChangeableOptions();
  const auto expect_refused = [&](const std::string& name, const std::string& value,
                                  const std::string& message) {
    EXPECT_STATUS(kInvalidArgument, message,
                  database_->SetOptions({{"compaction_rate", "5"}, {name, value}}));
    EXPECT_EQ(database_->ChangeableOptions(), before) << name;
  };

  expect_refused("memtable_size", "65535", "65535");
  expect_refused("memtable_size", absl::StrCat((8 << 20) + 1), "8388609");  // a quarter of memory
  expect_refused("memory_budget", "8388607", "memory_budget must be from 8388608");
  expect_refused("compaction_threads", "0", "compaction_threads must be from 1 to 64, and is 0");
  expect_refused("compaction_threads", "65", "65");
  expect_refused("compaction_threads", "many", "a decimal number, and is \"many\"");
  expect_refused("memtable_size", "1 MB", "\"1 MB\"");
  expect_refused("memtable_size", "-1", "\"-1\"");
  expect_refused("memtable_size", "", "\"\"");
  expect_refused("target_file_size", "1048575", "1048575");
  expect_refused("target_file_size", "99999999999999999999", "\"99999999999999999999\"");
  expect_refused("metadata_tablet_size", "4095", "4095");
  expect_refused("balance_interval", "999us", "999us");
  expect_refused("balance_interval", "1", "a duration");
  expect_refused("durability", "SYNC", "none, buffered or sync");
}

TEST_F(ChangeableOptionsTest, TheSizeOfMemtablesAppliesToTheNextWrite) {
  Open();  // memtables of 8 MiB
  Table* const table = CreateTable("t", {"f"});
  Write(table, 300);
  ASSERT_OK(database_->WaitUntilQuiet());
  ASSERT_EQ(Flushes(), 0u);

  ASSERT_OK(database_->SetOptions({{"memtable_size", "65536"}}));
  Write(table, 1);
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Flushes(), 1u);

  ASSERT_OK(database_->SetOptions({{"memtable_size", "0"}}));  // by the budget, as before
  Write(table, 300);
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Flushes(), 1u);
}

TEST_F(ChangeableOptionsTest, TheMemoryBudgetAppliesToMemtablesLogsAndCache) {
  Open();  // 32 MiB, so memtables of 8 MiB
  Table* const table = CreateTable("t", {"f"});
  Write(table, 5000);
  ASSERT_OK(database_->WaitUntilQuiet());
  ASSERT_EQ(Flushes(), 0u);

  ASSERT_OK(database_->SetOptions({{"memory_budget", "8388608"}}));
  EXPECT_EQ(database_->Statistics().memory_limit, 8u << 20);
  Write(table, 1);
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_GE(Flushes(), 1u);
  uint64_t flushes = Flushes();
  Write(table, 10000);
  ASSERT_OK(database_->WaitUntilQuiet());
  // Memtables of 2 MiB, of which two may be flushed together; of 8 MiB, there would be one.
  EXPECT_GE(Flushes(), flushes + 2);

  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(database_->SetOptions({{"memory_budget", "134217728"}}));
  flushes = Flushes();
  Write(table, 25000);
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Flushes(), flushes) << "of 32 MiB, and as much log";
}

TEST_F(ChangeableOptionsTest, ASharedBudgetChangesForAllItsDatabases) {
  DatabaseOptions options = Options();
  const auto budget = std::make_shared<MemoryBudget>(64 << 20);
  options.shared_memory_budget = budget;
  options.memtable_size = 16 << 20;
  Open(options);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> other, Database::Open("/other", options));
  ASSERT_OK(other->SetOptions({{"memory_budget", "134217728"}}));
  EXPECT_EQ(budget->limit(), uint64_t{128} << 20);
  EXPECT_EQ(database_->ChangeableOptions()["memory_budget"], "134217728");

  EXPECT_STATUS(kInvalidArgument, "memtable_size must be from 65536 to 4194304",
                database_->SetOptions({{"memory_budget", "16777216"}}));
  ASSERT_OK(budget->SetLimit(16 << 20));
  // It was valid when it was set, and counts as a quarter of the budget now.
  ASSERT_OK(database_->SetOptions({{"durability", "sync"}}));
  EXPECT_EQ(database_->ChangeableOptions()["memtable_size"], "16777216");
  Write(CreateTable("t", {"f"}), 5000);
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_GE(Flushes(), 1u);
}

// Segments of the log keep their size, of which a smaller budget holds none.
TEST_F(ChangeableOptionsTest, ABudgetOfLessThanASegmentOfTheLogStopsNoWrites) {
  DatabaseOptions options = Options();
  options.memory_budget = 512 << 20;
  options.log_segment_size = 16 << 20;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  Write(table, 20000);
  ASSERT_OK(database_->SetOptions({{"memory_budget", "8388608"}}));
  for (int i = 0; i < 60; ++i) {
    const RowMutation mutation =
        RowMutation(absl::StrCat("large", i)).Set("f:q", std::string(1 << 20, 'v'));
    ASSERT_OK(table->Apply(mutation, {.deadline = absl::Now() + absl::Seconds(20)}));
  }
  ASSERT_OK(database_->WaitUntilQuiet());
}

TEST_F(ChangeableOptionsTest, TheDurabilityAppliesToWritesThatSetNone) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  Write(table, 10);
  const uint64_t before = database_->Statistics().log_syncs;

  ASSERT_OK(database_->SetOptions({{"durability", "sync"}}));
  Write(table, 10);
  EXPECT_EQ(database_->Statistics().log_syncs, before + 10);
  ASSERT_OK(table->ReadModifyWriteRow(ReadModifyWrite("row0").Append("f:q", "w")));
  EXPECT_EQ(database_->Statistics().log_syncs, before + 11);
  ASSERT_OK(table->Apply(RowMutation("r").Set("f:q", "v"), {.durability = Durability::kBuffered}));
  EXPECT_EQ(database_->Statistics().log_syncs, before + 11);

  ASSERT_OK(database_->SetOptions({{"durability", "buffered"}}));
  Write(table, 10);
  EXPECT_EQ(database_->Statistics().log_syncs, before + 11);
}

TEST_F(ChangeableOptionsTest, TheSizeOfFilesAppliesToTheNextCompaction) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  Write(table, 5000);
  ASSERT_OK(database_->Compact("t"));
  ASSERT_EQ(database_->Statistics().tables["t"]["default"].files, 1u);

  ASSERT_OK(database_->SetOptions({{"target_file_size", "1048576"}}));
  // A file that nothing was written to since is not rewritten.
  Set(table, "row0", "f:q", 1, "w");
  Set(table, "row999", "f:q", 1, "w");
  ASSERT_OK(database_->Compact("t"));

  EXPECT_GE(database_->Statistics().tables["t"]["default"].files, 3u);
}

TEST_F(ChangeableOptionsTest, AChangeIsNotedAndEndsWithTheOpening) {
  DatabaseOptions options = Options();
  const auto sink = std::make_shared<CapturingSink>();
  options.log_sink = sink;
  Open(options);
  const auto opened = database_->ChangeableOptions();

  ASSERT_OK(database_->SetOptions({{"durability", "sync"}, {"compaction_rate", "0"}}));
  database_->SetCompactionRate(7);

  std::string text;
  for (const CapturingSink::Message& message : sink->messages()) text += message.text + "\n";
  EXPECT_THAT(text, HasSubstr("option durability changed from buffered to sync"));
  EXPECT_THAT(text, HasSubstr("option compaction_rate changed from 0 to 7"));
  EXPECT_THAT(text, Not(HasSubstr("option compaction_rate changed from 0 to 0")));
  EXPECT_EQ(database_->ChangeableOptions()["compaction_rate"], "7");
  Reopen(options);
  EXPECT_EQ(database_->ChangeableOptions(), opened);
}

TEST_F(ChangeableOptionsTest, AClosedDatabaseHasNone) {
  Open();
  ASSERT_OK(database_->Close());

  EXPECT_STATUS(kFailedPrecondition, "close", database_->SetOptions({{"durability", "sync"}}));
  EXPECT_TRUE(database_->ChangeableOptions().empty());
}

}  // namespace
}  // namespace bigtable
