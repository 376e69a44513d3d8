// Deletions of many adjacent rows are merged with what they hide, and with little else, so that
// reads do not pass them for long.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/entry_key.h"
#include "compaction/policies.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// The oldest run has ten files of 10,000 rows each, and there is a newer one of deletions.
class DenseDeletionsPickTest : public testing::Test {
 protected:
  DenseDeletionsPickTest() {
    group_.runs.resize(2);
    for (uint64_t i = 0; i < 10; ++i) {
      group_.runs[1].files.push_back(File(10 + i, i * 10000, i * 10000 + 9999));
      group_.runs[1].bytes += group_.runs[1].files.back().bytes;
    }
  }
  // All of the rows [first, last].
  FileSummary File(uint64_t number, uint64_t first, uint64_t last) {
    const uint64_t rows = last - first + 1;
    return {.number = number,
            .bytes = 100 * rows,
            .entries = rows,
            .smallest_key = KeyOf(first),
            .largest_key = KeyOf(last)};
  }
  FileSummary Deletions(uint64_t number, uint64_t first, uint64_t last) {
    FileSummary file = File(number, first, last);
    file.deletions = file.entries;
    return file;
  }
  void AddNewest(const FileSummary& file) {
    group_.runs[0].files = {file};
    group_.runs[0].bytes = file.bytes;
  }
  static std::string RowOf(uint64_t row) { return absl::StrFormat("%06d", row); }
  std::string_view KeyOf(uint64_t row) {
    std::string key = RowPrefix(RowOf(row));
    AppendColumn(&key, "f", "q");
    AppendTrailer(&key, 1, EntryVersion{.sequence = 1}, EntryKind::kCell);
    return *keys_.emplace_back(std::make_unique<std::string>(key));
  }

  GroupSummary group_;
  std::vector<std::unique_ptr<std::string>> keys_;
};

TEST_F(DenseDeletionsPickTest, TheirRowsAreMergedFromTheirRunToTheOldest) {
  AddNewest(Deletions(7, 15000, 34999));
  const std::optional<CompactionPick> pick = PickDenseDeletions(group_);
  ASSERT_TRUE(pick.has_value());
  EXPECT_EQ(pick->kind, CompactionPick::Kind::kMerge);
  EXPECT_EQ(pick->first, 0u);
  EXPECT_EQ(pick->count, 2u);
  EXPECT_EQ(pick->files, std::vector<uint64_t>{7});
  EXPECT_EQ(pick->rows, RowRange::Closed(RowOf(15000), RowOf(34999)));
  // The policies of the engine pick them before anything else.
  EXPECT_EQ(SizeTieredPolicy(5).Pick(group_), pick);
  EXPECT_EQ(LeveledPolicy(10).Pick(group_), pick);
}

TEST_F(DenseDeletionsPickTest, ARunInTheMiddleIsFoundAndNewerOnesAreLeft) {
  group_.runs.insert(group_.runs.begin(), RunSummary{.bytes = 100, .files = {File(8, 0, 99999)}});
  group_.runs[1].files = {File(6, 0, 9999), Deletions(7, 20000, 29999)};
  const std::optional<CompactionPick> pick = PickDenseDeletions(group_);
  ASSERT_TRUE(pick.has_value());
  EXPECT_EQ(pick->first, 1u);
  EXPECT_EQ(pick->count, 2u);
  EXPECT_EQ(pick->files, std::vector<uint64_t>{7});
}

TEST_F(DenseDeletionsPickTest, FewDeletionsAreLeft) {
  AddNewest(Deletions(7, 20000, 20000 + kDenseDeletions - 2));
  EXPECT_EQ(PickDenseDeletions(group_), std::nullopt);
  AddNewest(Deletions(7, 20000, 20000 + kDenseDeletions - 1));
  EXPECT_NE(PickDenseDeletions(group_), std::nullopt);
}

TEST_F(DenseDeletionsPickTest, DeletionsAmongWritesAreLeft) {
  FileSummary file = Deletions(7, 20000, 39999);
  file.deletions = 14999;
  AddNewest(file);
  EXPECT_EQ(PickDenseDeletions(group_), std::nullopt);
  file.deletions = 15000;
  AddNewest(file);
  EXPECT_NE(PickDenseDeletions(group_), std::nullopt);
}

TEST_F(DenseDeletionsPickTest, DeletionsThatAreSpreadOverManyRowsAreLeft) {
  FileSummary file = Deletions(7, 0, 99999);  // all of the 100,000 older entries
  file.entries = file.deletions = 100000 / kDensePart - 1;
  AddNewest(file);
  EXPECT_EQ(PickDenseDeletions(group_), std::nullopt);
  file.entries = file.deletions = 100000 / kDensePart;
  AddNewest(file);
  EXPECT_NE(PickDenseDeletions(group_), std::nullopt);
}

TEST_F(DenseDeletionsPickTest, NothingIsPickedThatCannotRemoveThem) {
  AddNewest(Deletions(7, 20000, 29999));
  group_.runs[0].files[0].max_sequence = 50;
  group_.oldest_snapshot = 49;
  EXPECT_EQ(PickDenseDeletions(group_), std::nullopt);
  group_.oldest_snapshot = 50;
  EXPECT_NE(PickDenseDeletions(group_), std::nullopt);
  group_.runs[0].files[0].is_compacting = true;
  EXPECT_EQ(PickDenseDeletions(group_), std::nullopt);
  group_.runs[0].files[0].is_compacting = false;
  group_.reaches_oldest = false;  // a file of the oldest runs cannot be read
  EXPECT_EQ(PickDenseDeletions(group_), std::nullopt);
  group_.reaches_oldest = true;
  group_.runs.pop_back();  // they are the oldest run
  EXPECT_EQ(PickDenseDeletions(group_), std::nullopt);
}

class DenseDeletionsTest : public DatabaseFixture, public testing::WithParamInterface<bool> {
 protected:
  static constexpr int kRows = 60000;

  void SetUp() override {
    DatabaseOptions options = Options();
    options.target_file_size = 1 << 20;
    Open(options);
    TableSchema schema;
    schema.families["f"] = {};
    schema.locality_groups["default"].compaction =
        GetParam() ? CompactionStyle::kLeveled : CompactionStyle::kSizeTiered;
    table_ = CreateTable("t", schema);
    std::vector<RowMutation> batch;
    for (int i = 0; i < kRows; ++i) {
      batch.push_back(RowMutation(RowOf(i)).Set("f:q", Timestamp(1), std::string(30, 'v')));
      if (i % 1000 == 999) {
        for (const absl::Status& status : table_->ApplyBatch(batch)) EXPECT_OK(status);
        batch.clear();
      }
    }
    EXPECT_OK(database_->Compact("t"));
  }
  static std::string RowOf(int i) { return absl::StrFormat("row%06d", i); }
  void Delete(int begin, int end) {
    std::vector<RowMutation> batch;
    for (int i = begin; i < end; ++i) {
      batch.push_back(RowMutation(RowOf(i)).DeleteRow());
      if (batch.size() < 1000 && i + 1 < end) continue;
      for (const absl::Status& status : table_->ApplyBatch(batch)) EXPECT_OK(status);
      batch.clear();
    }
    EXPECT_OK(database_->Flush("t"));
    EXPECT_OK(database_->WaitUntilQuiet());
  }
  LocalityGroupStatistics Size() { return database_->Statistics().tables.at("t").at("default"); }
  uint64_t Written() { return database_->Statistics().merging_compaction_bytes_written; }
  int Count() {
    int rows = 0;
    for (RowReader reader = table_->ReadRows(RowRange::All()); reader.Next();) ++rows;
    return rows;
  }

  Table* table_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Leveled, DenseDeletionsTest, testing::Bool());

TEST_P(DenseDeletionsTest, AFlushOfThemIsMergedWithWhatTheyHide) {
  const uint64_t written = Written();
  Delete(20000, 40000);
  EXPECT_EQ(Size().deletions, 0u);
  EXPECT_EQ(Size().entries, static_cast<uint64_t>(kRows) - 20000);
  EXPECT_EQ(Size().sorted_runs, 1u);
  EXPECT_EQ(Count(), kRows - 20000);
  // Not the whole table.
  EXPECT_LT(Written() - written, Size().file_bytes);
}

TEST_P(DenseDeletionsTest, TheyWaitForTheSnapshotsThatSeeWhatTheyHide) {
  ASSERT_OK_AND_ASSIGN(std::shared_ptr<const Snapshot> snapshot, database_->TakeSnapshot());
  const uint64_t written = Written();
  Delete(20000, 40000);
  EXPECT_EQ(Written(), written);
  EXPECT_EQ(Size().deletions, 20000u);
  EXPECT_EQ(Count(), kRows - 20000);
  snapshot.reset();
  Set(table_, RowOf(50000), "f:q", 2, "v");
  ASSERT_OK(database_->Flush("t"));  // the policy is asked
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Size().deletions, 0u);
  EXPECT_EQ(Count(), kRows - 20000);
}

}  // namespace
}  // namespace bigtable
