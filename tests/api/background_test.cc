// Compactions by request, and pausing, cancelling and resuming background work.
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "support/database_fixture.h"

namespace bigtable {
namespace {

class DatabaseBackgroundTest : public DatabaseFixture {};

TEST_F(DatabaseBackgroundTest, CompactReclaimsTheSpaceOfDeletedRows) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 100; ++i) {
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(1000, 'v'));
  }
  ASSERT_OK(database_->Flush("t"));
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(table->Apply(RowMutation(absl::StrCat("row", i)).DeleteRow()));
  }

  ASSERT_OK(database_->Compact("t"));

  const LocalityGroupStatistics group = database_->Statistics().tables["t"]["default"];
  EXPECT_EQ(group.entries, 0u);
  EXPECT_LT(group.file_bytes, 5'000u);
  EXPECT_EQ(ShowKeys(table->ReadRows(RowRange::All())), "");
}

TEST_F(DatabaseBackgroundTest, PausedCompactionsRunAfterAsManyContinues) {
  DatabaseOptions options = Options();
  options.memtable_size = 64 << 10;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  database_->PauseCompactions();
  database_->PauseCompactions();
  const uint64_t before = database_->Statistics().merging_compactions;
  for (int i = 0; i < 12; ++i) {
    // Runs that do not overlap would need no compaction.
    Set(table, "a", "f:q", i, std::string(1000, 'v'));
    Set(table, "z", "f:q", i, std::string(1000, 'v'));
    ASSERT_OK(database_->Flush("t"));
  }
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(database_->Statistics().merging_compactions, before);
  database_->ContinueCompactions();
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(database_->Statistics().merging_compactions, before);

  database_->ContinueCompactions();
  ASSERT_OK(database_->WaitUntilQuiet());

  EXPECT_GT(database_->Statistics().merging_compactions, before);
  EXPECT_LT(database_->Statistics().tables["t"]["default"].sorted_runs, 12u);
}

TEST_F(DatabaseBackgroundTest, CompactWorksWhileCompactionsArePaused) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  database_->PauseCompactions();
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  Set(table, "r", "f:q", 1, "w");

  ASSERT_OK(database_->Compact("t"));

  EXPECT_EQ(database_->Statistics().tables["t"]["default"].sorted_runs, 1u);
  EXPECT_EQ(database_->Statistics().tables["t"]["default"].entries, 1u);
}

TEST_F(DatabaseBackgroundTest, CancelCompactionsEndsACompactOfAnotherThread) {
  DatabaseOptions options = Options();
  options.compaction_rate = 100'000;  // the compaction below takes half a minute at this rate
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 1500; ++i) {
    Set(table, absl::StrCat("row", i), "f:q", 1,
        std::string(1000, static_cast<char>('a' + i % 26)));
  }
  ASSERT_OK(database_->Flush("t"));
  absl::Status status;
  std::atomic<bool> returned{false};
  std::thread compactor([this, &status, &returned] {
    status = database_->Compact("t");
    returned = true;
  });

  while (!returned) {
    absl::SleepFor(absl::Milliseconds(10));
    database_->CancelCompactions();
  }
  compactor.join();
  database_->SetCompactionRate(0);

  EXPECT_STATUS(kCancelled, "", status);
  EXPECT_EQ(table->ReadRow("row7")->cells().size(), 1u);
  EXPECT_OK(database_->Compact("t"));
}

TEST_F(DatabaseBackgroundTest, AFullDiskStopsWritesUntilThereIsRoom) {
  DatabaseOptions options = Options();
  options.memtable_size = 64 << 10;
  options.log_segment_size = 64 << 10;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  file_system_->set_max_total_bytes(file_system_->total_bytes() + (300 << 10));
  int written = 0;
  absl::Status status;
  while (status.ok() && written < 10'000) {
    status =
        table->Apply(RowMutation(absl::StrCat("row", written)).Set("f:q", std::string(1000, 'v')));
    if (status.ok()) ++written;
  }
  EXPECT_STATUS(kResourceExhausted, "", status);
  file_system_->set_max_total_bytes(InMemoryFileSystem::kUnlimited);
  Set(table, "after", "f:q", 1, "v");
  EXPECT_OK(database_->Statistics().background_error);
  for (const bool reopened : {false, true}) {
    if (reopened) Reopen();
    int found = 0;
    RowReader reader = OpenTable("t")->ReadRows(RowRange::All());
    for (const Row& row : reader) found += row.cells().size() == 1 ? 1 : 0;
    EXPECT_OK(reader.status());
    EXPECT_EQ(found, written + 1);
  }
}

}  // namespace
}  // namespace bigtable
