// Changes of rules. What a rule has collected stays gone, whatever was flushed or compacted before
// and after the change. Cells written after the change are judged by the new rule alone.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

constexpr absl::Duration kHour = absl::Hours(1);

// What may happen to the tablet's files at some point, without changing a read.
enum class MaintenanceStep { kNothing, kFlush, kCompact, kReopen, kKill };

class RuleChangeTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    clock_.Set(absl::ToInt64Microseconds(10 * kHour));
    Open();
  }
  void Create(const GcRule& rule) {
    TableSchema schema;
    schema.families["f"].gc = rule;
    table_ = CreateTable("t", schema);
  }
  void Update(const GcRule& rule) { ASSERT_OK(database_->UpdateFamily("t", "f", {.gc = rule})); }
  void Set(int64_t timestamp, std::string_view value) {
    DatabaseFixture::Set(table_, "r", "f:q", timestamp, value);
  }
  void Delete(int64_t timestamp) {
    ASSERT_OK(table_->Apply(RowMutation("r").DeleteCell("f:q", Timestamp(timestamp))));
  }
  std::string Read() { return Show(table_->ReadRow("r")); }
  void Do(MaintenanceStep upkeep) {
    switch (upkeep) {
      case MaintenanceStep::kNothing:
        return;
      case MaintenanceStep::kFlush:
        ASSERT_OK(database_->Flush("t"));
        return;
      case MaintenanceStep::kCompact:
        ASSERT_OK(database_->Compact("t"));
        return;
      case MaintenanceStep::kReopen:
        Reopen();
        break;
      case MaintenanceStep::kKill:
        Kill();
        Open();
        break;
    }
    table_ = OpenTable("t");
  }
  // Calls `play` with every pair of upkeep operations at two points.
  void WithAnyMaintenance(const std::function<void(MaintenanceStep, MaintenanceStep)>& play) {
    constexpr MaintenanceStep kAll[] = {MaintenanceStep::kNothing, MaintenanceStep::kFlush,
                                        MaintenanceStep::kCompact, MaintenanceStep::kReopen,
                                        MaintenanceStep::kKill};
    for (const MaintenanceStep first : kAll) {
      for (const MaintenanceStep second : kAll) {
        SCOPED_TRACE(absl::StrCat("upkeep ", static_cast<int>(first), " and then ",
                                  static_cast<int>(second)));
        play(first, second);
        if (HasFailure()) return;
        ASSERT_OK(database_->DeleteTable("t"));
      }
    }
  }

  Table* table_ = nullptr;
};

TEST_F(RuleChangeTest, ADeletedCellStaysDeletedWhenItsDeletionHasExpired) {
  const int64_t then = clock_.micros();
  WithAnyMaintenance([&](MaintenanceStep first, MaintenanceStep second) {
    clock_.Set(then);
    Create(GcRule::MaxAge(kHour));
    Set(then, "deleted");
    ASSERT_OK(database_->Flush("t"));
    clock_.Advance(2 * kHour);
    Delete(then);
    Do(first);
    Update(GcRule::MaxAge(1000 * kHour));
    EXPECT_EQ(Read(), "");
    Do(second);
    EXPECT_EQ(Read(), "");
    // Cells written after the change are judged by the new rule alone.
    Set(then, "new");
    Do(first);
    EXPECT_EQ(Read(), absl::StrCat("f:q@", then, "=new"));
  });
}

TEST_F(RuleChangeTest, AnOverwrittenValueDoesNotComeBackWhenMoreVersionsAreKept) {
  WithAnyMaintenance([&](MaintenanceStep first, MaintenanceStep second) {
    Create(GcRule::MaxVersions(1));
    Set(1, "overwritten");
    ASSERT_OK(database_->Flush("t"));
    Set(1, "hidden");
    Set(2, "here");
    Do(first);
    Update(GcRule::MaxVersions(2));
    EXPECT_EQ(Read(), "f:q@2=here");
    Do(second);
    EXPECT_EQ(Read(), "f:q@2=here");
    Set(3, "new");
    Do(first);
    EXPECT_EQ(Read(), "f:q@3=new f:q@2=here");
    Set(4, "newer");
    Do(second);
    EXPECT_EQ(Read(), "f:q@4=newer f:q@3=new");
  });
}

TEST_F(RuleChangeTest, NoGapIsLeftWhenAFlushDropsAVersionAndAnOlderRunHasMore) {
  WithAnyMaintenance([&](MaintenanceStep first, MaintenanceStep second) {
    Create(GcRule::MaxVersions(1));
    Set(1, "one");
    ASSERT_OK(database_->Flush("t"));
    Set(2, "two");
    Set(3, "three");
    Do(first);
    Update({});
    Do(second);
    EXPECT_EQ(Read(), "f:q@3=three");
    Set(1, "again");
    EXPECT_EQ(Read(), "f:q@3=three f:q@1=again");
  });
}

TEST_F(RuleChangeTest, CellsDeletedBeforeTheRuleAreNotCounted) {
  WithAnyMaintenance([&](MaintenanceStep first, MaintenanceStep second) {
    Create({});
    Set(1, "one");
    Set(2, "two");
    Delete(2);
    Do(first);
    Update(GcRule::MaxVersions(1));
    EXPECT_EQ(Read(), "f:q@1=one");
    Do(second);
    EXPECT_EQ(Read(), "f:q@1=one");
    Set(3, "three");
    Delete(3);
    Do(first);
    EXPECT_EQ(Read(), "");
  });
}

TEST_F(RuleChangeTest, ATightenedRuleCountsTheCellsThatExistAtTheChange) {
  WithAnyMaintenance([&](MaintenanceStep first, MaintenanceStep second) {
    Create(GcRule::MaxVersions(3));
    Set(10, "ten");
    for (const int64_t killer : {20, 21}) {
      Set(killer, "deleted");
      Delete(killer);
    }
    Set(5, "five");  // two cells count against 10, which the next cell removes; 10 counts against 5
    Set(30, "thirty");
    Do(first);
    EXPECT_EQ(Read(), "f:q@30=thirty f:q@5=five");
    Update(GcRule::MaxVersions(2));
    EXPECT_EQ(Read(), "f:q@30=thirty f:q@5=five");
    Do(second);
    EXPECT_EQ(Read(), "f:q@30=thirty f:q@5=five");
    Set(6, "six");
    EXPECT_EQ(Read(), "f:q@30=thirty f:q@6=six");
  });
}

TEST_F(RuleChangeTest, AnEarlierSnapshotSeesItsCellsIfTheNewRuleKeepsThem) {
  Create(GcRule::MaxVersions(2));
  for (const int64_t i : {1, 2, 3}) Set(i, "v");
  ASSERT_OK_AND_ASSIGN(std::shared_ptr<const Snapshot> snapshot, database_->TakeSnapshot());
  const auto read = [&] { return Show(table_->ReadRow("r", {}, {.snapshot = snapshot})); };
  Set(4, "v");
  Update(GcRule::MaxVersions(3));
  EXPECT_EQ(read(), "f:q@3=v f:q@2=v");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(read(), "f:q@3=v f:q@2=v");
  EXPECT_EQ(Read(), "f:q@4=v f:q@3=v");
  Update(GcRule::MaxVersions(1));
  EXPECT_EQ(read(), "f:q@3=v");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(read(), "f:q@3=v");
  EXPECT_EQ(Read(), "f:q@4=v");
}

// The change takes effect when the call returns, even if nothing was written after it.
TEST_F(RuleChangeTest, ACompactionAfterATightenedRuleReclaimsTheSpaceAtOnce) {
  Create({});
  for (int64_t i = 1; i <= 10; ++i) Set(i, "v");
  Update(GcRule::MaxVersions(2));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(database_->Statistics().tables["t"]["default"].entries, 2u);
  Update(GcRule::MaxVersions(1));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(database_->Statistics().tables["t"]["default"].entries, 1u);
}

// No log has the sequence number of the change. An opening must read it from the schema.
TEST_F(RuleChangeTest, WritesAfterAnOpeningComeAfterTheChange) {
  Create(GcRule::MaxAge(kHour));
  for (int i = 0; i < 20; ++i) {
    Update(GcRule::MaxAge(kHour));
    Update({});
  }
  Kill();
  Open();
  table_ = OpenTable("t");
  Set(1, "old");
  EXPECT_EQ(Read(), "f:q@1=old");
}

TEST_F(RuleChangeTest, MovedAndSplitTabletsKeepPastRules) {
  DatabaseOptions options = Options();
  options.tablet_servers = 2;
  Reopen(options);
  Create(GcRule::MaxVersions(1));
  Set(1, "hidden");
  Set(2, "here");
  Update(GcRule::MaxVersions(5));
  for (const int server : {1, 0}) {
    ASSERT_OK(database_->MoveTablet("t", "r", server));
    EXPECT_EQ(Read(), "f:q@2=here");
  }
  ASSERT_OK(database_->SplitTablet("t", "b"));
  EXPECT_EQ(Read(), "f:q@2=here");
  ASSERT_OK(database_->MergeTablets("t", "b"));
  EXPECT_EQ(Read(), "f:q@2=here");
}

// --- Compactions that run during the change ---

class RuleChangeUnderWayTest : public RuleChangeTest {
 protected:
  void SetUp() override {
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    DatabaseOptions options = Options();
    options.file_system = faulty_.get();
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  }
  void TearDown() override { database_.reset(); }

  std::unique_ptr<FaultyFileSystem> faulty_;
};

TEST_F(RuleChangeUnderWayTest, ACompactionWithTheOldRuleDoesNotAffectLaterCells) {
  Create(GcRule::MaxVersions(1));
  Set(1, "hidden");
  Set(2, "here");
  ASSERT_OK(database_->Flush("t"));
  faulty_->StallCalls({{FileCall::kNewWritableFile}, ".sst"});
  std::thread compaction([&] { EXPECT_OK(database_->Compact("t")); });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  Update(GcRule::MaxVersions(3));
  for (const int64_t i : {3, 4}) Set(i, "new");
  EXPECT_EQ(Read(), "f:q@4=new f:q@3=new f:q@2=here");
  faulty_->ReleaseCalls();
  compaction.join();
  EXPECT_EQ(Read(), "f:q@4=new f:q@3=new f:q@2=here");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Read(), "f:q@4=new f:q@3=new f:q@2=here");
}

// A flush of several locality groups that began before the change also uses the time of its
// beginning. At a later time the old rule would collect cells that the new rule keeps.
TEST_F(RuleChangeUnderWayTest, AFlushWithTheOldRuleUsesATimeBeforeTheChange) {
  TableSchema schema;
  for (const char* family : {"f", "g"}) {
    schema.locality_groups[family] = {};
    schema.families[family] = {.locality_group = family, .gc = GcRule::MaxAge(kHour)};
  }
  table_ = CreateTable("t", schema);
  for (const char* column : {"f:q", "g:q"}) DatabaseFixture::Set(table_, "r", column, 1, "v");
  faulty_->StallCalls({{FileCall::kNewWritableFile}, ".sst"});
  std::thread flush([&] { EXPECT_OK(database_->Flush("t")); });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  for (const char* family : {"f", "g"}) {
    ASSERT_OK(database_->UpdateFamily("t", family, {.gc = GcRule()}));
  }
  clock_.Advance(2 * kHour);
  faulty_->ReleaseCalls();
  flush.join();
  EXPECT_EQ(Read(), "f:q@1=v g:q@1=v");
}

// The same for a compaction: the rule may change whenever the compaction reads the clock.
TEST_F(RuleChangeTest, ACompactionReadsTheClockBeforeItsRule) {
  class ClockWithEvent final : public Clock {
   public:
    explicit ClockWithEvent(Clock* clock) : clock_(clock) {}
    absl::Time Now() override {
      if (is_armed.exchange(false)) event();
      return clock_->Now();
    }
    std::function<void()> event;
    std::atomic<bool> is_armed{false};

   private:
    Clock* const clock_;
  };
  ClockWithEvent clock(&clock_);
  DatabaseOptions options = Options();
  options.clock = &clock;
  Reopen(options);
  Create(GcRule::MaxAge(kHour));
  Set(clock_.micros(), "v");
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  clock.event = [&] {
    Update({});
    clock_.Advance(2 * kHour);
  };
  clock.is_armed = true;
  ASSERT_OK(database_->Compact("t"));
  EXPECT_FALSE(clock.is_armed);
  EXPECT_EQ(Read(), "f:q@36000000000=v");
  database_.reset();  // before its clock
}

// Cells that are written while the schema is being written come after the change, and their tablets
// do not know it yet. (Calls by the table's name wait for the schema. So enough is written for two
// flushes, of which the second begins when the first is done.)
TEST_F(RuleChangeUnderWayTest, CellsFlushedDuringTheSchemaWriteAreNotCollectedByTheOldRule) {
  Create(GcRule::MaxVersions(1));
  Set(1, "hidden");
  Set(2, "here");
  faulty_->CountCalls({{FileCall::kNewWritableFile}, ".sst"});
  faulty_->StallCalls({{FileCall::kSyncDirectory}, "/schema"});
  std::thread update([&] { Update(GcRule::MaxVersions(3)); });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  for (const int64_t i : {3, 4}) Set(i, "new");
  EXPECT_EQ(Read(), "f:q@4=new");  // the old rule, until the call returns
  const std::string value(1 << 20, 'v');
  for (int i = 0; faulty_->calls() < 2 && i < 1000; ++i) {
    DatabaseFixture::Set(table_, absl::StrCat("other", i), "f:q", 1, value);
  }
  EXPECT_GE(faulty_->calls(), 2u);
  EXPECT_EQ(Read(), "f:q@4=new");
  faulty_->ReleaseCalls();
  update.join();
  EXPECT_EQ(Read(), "f:q@4=new f:q@3=new f:q@2=here");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Read(), "f:q@4=new f:q@3=new f:q@2=here");
}

// The rule in the file is unknown, so neither rule collects anything.
TEST_F(RuleChangeUnderWayTest, NothingIsCollectedWhileTheSchemaIsInDoubt) {
  Create(GcRule::MaxVersions(1));
  Set(1, "one");
  ASSERT_OK(database_->Flush("t"));
  faulty_->FailCalls({{FileCall::kSyncDirectory}, "/schema"}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", database_->UpdateFamily("t", "f", {.gc = GcRule()}));
  EXPECT_EQ(Read(), "f:q@1=one");
  faulty_->ClearFaults();
  ASSERT_OK(database_->Resume());
  // The old rule is in force, as it was before.
  Set(2, "two");
  EXPECT_EQ(Read(), "f:q@2=two");
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(database_->Statistics().tables["t"]["default"].entries, 1u);
}

}  // namespace
}  // namespace bigtable
