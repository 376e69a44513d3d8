// Table::Apply and ApplyBatch, RowMutation, Operation: what they do, and what they refuse.
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdlib.h>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/read_mode.h"
#include "support/seeds.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

class WriteTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["f"] = {};
    schema.families["g"] = {.locality_group = "other"};
    table_ = CreateTable("t", schema);
  }
  void ReopenTable() {
    Reopen();
    table_ = OpenTable("t");
  }

  Table* table_ = nullptr;
};

// --- What is refused ---

TEST_F(WriteTest, RowMustNotBeEmpty) {
  EXPECT_STATUS(kInvalidArgument, "row", table_->Apply(RowMutation("").Set("f:q", "v")));
}

TEST_F(WriteTest, DurabilityMustBeOneThatThereIs) {
  const WriteOptions options{.durability = static_cast<Durability>(9)};
  EXPECT_STATUS(kInvalidArgument, "WriteOptions::durability",
                table_->Apply(RowMutation("r").Set("f:q", "v"), options));
  EXPECT_EQ(Show(table_->ReadRow("r")), "");
}

TEST_F(WriteTest, RowMustNotBeLongerThan64KiB) {
  const std::string row(RowMutation::kMaxRowSize + 1, 'r');

  const absl::Status status = table_->Apply(RowMutation(row).Set("f:q", "v"));

  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, status, "65536", "65537"));
}

TEST_F(WriteTest, ColumnNeedsAColon) {
  EXPECT_STATUS(kInvalidArgument, "\"nocolon\"",
                table_->Apply(RowMutation("r").Set("nocolon", "v")));
  EXPECT_STATUS(kInvalidArgument, "\"nocolon\"", table_->Apply(RowMutation("r").Delete("nocolon")));
  EXPECT_STATUS(kInvalidArgument, "\"nocolon\"",
                table_->Apply(RowMutation("r").DeleteCell("nocolon", Timestamp(1))));
}

TEST_F(WriteTest, TimestampMustNotBeNegative) {
  EXPECT_STATUS(kInvalidArgument, "-5",
                table_->Apply(RowMutation("r").Set("f:q", Timestamp(-5), "v")));
  EXPECT_STATUS(kInvalidArgument, "-5",
                table_->Apply(RowMutation("r").DeleteCell("f:q", Timestamp(-5))));
}

TEST_F(WriteTest, QualifierMustNotBeLongerThan16KiB) {
  const std::string column = "f:" + std::string(RowMutation::kMaxQualifierSize + 1, 'q');

  const absl::Status status = table_->Apply(RowMutation("r").Set(column, "v"));

  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, status, "16384", "16385"));
}

TEST_F(WriteTest, ValueMustNotBeLargerThan256MiB) {
  const std::string value(RowMutation::kMaxValueSize + 1, 'v');

  const absl::Status status = table_->Apply(RowMutation("r").Set("f:q", value));

  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, status, "268435456", "268435457"));
}

TEST_F(WriteTest, MutationMustHaveAnOperation) {
  EXPECT_STATUS(kInvalidArgument, "operation", table_->Apply(RowMutation("r")));
}

TEST_F(WriteTest, MutationMustNotHaveMoreThanAMillionOperations) {
  RowMutation mutation("r");
  for (uint32_t i = 0; i <= RowMutation::kMaxOperations; ++i) mutation.DeleteRow();

  EXPECT_STATUS(kInvalidArgument, "1048576", table_->Apply(mutation));
}

TEST_F(WriteTest, FamilyMustExistAndTheErrorListsThoseThatDo) {
  for (const RowMutation& mutation :
       {RowMutation("r").Set("x:q", "v"), RowMutation("r").Delete("x:q"),
        RowMutation("r").DeleteCell("x:q", Timestamp(1)), RowMutation("r").DeleteFamily("x")}) {
    const absl::Status status = table_->Apply(mutation);

    EXPECT_TRUE(IsStatus(absl::StatusCode::kNotFound, status, "x", "f, g"));
  }
}

TEST_F(WriteTest, ARefusedMutationChangesNothing) {
  Set(table_, "r", "f:q", 1, "old");

  EXPECT_STATUS(kNotFound, "x",
                table_->Apply(RowMutation("r").DeleteRow().Set("f:q", "v").Set("x:q", "v")));
  EXPECT_STATUS(kInvalidArgument, "colon",
                table_->Apply(RowMutation("r").DeleteRow().Set("f:q", "v").Set("f", "v")));

  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@1=old");
}

TEST_F(WriteTest, ADeadlineInThePastWritesNothing) {
  const absl::Status status =
      table_->Apply(RowMutation("r").Set("f:q", "v"), {.deadline = absl::InfinitePast()});
  const std::vector<RowMutation> batch = {RowMutation("r").Set("f:q", "v"),
                                          RowMutation("s").Set("f:q", "v")};
  const std::vector<absl::Status> statuses =
      table_->ApplyBatch(batch, {.deadline = absl::Now() - absl::Seconds(1)});

  EXPECT_STATUS(kDeadlineExceeded, "", status);
  ASSERT_EQ(statuses.size(), 2u);
  EXPECT_STATUS(kDeadlineExceeded, "", statuses[0]);
  EXPECT_STATUS(kDeadlineExceeded, "", statuses[1]);
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All())), "");
}

TEST_F(WriteTest, ACancelledCallWritesNothing) {
  Cancellation cancellation;
  cancellation.Cancel();

  const absl::Status status =
      table_->Apply(RowMutation("r").Set("f:q", "v"), {.cancellation = &cancellation});

  EXPECT_STATUS(kCancelled, "", status);
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All())), "");
}

// --- What is at the limit ---

TEST_F(WriteTest, TheLongestRowAndQualifierWork) {
  const std::string row(RowMutation::kMaxRowSize, '\0');
  const std::string column = "f:" + std::string(RowMutation::kMaxQualifierSize, '\0');
  ASSERT_OK(table_->Apply(RowMutation(row).Set(column, Timestamp(1), "v")));

  for (const char* where : {"memtable", "SSTable"}) {
    SCOPED_TRACE(where);
    ASSERT_OK_AND_ASSIGN(const Row read, table_->ReadRow(row));
    EXPECT_EQ(read.key(), row);
    ASSERT_EQ(read.cells().size(), 1u);
    EXPECT_EQ("f:" + std::string(read.cells()[0].qualifier), column);
    ASSERT_OK(database_->Flush("t"));
  }
}

TEST_F(WriteTest, QualifiersAreAnyBytesAlsoNone) {
  using namespace std::string_literals;
  Set(table_, "r", "f:", 1, "none");
  Set(table_, "r", "f:\0"s, 1, "zero");
  Set(table_, "r", "f:\0\0"s, 1, "zeros");
  Set(table_, "r", "f:a:b"s, 1, "colon");
  Set(table_, "r", "f:\xff"s, 1, "last");

  EXPECT_EQ(Show(table_->ReadRow("r")),
            "f:@1=none f:\\x00@1=zero f:\\x00\\x00@1=zeros f:a:b@1=colon f:\\xff@1=last");
}

// Larger than a log segment, a memtable, and the whole budget.
TEST_F(WriteTest, AValueOf40MiBIsWrittenAndReadAndSurvives) {
  DatabaseOptions options = Options();
  options.memory_budget = MemoryBudget::kMinimum;
  options.memtable_size = 64 << 10;
  options.log_segment_size = 64 << 10;
  Reopen(options);
  table_ = OpenTable("t");
  std::string value(40 << 20, 'v');
  for (size_t i = 0; i < value.size(); i += 4096) value[i] = static_cast<char>('a' + i / 4096 % 26);

  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", Timestamp(1), value)));

  const auto expect_value = [&](const char* where) {
    SCOPED_TRACE(where);
    ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("r"));
    ASSERT_EQ(row.cells().size(), 1u);
    EXPECT_TRUE(row.cells()[0].value == value);
  };
  expect_value("memtable");
  Kill();
  Open(options);
  table_ = OpenTable("t");
  expect_value("after a kill");
  ASSERT_OK(database_->Flush("t"));
  expect_value("SSTable");
  ASSERT_OK(database_->Compact("t"));
  expect_value("compacted SSTable");
}

// --- What a mutation does ---

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

TEST_F(WriteTest, EachDeletionDeletesWhatItSays) {
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

TEST_F(WriteTest, ADeletionDeletesWhatExistsNowNotWhatComesLater) {
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

TEST_F(WriteTest, ServerTimeIsOneForTheWholeMutation) {
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:a", "v").Set("g:b", "v")));

  EXPECT_EQ(Show(table_->ReadRow("r")), "f:a@1000=v g:b@1000=v");
}

TEST_F(WriteTest, ServerTimeIncreasesThoughTheClockStandsStillOrJumpsBack) {
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

TEST_F(WriteTest, AnEmptyBatchIsNoError) { EXPECT_TRUE(table_->ApplyBatch({}).empty()); }

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

TEST_F(WriteTest, TheDatabasesDurabilityIsThatOfWritesThatSayNothing) {
  DatabaseOptions options = Options();
  options.durability = Durability::kSync;
  Reopen(options);
  table_ = OpenTable("t");
  const uint64_t before = database_->Statistics().log_syncs;

  Set(table_, "r", "f:q", 1, "v");

  EXPECT_GT(database_->Statistics().log_syncs, before);
}

TEST_F(WriteTest, UnloggedWritesAreNotInTheLogButSurviveACloseAndAFlush) {
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

// Every mutation writes one number to both groups; nobody ever sees two.
TEST_F(WriteTest, ThreadsSeeAMutationWholeOrNotAtAll) {
  constexpr int kWriters = 3;
  constexpr int kWrites = kSanitized ? 300 : 3000;
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
  constexpr int kWrites = kSanitized ? 300 : 3000;
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
        // Whoever has written reads what was written.
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

// --- As in the paper ---

TEST_F(WriteTest, AnOperationAppliesAMutationThatKnowsItsTable) {
  RowMutation r1(table_, "com.cnn.www");
  r1.Set("f:www.c-span.org", Timestamp(1), "CNN");
  r1.Delete("f:www.abc.com");
  Operation op;

  Apply(&op, &r1);

  EXPECT_TRUE(op.ok()) << op.status();
  EXPECT_EQ(Show(table_->ReadRow("com.cnn.www")), "f:www.c-span.org@1=CNN");
}

TEST_F(WriteTest, AnOperationRefusesAMutationWithoutATable) {
  RowMutation mutation("r");
  mutation.Set("f:q", "v");
  Operation op;

  Apply(&op, &mutation);

  EXPECT_FALSE(op.ok());
  EXPECT_STATUS(kInvalidArgument, "table", op.status());
}

TEST(OpenOrDieTest, DatabasesAreSharedByTheProcessAndClosedWhenItExits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // The child runs this test from its start, so the path must be the same in both.
  const char* const inherited = std::getenv("BIGTABLE_OPEN_OR_DIE_TEST");
  std::unique_ptr<TempDirectory> directory;
  if (inherited == nullptr) {
    directory = std::make_unique<TempDirectory>();
    setenv("BIGTABLE_OPEN_OR_DIE_TEST", directory->path().c_str(), 1);
  }
  const std::string path = inherited != nullptr ? inherited : directory->path();
  if (inherited == nullptr) {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                         Database::Open(path + "/web", TestOptions()));
    TableSchema schema;
    schema.families["anchor"] = {};
    ASSERT_OK(database->CreateTable("webtable", schema));
  }

  EXPECT_EXIT(
      {
        Table* table = OpenOrDie(path + "/web/webtable");
        if (OpenOrDie(path + "/web/webtable") != table) std::exit(3);
        const RowMutation mutation =
            RowMutation("com.cnn.www").Set("anchor:a", Timestamp(1), "CNN");
        std::exit(table->Apply(mutation, {.durability = Durability::kNone}).ok() ? 0 : 4);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_DEATH(OpenOrDie(path + "/web/nosuchtable"), "nosuchtable");

  if (inherited == nullptr) {
    unsetenv("BIGTABLE_OPEN_OR_DIE_TEST");
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                         Database::Open(path + "/web", TestOptions()));
    ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("webtable"));
    EXPECT_EQ(Show(table->ReadRow("com.cnn.www")), "anchor:a@1=CNN");
  }
}

}  // namespace
}  // namespace bigtable
