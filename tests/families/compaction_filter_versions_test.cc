// Compaction filters beside MaxVersions: what a removed cell has pushed out stays invisible,
// wherever it is when the cell is removed.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "compaction/policies.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

constexpr const char* kDropping = "test-dropping";
constexpr const char* kOldestTwo = "test-oldest-two";

// Removes values that begin with "drop".
class DroppingFilter final : public CompactionFilter {
 public:
  Decision Filter(const CompactedCell& cell, std::string*) const override {
    return cell.value.starts_with("drop") ? Decision::kRemove : Decision::kKeep;
  }
};

// Merges the two oldest runs, which is a major compaction, as long as there are more than `keep`.
class OldestTwoPolicy final : public CompactionPolicy {
 public:
  static inline std::atomic<size_t> keep = 1;

  std::optional<CompactionPick> Pick(const GroupSummary& group) override {
    if (group.runs.size() <= keep || group.runs.size() < 2) return std::nullopt;
    return CompactionPick{.first = group.runs.size() - 2, .count = 2};
  }
};

const absl::Status registered_dropping =
    RegisterCompactionFilter(kDropping, std::make_unique<DroppingFilter>());

class CompactionFilterVersionsTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    ASSERT_OK(registered_dropping);
    ASSERT_OK(RegisterCompactionPolicy(
        kOldestTwo, [](const LocalityGroup&) { return std::make_unique<OldestTwoPolicy>(); }));
    OldestTwoPolicy::keep = 1;
    Open();
  }
  void TearDown() override { ForgetPolicy(kOldestTwo); }
  void MakeTable(int64_t versions) {
    TableSchema schema;
    schema.locality_groups["default"] = {.compaction_policy = kOldestTwo};
    schema.families["f"] = {.gc = GcRule::MaxVersions(versions), .compaction_filter = kDropping};
    table_ = CreateTable("t", schema);
    database_->PauseCompactions();
  }
  void Flush() { ASSERT_OK(database_->Flush("t")); }
  // Runs compactions, without a flush, until the policy picks nothing more.
  void CompactRuns() {
    database_->ContinueCompactions();
    ASSERT_OK(database_->WaitUntilQuiet());
    database_->PauseCompactions();
  }
  std::string Get() { return Show(table_->ReadRow("r")); }
  int64_t Files() { return database_->Statistics().tables.at("t").at("default").files; }

  Table* table_ = nullptr;
};

TEST_F(CompactionFilterVersionsTest, AVersionInMemoryThatTheRemovedCellHasPushedOutStaysAway) {
  MakeTable(1);
  Set(table_, "r", "f:a", 10, "drop");
  Flush();
  Set(table_, "r", "f:b", 1, "kept");
  Flush();
  Set(table_, "r", "f:a", 5, "older");
  EXPECT_EQ(Get(), "f:a@10=drop f:b@1=kept");

  CompactRuns();
  EXPECT_EQ(Get(), "f:b@1=kept");
  CompactRuns();
  Flush();
  CompactRuns();
  EXPECT_EQ(Get(), "f:b@1=kept");
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK(database_->Compact("t"));
    EXPECT_EQ(Get(), "f:b@1=kept");
  }
}

TEST_F(CompactionFilterVersionsTest, AVersionInANewerRunThatTheRemovedCellHasPushedOutStaysAway) {
  MakeTable(1);
  OldestTwoPolicy::keep = 2;
  Set(table_, "r", "f:a", 10, "drop");
  Flush();
  Set(table_, "r", "f:b", 1, "kept");
  Flush();
  Set(table_, "r", "f:a", 5, "older");
  Flush();
  CompactRuns();
  EXPECT_EQ(Get(), "f:b@1=kept");
  // Its key is dropped with the last of what it counts against, not before.
  Set(table_, "r", "f:a", 10, "new");
  EXPECT_EQ(Get(), "f:a@10=new f:b@1=kept");
  ASSERT_OK(table_->Apply(RowMutation("r").DeleteRow()));
  ASSERT_OK(database_->Compact("t"));
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Files(), 0);
}

TEST_F(CompactionFilterVersionsTest, SeveralVersionsCountAndAreNotUncovered) {
  MakeTable(2);
  Set(table_, "r", "f:a", 10, "drop");
  Set(table_, "r", "f:a", 9, "drop");
  Flush();
  Set(table_, "r", "f:b", 1, "kept");
  Flush();
  Set(table_, "r", "f:a", 5, "older");
  CompactRuns();
  EXPECT_EQ(Get(), "f:b@1=kept");
  Set(table_, "r", "f:a", 11, "newer");
  EXPECT_EQ(Get(), "f:a@11=newer f:b@1=kept");
}

// Whatever is written in whatever order of timestamps: a compaction shows no cell that was not
// there before it.
TEST_F(CompactionFilterVersionsTest, NoCompactionShowsACellThatWasInvisible) {
  ForEachSeed(kSlow ? 5 : 40, [&](uint64_t seed) {
    Random random(seed);
    OldestTwoPolicy::keep = 1 + random.Below(2);
    MakeTable(random.Between(1, 3));
    const auto cells = [&] {
      std::set<std::string> found;
      for (const Row& row : table_->ReadRows(RowSet(RowRange::All()))) {
        for (const Cell& cell : row.cells()) {
          if (cell.value.starts_with("drop")) continue;
          found.insert(Cat(row.key(), " ", cell.qualifier, "@", cell.timestamp.micros()));
        }
      }
      return found;
    };
    for (int step = 0; step < 60; ++step) {
      RowMutation mutation("r");
      const std::string column = random.OneIn(2) ? "f:a" : "f:b";
      switch (random.Below(8)) {
        case 0:
          mutation.DeleteCell(column, Timestamp(random.Between(0, 5)));
          break;
        case 1:
        case 2:
          Flush();
          continue;
        case 3: {
          const std::set<std::string> before = cells();
          if (random.OneIn(4)) {
            ASSERT_OK(database_->Compact("t"));
          } else {
            CompactRuns();
          }
          EXPECT_EQ(cells(), before) << "step " << step;
          continue;
        }
        default:
          mutation.Set(column, Timestamp(random.Between(0, 5)),
                       absl::StrCat(random.OneIn(2) ? "drop" : "keep", step));
      }
      ASSERT_OK(table_->Apply(mutation));
    }
    database_->ContinueCompactions();
    ASSERT_OK(database_->DeleteTable("t"));
  });
}

}  // namespace
}  // namespace bigtable
