// The effect of each CompactionStyle on the files of a locality group. No style changes a read.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "support/database_fixture.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class CompactionStyleTest : public DatabaseFixture {
 protected:
  static DatabaseOptions Small(DatabaseOptions options) {
    options.memory_budget = MemoryBudget::kMinimum;
    options.memtable_size = 64 << 10;
    options.log_segment_size = 64 << 10;
    options.target_file_size = 1 << 20;
    return options;
  }
  // A table "t" whose family "f" is in a group of this style.
  void OpenWith(CompactionStyle style, int factor = 0, const GcRule& rule = {}) {
    Open(Small(Options()));
    TableSchema schema;
    schema.locality_groups["default"] = {.compaction = style, .compaction_factor = factor};
    schema.families["f"] = {.gc = rule};
    table_ = CreateTable("t", schema);
  }
  void ReopenSmall() {
    Reopen(Small(Options()));
    table_ = OpenTable("t");
  }
  DatabaseStatistics Statistics() { return database_->Statistics(); }
  LocalityGroupStatistics Group() { return Statistics().tables.at("t").at("default"); }

  void SetRow(const std::string& row, const std::string& value) {
    ASSERT_OK(table_->Apply(RowMutation(row).Set("f:q", Timestamp(1), value)));
    rows_[row] = value;
  }
  void DeleteRow(const std::string& row) {
    ASSERT_OK(table_->Apply(RowMutation(row).DeleteRow()));
    rows_.erase(row);
  }
  // Flushes a few bytes at both ends of the table: a run that overlaps all others.
  void WriteRun(int n) {
    SetRow("a", absl::StrCat(n));
    SetRow("z", absl::StrCat(n));
    ASSERT_OK(database_->Flush("t"));
  }
  // Writes some kilobytes more. Whenever the memtable is nearly full, flushes it and waits for the
  // compactions that are due.
  void SetLargeRow(int i, const std::string& row, Random& random) {
    SetRow(row, random.Bytes(4000));
    if (i % 14 == 13) {
      ASSERT_OK(database_->Flush("t"));
      ASSERT_OK(database_->WaitUntilQuiet());
    }
  }
  // Checks that a read returns rows_.
  void CheckRows() {
    std::map<std::string, std::string> found;
    RowReader reader = table_->ReadRows(RowRange::All());
    for (const Row& row : reader) {
      ASSERT_EQ(row.cells().size(), 1u);
      found.emplace(row.key(), row.cells()[0].value);
    }
    ASSERT_OK(reader.status());
    ASSERT_TRUE(found == rows_) << found.size() << " rows, and not " << rows_.size();
  }

  Table* table_ = nullptr;
  std::map<std::string, std::string> rows_;
};

class AnyCompactionStyleTest : public CompactionStyleTest,
                               public testing::WithParamInterface<std::pair<CompactionStyle, int>> {
};

TEST_P(AnyCompactionStyleTest, ReadsAreRightAfterWritesOverwritesAndDeletions) {
  OpenWith(GetParam().first, GetParam().second);
  Random random(1);
  for (int i = 0; i < 1500; ++i) {
    const std::string row = absl::StrCat("row", random.Below(400));
    if (random.OneIn(5)) {
      DeleteRow(row);
    } else {
      SetRow(row, absl::StrCat(i, random.Bytes(random.Below(2000))));
    }
    if (i % 40 == 0) {
      ASSERT_OK(database_->Flush("t"));
    }
    if (i % 300 == 0) {
      ASSERT_OK(database_->WaitUntilQuiet());
      ASSERT_NO_FATAL_FAILURE(CheckRows());
    }
  }
  ASSERT_OK(database_->WaitUntilQuiet());
  ASSERT_NO_FATAL_FAILURE(CheckRows());
  ReopenSmall();
  ASSERT_NO_FATAL_FAILURE(CheckRows());
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Group().sorted_runs, 1u);
  EXPECT_EQ(Group().entries, rows_.size());
  ASSERT_NO_FATAL_FAILURE(CheckRows());
}

INSTANTIATE_TEST_SUITE_P(Styles, AnyCompactionStyleTest,
                         testing::Values(std::pair(CompactionStyle::kSizeTiered, 0),
                                         std::pair(CompactionStyle::kSizeTiered, 2),
                                         std::pair(CompactionStyle::kLeveled, 0),
                                         std::pair(CompactionStyle::kLeveled, 2),
                                         std::pair(CompactionStyle::kFifo, 0),
                                         std::pair(CompactionStyle::kNone, 0)));

// One run with the rows 0 to 299, of a kilobyte each. The rows written next are a second run, so
// there are never enough runs to merge because of their number.
class SpaceTest : public CompactionStyleTest {
 protected:
  static constexpr int kRows = 300;

  static std::string RowName(int i) { return absl::StrCat("row", 1000 + i); }
  void WriteOneLargeRun(const GcRule& rule = {}) {
    OpenWith(CompactionStyle::kSizeTiered, 0, rule);
    for (int i = 0; i < kRows; ++i) SetRow(RowName(i), random_.Bytes(1000));
    ASSERT_OK(database_->Compact("t"));
    ASSERT_OK(database_->WaitUntilQuiet());
    ASSERT_EQ(Group().sorted_runs, 1u);
    before_ = Group();
    merges_before_ = Statistics().merging_compactions;
  }
  void FlushAndWait() {
    ASSERT_OK(database_->Flush("t"));
    ASSERT_OK(database_->WaitUntilQuiet());
  }
  uint64_t Merges() { return Statistics().merging_compactions - merges_before_; }
  // The size of the table's files, independent of the statistics.
  uint64_t BytesOnDisk() {
    uint64_t bytes = 0;
    for (const std::string& path : file_system_->AllFiles()) {
      if (path.ends_with(".sst")) bytes += file_system_->Contents(path).size();
    }
    return bytes;
  }

  Random random_{1};
  LocalityGroupStatistics before_;
  uint64_t merges_before_ = 0;
};

TEST_F(SpaceTest, SizeTieredReclaimsTheSpaceOfDeletedRows) {
  ASSERT_NO_FATAL_FAILURE(WriteOneLargeRun());
  const uint64_t on_disk = BytesOnDisk();
  for (int i = 0; i < kRows; ++i) {
    if (i % 5 != 0) DeleteRow(RowName(i));
  }
  ASSERT_NO_FATAL_FAILURE(FlushAndWait());
  EXPECT_EQ(Merges(), 1u);
  EXPECT_EQ(Group().sorted_runs, 1u);
  EXPECT_EQ(Group().entries, rows_.size());
  EXPECT_EQ(Group().deletions, 0u);
  EXPECT_LT(Group().file_bytes, before_.file_bytes * 3 / 10);
  EXPECT_LT(BytesOnDisk(), on_disk / 2);
  ASSERT_NO_FATAL_FAILURE(CheckRows());
  ReopenSmall();
  ASSERT_NO_FATAL_FAILURE(CheckRows());
}

TEST_F(SpaceTest, SizeTieredIgnoresAFewDeletions) {
  ASSERT_NO_FATAL_FAILURE(WriteOneLargeRun());
  for (int i = 0; i < kRows; i += 5) DeleteRow(RowName(i));
  ASSERT_NO_FATAL_FAILURE(FlushAndWait());
  EXPECT_EQ(Merges(), 0u);
  EXPECT_EQ(Group().sorted_runs, 2u);
  EXPECT_EQ(Group().deletions, uint64_t{kRows / 5});
  ASSERT_NO_FATAL_FAILURE(CheckRows());
}

TEST_F(SpaceTest, SizeTieredReclaimsTheSpaceOfDeletedColumnsAndCells) {
  ASSERT_NO_FATAL_FAILURE(WriteOneLargeRun());
  for (int i = 0; i < kRows; ++i) {
    if (i % 5 == 0) continue;
    RowMutation mutation(RowName(i));
    if (i % 2 == 0) {
      mutation.Delete("f:q");
    } else {
      mutation.DeleteCell("f:q", Timestamp(1));
    }
    ASSERT_OK(table_->Apply(mutation));
    rows_.erase(RowName(i));
  }
  ASSERT_NO_FATAL_FAILURE(FlushAndWait());
  EXPECT_EQ(Merges(), 1u);
  EXPECT_EQ(Group().sorted_runs, 1u);
  EXPECT_LT(Group().file_bytes, before_.file_bytes * 3 / 10);
  ASSERT_NO_FATAL_FAILURE(CheckRows());
}

// In the end each row has one version; before that there are two.
TEST_F(SpaceTest, SizeTieredReclaimsTheSpaceOfOverwrittenCells) {
  ASSERT_NO_FATAL_FAILURE(WriteOneLargeRun());
  for (int i = 0; i < kRows; ++i) {
    if (i % 10 != 0) SetRow(RowName(i), absl::StrCat("short", i));
  }
  ASSERT_NO_FATAL_FAILURE(FlushAndWait());
  EXPECT_EQ(Merges(), 1u);
  EXPECT_EQ(Group().sorted_runs, 1u);
  EXPECT_EQ(Group().entries, uint64_t{kRows});
  EXPECT_LT(Group().file_bytes, before_.file_bytes * 2 / 10);
  ASSERT_NO_FATAL_FAILURE(CheckRows());
}

TEST_F(SpaceTest, SizeTieredDoesNotTakeNewRowsForOverwrittenOnes) {
  ASSERT_NO_FATAL_FAILURE(WriteOneLargeRun());
  for (int i = 0; i < 20; ++i) SetRow(RowName(i) + "new", random_.Bytes(1000));
  ASSERT_NO_FATAL_FAILURE(FlushAndWait());
  EXPECT_EQ(Merges(), 0u);
  EXPECT_EQ(Group().sorted_runs, 2u);
  ASSERT_NO_FATAL_FAILURE(CheckRows());
}

// The cells of one day, a few of which are rewritten at the end, so that no file expires as a
// whole.
TEST_F(SpaceTest, SizeTieredReclaimsTheSpaceOfExpiredCells) {
  OpenWith(CompactionStyle::kSizeTiered, 0, GcRule::MaxAge(absl::Hours(24)));
  const auto set = [&](const std::string& row, size_t bytes) {
    ASSERT_OK(table_->Apply(RowMutation(row).Set("f:q", random_.Bytes(bytes))));  // now
  };
  for (int i = 0; i < 240; ++i) {
    set(RowName(i), 1000);
    clock_.Advance(absl::Minutes(6));
  }
  ASSERT_OK(database_->Compact("t"));
  ASSERT_EQ(Group().sorted_runs, 1u);
  set(RowName(0) + "late", 100);
  set(RowName(239) + "late", 100);
  ASSERT_NO_FATAL_FAILURE(FlushAndWait());
  ASSERT_EQ(Group().sorted_runs, 2u);
  const uint64_t before = Group().file_bytes;
  const uint64_t merges = Statistics().merging_compactions;

  clock_.Advance(absl::Hours(6));  // a quarter has expired: not worth a merge
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Statistics().merging_compactions, merges);
  EXPECT_EQ(Group().file_bytes, before);

  clock_.Advance(absl::Hours(12));
  const std::string rows = ShowKeys(table_->ReadRows(RowRange::All()));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Statistics().merging_compactions, merges + 1);
  EXPECT_EQ(Group().sorted_runs, 1u);
  EXPECT_LT(Group().file_bytes, before * 3 / 10);
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All())), rows);
}

// Twelve megabytes across the whole table, so that the deeper level has several files.
TEST_F(CompactionStyleTest, LeveledMakesLevelsAndPushesFilesDown) {
  OpenWith(CompactionStyle::kLeveled, 3);
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_NO_FATAL_FAILURE(SetLargeRow(i, absl::StrCat(random.Below(1'000'000'000)), random));
  }
  EXPECT_GE(Group().sorted_runs, 2u);
  EXPECT_LE(Group().sorted_runs, 8u);
  EXPECT_GT(Group().files, Group().sorted_runs);
  const DatabaseStatistics statistics = Statistics();
  const double rewrites = static_cast<double>(statistics.merging_compaction_bytes_written) /
                          static_cast<double>(statistics.minor_compaction_bytes_written);
  EXPECT_GT(rewrites, 2);
  EXPECT_LT(rewrites, 12);
  ASSERT_NO_FATAL_FAILURE(CheckRows());
}

// Two ascending sequences: each run overlaps the run before it, but only with its first files.
TEST_F(CompactionStyleTest, LeveledMovesFilesThatShareNoRow) {
  const ScopedShortcutsOn shortcuts;
  OpenWith(CompactionStyle::kLeveled, 2);
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_NO_FATAL_FAILURE(
        SetLargeRow(i, absl::StrCat(i % 14 == 0 ? "a" : "z", 10000 + i), random));
  }
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_GT(Statistics().compaction_bytes_moved, 0u);
  ASSERT_NO_FATAL_FAILURE(CheckRows());
  const LocalityGroupStatistics before = Group();
  ReopenSmall();
  EXPECT_EQ(Group().sorted_runs, before.sorted_runs);
  EXPECT_EQ(Group().files, before.files);
  ASSERT_NO_FATAL_FAILURE(CheckRows());
}

TEST_F(CompactionStyleTest, FifoDropsExpiredFilesWithoutChangingReads) {
  OpenWith(CompactionStyle::kFifo, 0, GcRule::MaxAge(absl::Hours(10)));
  const auto show = [&] { return ShowKeys(table_->ReadRows(RowRange::All())); };
  for (int hour = 0; hour < 20; ++hour) {
    clock_.Advance(absl::Hours(1));
    // With the server's time.
    ASSERT_OK(table_->Apply(RowMutation(absl::StrCat("a", hour)).Set("f:q", "v")));
    ASSERT_OK(table_->Apply(RowMutation(absl::StrCat("z", hour)).Set("f:q", "v")));
    ASSERT_OK(database_->Flush("t"));
    ASSERT_OK(database_->WaitUntilQuiet());
    // Exactly ten hours old is not too old.
    ASSERT_EQ(Group().files, std::min<uint64_t>(11, static_cast<uint64_t>(hour) + 1));
  }
  EXPECT_EQ(Statistics().merging_compaction_bytes_written, 0u);
  EXPECT_GT(Statistics().compaction_bytes_dropped, 0u);

  // First expired and still present, then dropped.
  database_->PauseCompactions();
  clock_.Advance(absl::Hours(6));
  const std::string before = show();
  EXPECT_EQ(before, "a15 a16 a17 a18 a19 z15 z16 z17 z18 z19");
  EXPECT_EQ(Group().files, 11u);
  database_->ContinueCompactions();
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Group().files, 5u);
  EXPECT_EQ(show(), before);
  ReopenSmall();
  EXPECT_EQ(Group().files, 5u);
  EXPECT_EQ(show(), before);
}

TEST_F(CompactionStyleTest, WorkThatOnlyTimeMakesDueIsDoneSoon) {
  OpenWith(CompactionStyle::kFifo, 0, GcRule::MaxAge(absl::Hours(10)));
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", "v")));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  absl::SleepFor(absl::Milliseconds(50));  // until the threads have found no work
  clock_.Advance(absl::Hours(11));         // and there is no write
  EXPECT_OK(database_->WaitUntilQuiet({.deadline = absl::Now() + absl::Seconds(5)}));
  EXPECT_EQ(Group().files, 0u);
}

TEST_F(CompactionStyleTest, FifoKeepsDeletionsAsLongAsTheyHideCells) {
  OpenWith(CompactionStyle::kFifo, 0, GcRule::MaxAge(absl::Hours(10)));
  const int64_t later = absl::ToUnixMicros(clock_.Now() + absl::Hours(100));
  Set(table_, "r", "f:q", later, "deleted");  // written first, and expires last
  Set(table_, "r2", "f:q", later, "kept");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(table_->Apply(RowMutation("r").DeleteRow()));
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:other", "v")));
  ASSERT_OK(table_->Apply(RowMutation("r3").Set("f:q", "v")));
  ASSERT_OK(database_->Flush("t"));
  clock_.Advance(absl::Hours(11));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(ShowKeys(table_->ReadRows(RowRange::All())), "r2");
  EXPECT_EQ(Group().files, 2u);
  clock_.Advance(absl::Hours(100));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Group().files, 0u);
}

TEST_F(CompactionStyleTest, NoneMergesNothingAndSlowsNoWriter) {
  OpenWith(CompactionStyle::kNone);
  for (int i = 0; i < 60; ++i) ASSERT_NO_FATAL_FAILURE(WriteRun(i));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Group().sorted_runs, 60u);
  EXPECT_EQ(Statistics().merging_compactions, 0u);
  EXPECT_EQ(Statistics().stall_reason, StallReason::kNone);
  EXPECT_EQ(Statistics().total_write_delay, absl::ZeroDuration());
  ASSERT_NO_FATAL_FAILURE(CheckRows());
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Group().sorted_runs, 1u);
  EXPECT_EQ(Statistics().major_compactions, 1u);
  ASSERT_NO_FATAL_FAILURE(CheckRows());
}

TEST_F(CompactionStyleTest, AChangedStyleTakesEffect) {
  OpenWith(CompactionStyle::kNone);
  for (int i = 0; i < 12; ++i) ASSERT_NO_FATAL_FAILURE(WriteRun(i));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Group().sorted_runs, 12u);
  ASSERT_OK(database_->SetLocalityGroup("t", "default", {.compaction = CompactionStyle::kLeveled}));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Group().sorted_runs, 1u);
  ASSERT_NO_FATAL_FAILURE(CheckRows());
  ReopenSmall();
  ASSERT_OK_AND_ASSIGN(const TableSchema schema, database_->GetSchema("t"));
  EXPECT_EQ(schema.locality_groups.at("default").compaction, CompactionStyle::kLeveled);
}

TEST_F(CompactionStyleTest, AFactorMustBeFrom2To100OrZero) {
  Open();
  for (const int factor : {-1, 1, 101}) {
    TableSchema schema;
    schema.locality_groups["default"].compaction_factor = factor;
    EXPECT_STATUS(kInvalidArgument, "compaction_factor", database_->CreateTable("t", schema));
  }
}

}  // namespace
}  // namespace bigtable
