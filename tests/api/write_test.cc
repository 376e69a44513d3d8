// Table::Apply and ApplyBatch: the effect of mutations, their timestamps and their durability.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "api/write_fixture.h"
#include "schema/mutation_format.h"
#include "support/expect_status.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

using WriteTest = WriteFixture;

// --- Mutations ---

TEST_F(WriteTest, OperationsTakeEffectInCallOrder) {
  ASSERT_OK(table_->Apply(RowMutation("set then delete").Set("f:q", "v").Delete("f:q")));
  ASSERT_OK(
      table_->Apply(RowMutation("delete then set").Delete("f:q").Set("f:q", Timestamp(1), "v")));
  ASSERT_OK(
      table_->Apply(RowMutation("row").Set("g:q", "v").DeleteRow().Set("f:q", Timestamp(1), "v")));
  ASSERT_OK(table_->Apply(RowMutation("family")
                              .Set("f:a", "v")
                              .Set("g:a", Timestamp(1), "v")
                              .DeleteFamily("f")
                              .Set("f:b", Timestamp(1), "v")));
  ASSERT_OK(table_->Apply(
      RowMutation("twice").Set("f:q", Timestamp(1), "first").Set("f:q", Timestamp(1), "second")));

  EXPECT_EQ(Show(table_->ReadRow("set then delete")), "");
  EXPECT_EQ(Show(table_->ReadRow("delete then set")), "f:q@1=v");
  EXPECT_EQ(Show(table_->ReadRow("row")), "f:q@1=v");
  EXPECT_EQ(Show(table_->ReadRow("family")), "f:b@1=v g:a@1=v");
  EXPECT_EQ(Show(table_->ReadRow("twice")), "f:q@1=second");
}

TEST_F(WriteTest, AMutationBeginsAgain) {
  RowMutation mutation(std::string(RowMutation::kMaxRowSize + 1, 'r'));
  EXPECT_FALSE(mutation.status().ok());
  mutation.Reset("first").Set("f:q", Timestamp(1), "v").Set("f:server's time", "v");
  ASSERT_OK(table_->Apply(mutation));
  mutation.Reset("second");
  EXPECT_EQ(mutation.row(), "second");
  EXPECT_EQ(mutation.operation_count(), 0u);
  EXPECT_EQ(mutation.byte_size(), RowMutation("second").byte_size());
  mutation.Set("g:q", Timestamp(2), "w");
  ASSERT_OK(table_->Apply(mutation));
  EXPECT_EQ(Show(table_->ReadRow("second")), "g:q@2=w");
  EXPECT_FALSE(EncodedMutation::Of(mutation).takes_server_time);
  EXPECT_STATUS(kInvalidArgument, "a row key must not be empty", mutation.Reset("").status());
}

TEST_F(WriteTest, EachDeletionDeletesItsCells) {
  for (const char* row : {"cell", "column", "family", "row"}) {
    for (const char* column : {"f:a", "f:b", "g:a"}) {
      Set(table_, row, column, 1, "x");
      Set(table_, row, column, 2, "y");
    }
  }

  ASSERT_OK(table_->Apply(RowMutation("cell").DeleteCell("f:a", Timestamp(2))));
  ASSERT_OK(table_->Apply(RowMutation("column").Delete("f:a")));
  ASSERT_OK(table_->Apply(RowMutation("family").DeleteFamily("f")));
  ASSERT_OK(table_->Apply(RowMutation("row").DeleteRow()));

  for (const char* where : {"memtable", "SSTable", "compacted SSTable"}) {
    SCOPED_TRACE(where);
    EXPECT_EQ(Show(table_->ReadRow("cell")), "f:a@1=x f:b@2=y f:b@1=x g:a@2=y g:a@1=x");
    EXPECT_EQ(Show(table_->ReadRow("column")), "f:b@2=y f:b@1=x g:a@2=y g:a@1=x");
    EXPECT_EQ(Show(table_->ReadRow("family")), "g:a@2=y g:a@1=x");
    EXPECT_EQ(Show(table_->ReadRow("row")), "");
    ASSERT_OK(std::string_view(where) == "memtable" ? database_->Flush("t")
                                                    : database_->Compact("t"));
  }
}

TEST_F(WriteTest, ADeletionDeletesEarlierCellsNotLaterOnes) {
  ASSERT_OK(table_->Apply(RowMutation("r").Delete("f:q").DeleteRow()));
  Set(table_, "r", "f:q", 1, "written later, with an old timestamp");

  EXPECT_EQ(Show(table_->ReadRow("r", Filter::StripValueTransformer())), "f:q@1=");
}

TEST_F(WriteTest, SetReplacesACellOfTheSameTimestamp) {
  Set(table_, "r", "f:q", 5, "old");
  ASSERT_OK(database_->Flush("t"));
  Set(table_, "r", "f:q", 5, "new");

  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@5=new");
}

TEST_F(WriteTest, AMutationMayBeAppliedAgain) {
  RowMutation mutation("r");
  mutation.Set("f:q", "v");
  ASSERT_OK(table_->Apply(mutation));
  ASSERT_OK(table_->Apply(mutation));

  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@1001=v f:q@1000=v");
}

TEST_F(WriteTest, MutationCountsItsOperationsAndBytes) {
  RowMutation mutation("row");
  EXPECT_EQ(mutation.operation_count(), 0u);

  mutation.Set("f:q", std::string(1000, 'v')).Delete("f:q");

  EXPECT_EQ(mutation.row(), "row");
  EXPECT_EQ(mutation.operation_count(), 2u);
  EXPECT_GE(mutation.byte_size(), 1000u);
  EXPECT_LE(mutation.byte_size(), 1100u);
}

// --- The server's time ---

TEST_F(WriteTest, AMutationHasOneServerTime) {
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:a", "v").Set("g:b", "v")));

  EXPECT_EQ(Show(table_->ReadRow("r")), "f:a@1000=v g:b@1000=v");
}

TEST_F(WriteTest, ServerTimeIncreasesEvenIfTheClockStopsOrJumpsBack) {
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", "a")));
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", "b")));
  clock_.Set(5000);
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", "c")));
  clock_.Set(7);
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", "d")));
  ReopenTable();
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", "e")));
  Kill();
  Open();
  table_ = OpenTable("t");
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", "f")));

  ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("r"));
  std::string newest_first;
  for (const Cell& cell : row.cells()) newest_first += cell.value;
  EXPECT_EQ(newest_first, "fedcba");
  EXPECT_EQ(row.cells()[3].timestamp, Timestamp(5000));
}

// --- Batches ---

TEST_F(WriteTest, ABatchHasAStatusForEachMutation) {
  const std::vector<RowMutation> batch = {
      RowMutation("a").Set("f:q", Timestamp(1), "v"), RowMutation("b").Set("x:q", "v"),
      RowMutation("").Set("f:q", "v"), RowMutation("a").Set("f:q", Timestamp(2), "w")};

  const std::vector<absl::Status> statuses = table_->ApplyBatch(batch);

  ASSERT_EQ(statuses.size(), 4u);
  EXPECT_OK(statuses[0]);
  EXPECT_STATUS(kNotFound, "x", statuses[1]);
  EXPECT_STATUS(kInvalidArgument, "row", statuses[2]);
  EXPECT_OK(statuses[3]);
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All())), "a");
  EXPECT_EQ(Show(table_->ReadRow("a")), "f:q@2=w f:q@1=v");
}

TEST_F(WriteTest, AnEmptyBatchIsNotAnError) { EXPECT_TRUE(table_->ApplyBatch({}).empty()); }

TEST_F(WriteTest, ABatchLargerThanAMemtableAndTheLogSegmentWorks) {
  std::vector<RowMutation> batch;
  for (int i = 0; i < 3000; ++i) {
    batch.push_back(RowMutation(absl::StrCat("row", 10'000 + i)).Set("f:q", std::string(500, 'v')));
  }

  for (const absl::Status& status : table_->ApplyBatch(batch)) ASSERT_OK(status);

  int rows = 0;
  for (const Row& row : table_->ReadRows(RowRange::All())) rows += row.cells().size() == 1 ? 1 : 0;
  EXPECT_EQ(rows, 3000);
}

// --- Durability ---

TEST_F(WriteTest, BufferedWritesSurviveTheProcess) {
  Set(table_, "r", "f:q", 1, "v");

  Kill();
  Open();

  EXPECT_EQ(Show(OpenTable("t")->ReadRow("r")), "f:q@1=v");
}

TEST_F(WriteTest, SyncedWritesSurviveTheMachine) {
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v"),
                          {.durability = Durability::kSync}));

  std::unique_ptr<InMemoryFileSystem> clone = file_system_->CrashClone(1, Unsynced::kNothing);
  database_.reset();
  file_system_ = std::move(clone);
  Open();

  EXPECT_EQ(Show(OpenTable("t")->ReadRow("r")), "f:q@1=v");
}

TEST_F(WriteTest, WritesWithoutADurabilityUseTheDatabases) {
  DatabaseOptions options = Options();
  options.durability = Durability::kSync;
  Reopen(options);
  table_ = OpenTable("t");
  const uint64_t before = database_->Statistics().log_syncs;

  Set(table_, "r", "f:q", 1, "v");

  EXPECT_GT(database_->Statistics().log_syncs, before);
}

TEST_F(WriteTest, UnloggedWritesAreNotInTheLogAndSurviveACloseAndAFlush) {
  const uint64_t before = database_->Statistics().log_bytes_written;
  const std::string value(10'000, 'v');
  ASSERT_OK(table_->Apply(RowMutation("closed").Set("f:q", Timestamp(1), value),
                          {.durability = Durability::kNone}));
  EXPECT_LT(database_->Statistics().log_bytes_written, before + 10'000);

  ReopenTable();
  EXPECT_FALSE(table_->ReadRow("closed")->empty());

  ASSERT_OK(table_->Apply(RowMutation("flushed").Set("f:q", Timestamp(1), "v"),
                          {.durability = Durability::kNone}));
  ASSERT_OK(database_->Flush("t"));
  Kill();
  Open();
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("flushed")), "f:q@1=v");
}

// --- Many threads ---

// Every mutation writes one number to both groups. No read sees two different numbers.
TEST_F(WriteTest, ThreadsSeeAMutationCompletelyOrNotAtAll) {
  constexpr int kWriters = 3;
  constexpr int kWrites = kSlow ? 300 : 3000;
  std::atomic<int> running{kWriters};
  std::atomic<int> errors{0};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([this, writer, &running, &errors] {
      for (int i = 0; i < kWrites; ++i) {
        const std::string number = absl::StrCat(writer, ".", i);
        RowMutation mutation("r");
        mutation.Set("f:q", Timestamp(1), number).Set("g:q", Timestamp(1), number);
        if (!table_->Apply(mutation).ok()) ++errors;
      }
      --running;
    });
  }
  std::thread flusher([this, &running, &errors] {
    while (running > 0) {
      if (!database_->Flush("t").ok()) ++errors;
      absl::SleepFor(absl::Milliseconds(1));
    }
  });

  int torn = 0;
  while (running > 0) {
    const absl::StatusOr<Row> row = table_->ReadRow("r");
    if (!row.ok()) {
      ++errors;
    } else if (!row->empty() &&
               (row->cells().size() != 2 || row->cells()[0].value != row->cells()[1].value)) {
      ++torn;
    }
  }
  for (std::thread& thread : threads) thread.join();
  flusher.join();

  EXPECT_EQ(torn, 0);
  EXPECT_EQ(errors, 0);
}

TEST_F(WriteTest, ThreadsLoseNoneOfTheirWrites) {
  constexpr int kWriters = 4;
  constexpr int kWrites = kSlow ? 300 : 3000;
  DatabaseOptions options = Options();
  options.memtable_size = 64 << 10;
  Reopen(options);
  table_ = OpenTable("t");
  std::atomic<int> errors{0};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([this, writer, &errors] {
      for (int i = 0; i < kWrites; ++i) {
        const std::string row = absl::StrCat(writer, "/", i);
        if (!table_->Apply(RowMutation(row).Set("f:q", row)).ok()) ++errors;
        // A thread reads its own write.
        const absl::StatusOr<Row> read = table_->ReadRow(row);
        if (!read.ok() || read->cells().size() != 1 || read->cells()[0].value != row) ++errors;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  int rows = 0;
  for (const Row& row : table_->ReadRows(RowRange::All())) rows += row.empty() ? 0 : 1;
  EXPECT_EQ(rows, kWriters * kWrites);
  EXPECT_EQ(errors, 0);
}

}  // namespace
}  // namespace bigtable
