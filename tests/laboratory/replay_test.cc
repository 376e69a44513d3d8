// A recording, made again by bench/replay: the second database has the same cells as the first,
// but for their values, which a recording does not have.
#include "replay/replay.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "replay/overview.h"
#include "replay/target.h"
#include "support/database_fixture.h"
#include "support/random.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

class ReplayTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return absl::StrCat(directory_.path(), "/", name);
  }

  static TableSchema Schema() {
    TableSchema schema;
    schema.families["f"] = {.gc = GcRule::MaxVersions(2)};
    schema.families["age"] = {.gc = GcRule::MaxAge(absl::Hours(1))};
    schema.families["n"] = {.value_type = ValueType::kInt64Sum};
    return schema;
  }
  void Open(RecordedKeys keys = RecordedKeys::kPlain) {
    auto recorder = CallRecorder::Create(Path("calls"), {.keys = keys});
    ASSERT_OK(recorder);
    auto database = Database::Open(Path("first"), {.tablet_servers = 1, .recorder = *recorder});
    ASSERT_OK(database);
    database_ = *std::move(database);
    ASSERT_OK(database_->CreateTable("t", Schema()));
    table_ = *database_->OpenTable("t");
  }

  absl::StatusOr<bench::ReplayResult> Replay(bench::ReplayOptions options = {}) {
    auto overview = bench::ReadOverview(Path("calls"));
    if (!overview.ok()) return overview.status();
    bench::TargetOptions target_options{.directory = Path("second"), .keeps_policies = true};
    target_options.database.tablet_servers = 1;
    auto target = bench::OpenBigtableTarget(*overview, target_options);
    if (!target.ok()) return target.status();
    options.recording = Path("calls");
    absl::StatusOr<bench::ReplayResult> result = bench::Replay(options, *overview, target->get());
    EXPECT_OK((*target)->Close());
    return result;
  }

  // Rows, columns, timestamps, and sizes of values, but for what is written by the clock.
  static std::string Cells(Database* database) {
    std::string text;
    RowReader rows = (*database->OpenTable("t"))->ReadRows(RowRange::All());
    for (const Row& row : rows) {
      for (const Cell& cell : row.cells()) {
        absl::StrAppend(&text, absl::CHexEscape(ToAbsl(row.key())), " ", ToAbsl(cell.family), ":",
                        absl::CHexEscape(ToAbsl(cell.qualifier)), " ", cell.value.size(), " ",
                        cell.timestamp.micros() < 1000 ? cell.timestamp.micros() : -1, "\n");
      }
    }
    EXPECT_OK(rows.status());
    return text;
  }
  std::string CellsOfSecond() {
    auto second = Database::Open(Path("second"), {.tablet_servers = 1});
    EXPECT_OK(second);
    return second.ok() ? Cells(second->get()) : "";
  }

  TempDirectory directory_{TempDirectory::Where::kMemory};
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
};

// Any call that there is, on few rows.
void MakeRandomCall(Database* database, Table* table, Random* random) {
  const std::string row(1, static_cast<char>('a' + random->Below(6)));
  const auto column = [&] { return absl::StrCat("f:", random->Below(3)); };
  const std::string value(random->Below(20), 'v');
  const Timestamp time(random->Between(1, 9));
  switch (random->Below(14)) {
    case 0:
      (void)table->ReadRow(row, Filter::Latest(1), {.cell_limit = 2});
      break;
    case 1: {
      RowReader reader = table->ReadRows(RowRange::StartingAt(row), {.reverse = random->OneIn(2)});
      for (uint64_t rows = random->Below(4); rows > 0 && reader.Next(); --rows) {
      }
      EXPECT_OK(reader.status());
      break;
    }
    case 2: {
      Scanner scanner(table);
      scanner.Lookup(row);
      for (ScanStream* s = scanner.FetchColumnFamily("f"); !s->Done(); s->Next()) {
      }
      EXPECT_OK(scanner.status());
      break;
    }
    case 3:
      EXPECT_OK(table->Apply(RowMutation(row).Delete(column()).DeleteCell(column(), time)));
      break;
    case 4:
      EXPECT_OK(table->Apply(RowMutation(row).DeleteRow()));
      break;
    case 5:
      EXPECT_OK(table->Apply(RowMutation(row).DeleteTimeRange(column(), time, Timestamp(20))));
      break;
    case 6: {
      std::vector<RowMutation> batch = {RowMutation(row).Set(column(), time, value),
                                        RowMutation("z").Set("age:q", value)};
      for (const absl::Status& status : table->ApplyBatch(batch)) EXPECT_OK(status);
      break;
    }
    case 7: {
      WriteBatch batch;
      batch.Apply(table, RowMutation(row).Set(column(), time, value));
      batch.Apply(table, RowMutation("y").DeleteFamily("f"));
      EXPECT_OK(database->Apply(batch));
      break;
    }
    case 8:
      EXPECT_OK(table->CheckAndMutateRow(row, Filter::Family("f"),
                                         RowMutation(row).Set("f:yes", time, value),
                                         RowMutation(row).Set("f:no", time, value)));
      break;
    case 9:
      EXPECT_OK(table->ReadModifyWriteRow(ReadModifyWrite(row).Append("f:log", value)));
      break;
    case 10:
      EXPECT_OK(table->MutateRowAtomically(row, {}, [&](const Row& read) {
        return absl::StatusOr<RowMutation>(RowMutation(read.key()).Set("f:m", time, value));
      }));
      break;
    case 11:
      EXPECT_OK(database->RunTransaction([&](Transaction* transaction) {
        EXPECT_OK(transaction->ReadRow(table, row));
        return transaction->Apply(table, RowMutation(row).Set(column(), time, value));
      }));
      break;
    case 12:
      EXPECT_OK(table->Apply(RowMutation(row).AddToCell("n:q", time, int64_t{1})));
      break;
    default:
      EXPECT_OK(table->Apply(RowMutation(row).Set(column(), time, value)));
  }
}

TEST_F(ReplayTest, MakesTheSameCells) {
  Open();
  Random random(1);
  for (int i = 0; i < 3000; ++i) MakeRandomCall(database_.get(), table_, &random);
  const std::string cells = Cells(database_.get());
  ASSERT_OK(database_->Close());
  const absl::StatusOr<bench::ReplayResult> result = Replay();
  ASSERT_OK(result);
  EXPECT_GE(result->calls, 3000u);
  EXPECT_EQ(result->skipped, 0u);
  EXPECT_EQ(result->rows, result->recorded_rows);
  EXPECT_EQ(CellsOfSecond(), cells);
}

TEST_F(ReplayTest, CallsOfEachRecordedCallerKeepTheirOrder) {
  Open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      const std::string row(1, static_cast<char>('a' + i));
      for (int64_t n = 0; n < 200; ++n) {
        EXPECT_OK(table_->Apply(
            RowMutation(row).DeleteRow().Set(absl::StrCat("f:", n), Timestamp(1), "v")));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string cells = Cells(database_.get());
  ASSERT_OK(database_->Close());
  const absl::StatusOr<bench::ReplayResult> result = Replay({.threads = 3});
  ASSERT_OK(result);
  EXPECT_EQ(CellsOfSecond(), cells);
}

TEST_F(ReplayTest, LeavesOutWhatFailed) {
  Open();
  EXPECT_FALSE(table_->Apply(RowMutation("r").Set("none:q", "v")).ok());
  EXPECT_OK(table_->Apply(RowMutation("r").Set("f:q", "v")));
  ASSERT_OK(database_->Close());
  const absl::StatusOr<bench::ReplayResult> result = Replay();
  ASSERT_OK(result);
  EXPECT_EQ(result->calls, 1u);
  EXPECT_EQ(result->skipped, 1u);
}

TEST_F(ReplayTest, ReportsWhatFailsNow) {
  Open();
  EXPECT_OK(table_->Apply(RowMutation("r").Set("f:q", "v")));
  ASSERT_OK(database_->DropFamily("t", "f"));
  ASSERT_OK(database_->Close());
  const absl::Status status = Replay().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(status.message()).substr(0, 20), "Apply of table t at ");
}

TEST_F(ReplayTest, WorksWithHashedKeys) {
  Open(RecordedKeys::kHashed);
  Random random(2);
  for (int i = 0; i < 500; ++i) MakeRandomCall(database_.get(), table_, &random);
  EXPECT_OK(table_->DropRowRange(RowRange::Prefix("nothing")));
  const std::string cells = Cells(database_.get());
  ASSERT_OK(database_->Close());
  const absl::StatusOr<bench::ReplayResult> result = Replay();
  ASSERT_OK(result);
  EXPECT_EQ(result->skipped, 1u);
  const std::string second = CellsOfSecond();
  EXPECT_EQ(std::count(second.begin(), second.end(), '\n'),
            std::count(cells.begin(), cells.end(), '\n'));
}

TEST_F(ReplayTest, KeepsThePace) {
  Open();
  EXPECT_OK(table_->Apply(RowMutation("r").Set("f:q", "v")));
  absl::SleepFor(absl::Milliseconds(200));
  EXPECT_OK(table_->Apply(RowMutation("r").Set("f:q", "v")));
  ASSERT_OK(database_->Close());
  const absl::StatusOr<bench::ReplayResult> result = Replay({.speed = 2});
  ASSERT_OK(result);
  EXPECT_GE(result->time, absl::Milliseconds(100));
}

}  // namespace
}  // namespace bigtable
