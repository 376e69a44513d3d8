// Compaction filters: which cells are passed to them and when, and what reads return before and
// after.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "compaction/filters.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

constexpr const char* kByValue = "test-by-value";

std::atomic<int> filtered_cells{0};
std::string last_filtered;  // read while no compaction runs

// Removes values that begin with "drop", and those that begin with "until:N" after N microseconds;
// makes those that begin with "up" upper case.
class ByValue final : public CompactionFilter {
 public:
  Decision Filter(const CompactedCell& cell, std::string* value) const override {
    filtered_cells.fetch_add(1);
    last_filtered = Cat(cell.row, "/", cell.family, ":", cell.qualifier, "@",
                        cell.timestamp.micros(), "=", cell.value);
    EXPECT_EQ(*value, "");
    if (cell.value.starts_with("drop")) return Decision::kRemove;
    if (cell.value.starts_with("until:")) {
      int64_t until;
      EXPECT_TRUE(absl::SimpleAtoi(ToAbsl(cell.value.substr(6)), &until));
      return absl::ToUnixMicros(cell.now) > until ? Decision::kRemove : Decision::kKeep;
    }
    if (!cell.value.starts_with("up")) return Decision::kKeep;
    *value = absl::AsciiStrToUpper(ToAbsl(cell.value));
    return Decision::kReplace;
  }
};

const absl::Status registered_by_value =
    RegisterCompactionFilter(kByValue, std::make_unique<ByValue>());

class CompactionFilterTest : public DatabaseFixture {
 protected:
  void SetUp() override { Open(); }
  // "f" is filtered, "g" is not, and "v" is filtered and has two versions.
  void MakeTable() {
    TableSchema schema;
    schema.families["f"] = {.compaction_filter = kByValue};
    schema.families["g"] = {};
    schema.families["v"] = {.gc = GcRule::MaxVersions(2), .compaction_filter = kByValue};
    table_ = CreateTable("t", schema);
  }
  void Compact() { ASSERT_OK(database_->Compact("t")); }
  std::string Get(std::string_view row) { return Show(table_->ReadRow(row)); }

  Table* table_ = nullptr;
};

TEST_F(CompactionFilterTest, CellsAreKeptRemovedAndReplacedByACompactionAndNotBefore) {
  MakeTable();
  Set(table_, "r", "f:a", 1, "keep");
  Set(table_, "r", "f:b", 1, "drop");
  Set(table_, "r", "f:c", 1, "up");

  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Get("r"), "f:a@1=keep f:b@1=drop f:c@1=up");
  Compact();
  EXPECT_EQ(Get("r"), "f:a@1=keep f:c@1=UP");
  Reopen();
  table_ = OpenTable("t");
  EXPECT_EQ(Get("r"), "f:a@1=keep f:c@1=UP");
}

TEST_F(CompactionFilterTest, TheFilterSeesRowColumnTimestampValueAndTime) {
  MakeTable();
  const std::string_view odd("q\0\xff", 3);
  ASSERT_OK(table_->Apply(
      RowMutation(std::string_view("r\0w", 3)).Set(Cat("f:", odd), Timestamp(7), "until:5000")));
  Compact();
  EXPECT_EQ(last_filtered, Cat(std::string_view("r\0w", 3), "/f:", odd, "@7=until:5000"));
  EXPECT_NE(ShowKeys(table_->ReadRows(RowSet(RowRange::All()))), "");
  clock_.Set(5001);
  Compact();
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowSet(RowRange::All()))), "");
}

TEST_F(CompactionFilterTest, FamiliesWithoutAFilterStayAsTheyAre) {
  MakeTable();
  Set(table_, "r", "g:a", 1, "drop");
  Set(table_, "r", "g:b", 1, "up");
  filtered_cells = 0;
  Compact();
  EXPECT_EQ(Get("r"), "g:a@1=drop g:b@1=up");
  EXPECT_EQ(filtered_cells, 0);
}

TEST_F(CompactionFilterTest, ARemovedCellUncoversNothingOfItsOwn) {
  MakeTable();
  for (const char* const value : {"old", "older", "drop"}) {
    Set(table_, "r", "f:a", 1, value);
    Set(table_, "r", "v:a", 1, value);
    ASSERT_OK(database_->Flush("t"));
  }
  Compact();
  EXPECT_EQ(Get("r"), "");
  Compact();
  Reopen();
  table_ = OpenTable("t");
  EXPECT_EQ(Get("r"), "");
}

TEST_F(CompactionFilterTest, AWriteAfterTheRemovalIsSeen) {
  MakeTable();
  Set(table_, "r", "f:a", 1, "drop");
  Set(table_, "r", "v:a", 1, "drop");
  Set(table_, "r", "v:a", 0, "older");
  Compact();
  Set(table_, "r", "f:a", 1, "new");
  Set(table_, "r", "v:a", 1, "new");
  EXPECT_EQ(Get("r"), "f:a@1=new v:a@1=new v:a@0=older");
  Compact();
  EXPECT_EQ(Get("r"), "f:a@1=new v:a@1=new v:a@0=older");
}

TEST_F(CompactionFilterTest, ARemovedVersionCountsLikeTheCellThatItWas) {
  MakeTable();
  Set(table_, "r", "v:a", 1, "one");
  Set(table_, "r", "v:a", 2, "two");
  Set(table_, "r", "v:a", 3, "drop");
  EXPECT_EQ(Get("r"), "v:a@3=drop v:a@2=two");
  Compact();
  EXPECT_EQ(Get("r"), "v:a@2=two");
  Compact();
  EXPECT_EQ(Get("r"), "v:a@2=two");
  // Without the removal this would push out version 2, and with it too.
  Set(table_, "r", "v:a", 4, "four");
  EXPECT_EQ(Get("r"), "v:a@4=four");
  Compact();
  EXPECT_EQ(Get("r"), "v:a@4=four");
}

TEST_F(CompactionFilterTest, NothingIsLeftInTheFilesOfCellsThatCountNoMore) {
  MakeTable();
  for (int i = 0; i < 100; ++i) Set(table_, absl::StrCat("r", i), "v:a", 2, "drop");
  Set(table_, "r", "v:a", 1, "one");
  Set(table_, "r", "v:a", 2, "drop");
  Compact();
  EXPECT_EQ(Get("r"), "v:a@1=one");
  // The older version goes, and with it what still counted against it.
  ASSERT_OK(table_->Apply(RowMutation("r").DeleteCell("v:a", Timestamp(1))));
  Compact();
  Compact();
  EXPECT_EQ(database_->Statistics().tables.at("t").at("default").files, 0);
}

TEST_F(CompactionFilterTest, DeletedOverwrittenAndCollectedCellsAreNotPassed) {
  MakeTable();
  Set(table_, "r", "f:a", 1, "first");
  Set(table_, "r", "f:a", 1, "second");
  Set(table_, "r", "f:b", 1, "deleted");
  ASSERT_OK(table_->Apply(RowMutation("r").Delete("f:b")));
  for (int i = 1; i < 5; ++i) Set(table_, "r", "v:a", i, "version");
  filtered_cells = 0;
  Compact();
  EXPECT_EQ(filtered_cells, 3);
}

TEST_F(CompactionFilterTest, EachCompactAppliesItToAllCellsWhateverFilesTheyAreIn) {
  MakeTable();
  // Runs without a common row, which other compactions would move.
  for (int i = 0; i < 6; ++i) {
    Set(table_, absl::StrCat("r", i), "f:a", 1, i % 2 == 0 ? "until:5000" : "keep");
    ASSERT_OK(database_->Flush("t"));
  }
  Compact();
  filtered_cells = 0;
  Compact();
  EXPECT_EQ(filtered_cells, 6);
  clock_.Set(6000);
  Compact();
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowSet(RowRange::All()))), "r1 r3 r5");
}

TEST_F(CompactionFilterTest, ASnapshotKeepsCellsFromTheFilter) {
  MakeTable();
  Set(table_, "r", "f:a", 1, "drop");
  absl::StatusOr<std::shared_ptr<const Snapshot>> snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot);
  Compact();
  EXPECT_EQ(Show(table_->ReadRow("r", Filter(), {.snapshot = *snapshot})), "f:a@1=drop");
  EXPECT_EQ(Get("r"), "f:a@1=drop");
  *snapshot = nullptr;
  Compact();
  EXPECT_EQ(Get("r"), "");
}

TEST_F(CompactionFilterTest, ATransactionAndWhatWasWrittenAfterItBeganDoNotStopTheFilter) {
  MakeTable();
  Set(table_, "r", "f:a", 1, "drop");
  absl::StatusOr<Transaction> transaction = database_->BeginTransaction();
  ASSERT_OK(transaction);
  Set(table_, "s", "f:a", 1, "drop");
  Compact();
  EXPECT_EQ(Get("r"), "");
  EXPECT_EQ(Get("s"), "f:a@1=drop");
  transaction->Rollback();
  Compact();
  EXPECT_EQ(Get("s"), "");
}

TEST_F(CompactionFilterTest, CachedRowsFollowTheFilter) {
  DatabaseOptions options = Options();
  options.scan_cache = true;
  Reopen(options);
  MakeTable();
  Set(table_, "r", "f:a", 1, "drop");
  Set(table_, "r", "f:b", 1, "up");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get("r"), "f:a@1=drop f:b@1=up");
  ASSERT_GT(database_->Statistics().scan_cache_hits, 0);
  Compact();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Get("r"), "f:b@1=UP");
}

TEST_F(CompactionFilterTest, AnOpenStreamReadsWhatItBeganWith) {
  MakeTable();
  Set(table_, "a", "f:a", 1, "drop");
  Set(table_, "b", "f:a", 1, "drop");
  RowReader reader = table_->ReadRows(RowSet(RowRange::All()));
  ASSERT_TRUE(reader.Next());
  Compact();
  EXPECT_TRUE(reader.Next());
  EXPECT_FALSE(reader.Next());
  EXPECT_OK(reader.status());
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowSet(RowRange::All()))), "");
}

TEST_F(CompactionFilterTest, WithoutItsFilterAFamilyIsReadAndWrittenAndNotCompacted) {
  static const absl::Status registered =
      RegisterCompactionFilter("test-forgotten", std::make_unique<ByValue>());
  ASSERT_OK(registered);
  TableSchema schema;
  schema.families["f"] = {.compaction_filter = "test-forgotten"};
  table_ = CreateTable("t", schema);
  Set(table_, "r", "f:a", 1, "drop");
  ForgetCompactionFilter("test-forgotten");

  Reopen();
  table_ = OpenTable("t");
  Set(table_, "r", "f:b", 1, "drop");
  ASSERT_OK(database_->Flush("t"));
  EXPECT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Get("r"), "f:a@1=drop f:b@1=drop");
  const absl::Status compacted = database_->Compact("t");
  EXPECT_STATUS(kFailedPrecondition,
                "family \"f\" has the compaction filter \"test-forgotten\", which this program has "
                "not registered",
                compacted);
  EXPECT_EQ(Get("r"), "f:a@1=drop f:b@1=drop");

  ASSERT_OK(RegisterCompactionFilter("test-forgotten", std::make_unique<ByValue>()));
  Compact();
  EXPECT_EQ(Get("r"), "");
}

TEST_F(CompactionFilterTest, AFamilyGetsAndLosesAFilter) {
  table_ = CreateTable("t", {"f"});
  Set(table_, "r", "f:a", 1, "drop");
  Compact();
  EXPECT_EQ(Get("r"), "f:a@1=drop");

  ASSERT_OK(database_->UpdateFamily("t", "f", {.compaction_filter = kByValue}));
  EXPECT_EQ(database_->GetSchema("t")->families.at("f").compaction_filter, kByValue);
  Reopen();
  table_ = OpenTable("t");
  Compact();
  EXPECT_EQ(Get("r"), "");

  // A change of something else leaves it alone.
  ASSERT_OK(database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(3)}));
  EXPECT_EQ(database_->GetSchema("t")->families.at("f").compaction_filter, kByValue);
  ASSERT_OK(database_->UpdateFamily("t", "f", {.compaction_filter = ""}));
  Set(table_, "r", "f:a", 2, "drop");
  Compact();
  EXPECT_EQ(Get("r"), "f:a@2=drop");

  ASSERT_OK(database_->AddFamily("t", "g", {.compaction_filter = kByValue}));
  Set(table_, "s", "g:a", 2, "drop");
  Compact();
  EXPECT_EQ(Get("s"), "");
}

TEST_F(CompactionFilterTest, SchemasThatCannotBeAreRefused) {
  TableSchema schema;
  schema.families["f"] = {.compaction_filter = "unknown"};
  EXPECT_STATUS(kInvalidArgument,
                "family \"f\": there is no compaction filter \"unknown\"; registered are: ",
                database_->CreateTable("t", schema));
  schema.families["f"] = {.compaction_filter = "with space"};
  EXPECT_STATUS(kInvalidArgument,
                "compaction_filter of family \"f\" must be 1 to 64 printable ASCII characters",
                database_->CreateTable("t", schema));
  schema.families["f"] = {.value_type = ValueType::kInt64Sum, .compaction_filter = kByValue};
  EXPECT_STATUS(kInvalidArgument, "only a family that is no aggregate can have one",
                database_->CreateTable("t", schema));
  schema.families["f"] = {.value_type = ValueType::kInt64Sum};
  table_ = CreateTable("t", schema);
  EXPECT_STATUS(kInvalidArgument, "only a family that is no aggregate can have one",
                database_->UpdateFamily("t", "f", {.compaction_filter = kByValue}));
  EXPECT_STATUS(kInvalidArgument, "there is no compaction filter \"unknown\"",
                database_->UpdateFamily("t", "f", {.compaction_filter = "unknown"}));
  EXPECT_EQ(database_->GetSchema("t")->families.at("f").compaction_filter, "");
}

TEST_F(CompactionFilterTest, NamesAreCheckedAndRegisteredOnce) {
  ASSERT_OK(registered_by_value);
  EXPECT_STATUS(kInvalidArgument,
                "the name of a compaction filter must be 1 to 64 printable ASCII characters",
                RegisterCompactionFilter("a:b", std::make_unique<ByValue>()));
  EXPECT_STATUS(kInvalidArgument, "compaction filter \"null\" must not be null",
                RegisterCompactionFilter("null", nullptr));
  EXPECT_STATUS(kAlreadyExists, "is already registered",
                RegisterCompactionFilter(kByValue, std::make_unique<ByValue>()));
  const std::vector<std::string> names = CompactionFilterNames();
  EXPECT_EQ(std::count(names.begin(), names.end(), kByValue), 1);
}

// The same writes to a table with the filter and to one without: what the first has, the second has
// too, and after each Compact it lacks exactly the cells that the filter removes. Timestamps
// ascend, as they do at the server's time.
TEST_F(CompactionFilterTest, RandomHistoriesLackExactlyTheRemovedCells) {
  ForEachSeed(kSlow ? 5 : 40, [&](uint64_t seed) {
    Random random(seed);
    TableSchema schema;
    const int versions = static_cast<int>(random.Below(5));
    Family family;
    if (versions > 0) family.gc = GcRule::MaxVersions(versions);
    schema.families["f"] = family;
    const std::string name = absl::StrCat("plain", seed);
    Table* const plain = CreateTable(name, schema);
    schema.families["f"].compaction_filter = kByValue;
    const std::string filtered_name = absl::StrCat("filtered", seed);
    Table* const filtered = CreateTable(filtered_name, schema);
    std::map<std::string, int64_t> newest;
    const auto cells = [](Table* table, bool without_dropped) {
      std::string text;
      for (const Row& row : table->ReadRows(RowSet(RowRange::All()))) {
        for (const Cell& cell : row.cells()) {
          if (without_dropped && cell.value.starts_with("drop")) continue;
          absl::StrAppend(&text, ToAbsl(Cat(row.key(), "/", cell.qualifier, "@",
                                            cell.timestamp.micros(), "=", cell.value, " ")));
        }
      }
      return text;
    };
    for (int step = 0; step < 120; ++step) {
      const std::string row = absl::StrCat("r", random.Below(2));
      const std::string column = absl::StrCat("f:", random.Below(2));
      int64_t& last = newest[row + column];
      RowMutation mutation(row);
      const uint64_t choice = random.Below(20);
      if (choice < 12) {
        last += static_cast<int64_t>(random.Below(3));
        mutation.Set(column, Timestamp(last),
                     absl::StrCat(random.Below(2) == 0 ? "drop" : "keep", step));
      } else if (choice < 13) {
        mutation.DeleteCell(column, Timestamp(std::max<int64_t>(0, last - 1)));
      } else if (choice < 14) {
        mutation.Delete(column);
      } else if (choice < 15) {
        mutation.DeleteRow();
      } else if (choice < 18) {
        for (const std::string& table : {name, filtered_name}) ASSERT_OK(database_->Flush(table));
        continue;
      } else {
        for (const std::string& table : {name, filtered_name}) ASSERT_OK(database_->Compact(table));
        EXPECT_EQ(cells(filtered, false), cells(plain, true)) << "step " << step;
        continue;
      }
      ASSERT_OK(plain->Apply(mutation));
      ASSERT_OK(filtered->Apply(mutation));
      EXPECT_EQ(cells(filtered, true), cells(plain, true)) << "step " << step;
    }
    ASSERT_OK(database_->DeleteTable(name));
    ASSERT_OK(database_->DeleteTable(filtered_name));
  });
}

}  // namespace
}  // namespace bigtable
