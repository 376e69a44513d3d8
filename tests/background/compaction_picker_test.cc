// What a compaction policy is shown of the runs of a locality group.
#include "background/compaction_picker.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/compaction_policy.h"

#include "base/strings.h"
#include "compaction/policies.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"

namespace bigtable {
namespace {

// Keeps what it was shown last. Picks nothing, or `pick` where the oldest run is.
class ShownPolicy final : public CompactionPolicy {
 public:
  static inline GroupSummary shown;
  static inline bool drops_expired = true;
  static inline std::optional<CompactionPick> pick;

  std::optional<CompactionPick> Pick(const GroupSummary& group) override {
    shown = group;
    return group.reaches_oldest ? pick : std::nullopt;
  }
  bool DropsExpired() const override { return drops_expired; }
};

class CompactionPickerTest : public DatabaseFixture {
 protected:
  static constexpr int64_t kAge = 1'000'000;  // a second
  static constexpr int64_t kNow = 100 * kAge;
  static constexpr int64_t kExpired = kNow - kAge;  // what is older than this

  ~CompactionPickerTest() override { ForgetPolicy("shown"); }
  void SetUp() override {
    ShownPolicy::drops_expired = true;
    ShownPolicy::pick = std::nullopt;
    clock_.Set(kNow);
    ASSERT_OK(RegisterCompactionPolicy(
        "shown", [](const LocalityGroup&) { return std::make_unique<ShownPolicy>(); }));
    Open();
    TableSchema schema;
    schema.locality_groups["g"] = {.compaction_policy = "shown"};
    schema.families["f"] = {.locality_group = "g", .gc = GcRule::MaxAge(absl::Seconds(1))};
    table_ = CreateTable("t", schema);
    // No thread picks while the test looks.
    database_->PauseCompactions();
  }
  // Writes a run with these cells, rows and timestamps, before any of them expires.
  void WriteRun(const std::vector<std::pair<std::string, int64_t>>& cells) {
    for (const auto& [row, timestamp] : cells) Set(table_, row, "f:q", timestamp, "value");
    clock_.Set(kNow - kAge);
    ASSERT_OK(database_->Flush("t"));
    clock_.Set(kNow);
  }
  std::shared_ptr<Tablet> TheTablet() {
    return DatabasePeer(database_.get()).Servers()[0]->tablets().All()[0];
  }
  size_t TheGroup() {
    const std::shared_ptr<const TableLayout> layout = TheTablet()->Layout();
    return layout->groups[0].name == "g" ? 0 : 1;
  }
  const GroupSummary& Look() {
    picked_ = PickCompaction(TheTablet().get(), TheGroup());
    EXPECT_OK(picked_.status());
    return ShownPolicy::shown;
  }
  const SSTableInfo& FileOf(size_t run) {
    return TheTablet()->Version()->groups()[TheGroup()].runs[run].files[0]->info();
  }

  Table* table_ = nullptr;
  absl::StatusOr<std::optional<CompactionPlan>> picked_;
};

TEST_F(CompactionPickerTest, ARunIsShownWithItsFiles) {
  WriteRun({{"a", kNow}, {"b", kNow + 1}, {"c", kNow + 2}});
  ASSERT_OK(table_->Apply(RowMutation("a").DeleteRow()));
  WriteRun({{"d", kNow}});
  const GroupSummary& shown = Look();
  EXPECT_EQ(shown.expired_before, kExpired);
  EXPECT_EQ(shown.flush_size, TheTablet()->environment()->memtable_size());
  EXPECT_TRUE(shown.reaches_oldest);
  ASSERT_EQ(shown.runs.size(), 2u);
  for (const size_t i : {0, 1}) {
    ASSERT_EQ(shown.runs[i].files.size(), 1u);
    const FileSummary& file = shown.runs[i].files[0];
    EXPECT_EQ(file.number, FileOf(i).file_number);
    EXPECT_EQ(file.bytes, FileOf(i).size);
    EXPECT_EQ(shown.runs[i].bytes, FileOf(i).size);
    EXPECT_EQ(file.entries, i == 0 ? 2u : 3u);
    EXPECT_EQ(file.deletions, i == 0 ? 1u : 0u);
    EXPECT_EQ(file.max_timestamp, i == 0 ? kNow : kNow + 2);
    EXPECT_EQ(file.min_sequence, FileOf(i).min_sequence);
    EXPECT_EQ(file.max_sequence, FileOf(i).max_sequence);
    EXPECT_EQ(file.has_wide_deletions, i == 0);
  }
}

TEST_F(CompactionPickerTest, ThePolicyIsToldWhereAndWhenItIsAsked) {
  WriteRun({{"a", kNow}});
  const GroupSummary& shown = Look();
  EXPECT_EQ(shown.table, "t");
  EXPECT_EQ(shown.locality_group, "g");
  EXPECT_EQ(shown.rows, RowRange());
  EXPECT_EQ(shown.now, absl::FromUnixMicros(kNow));
  EXPECT_EQ(shown.sequence, shown.runs[0].files[0].max_sequence);
  EXPECT_EQ(shown.state, "");
  clock_.Set(kNow + 7);
  Set(table_, "b", "f:q", kNow, "value");
  EXPECT_EQ(Look().now, absl::FromUnixMicros(kNow + 7));
  EXPECT_GT(shown.sequence, shown.runs[0].files[0].max_sequence);
  ASSERT_OK(database_->SplitTablet("t", "m"));
  EXPECT_EQ(Look().rows.end(), "m");
}

TEST_F(CompactionPickerTest, TheBytesBelowAFileAreShown) {
  WriteRun({{"a", kNow}, {"b", kNow}});
  WriteRun({{"x", kNow}, {"y", kNow}});
  WriteRun({{"b", kNow}, {"c", kNow}});
  const GroupSummary& shown = Look();
  // Files that do not overlap are one run.
  ASSERT_EQ(shown.runs.size(), 2u);
  ASSERT_EQ(shown.runs[0].files.size(), 2u);
  EXPECT_EQ(shown.runs[0].files[0].overlap_bytes, shown.runs[1].files[0].bytes);
  EXPECT_EQ(shown.runs[0].files[1].overlap_bytes, 0u);
  EXPECT_EQ(shown.runs[1].files[0].overlap_bytes, 0u);
}

// One read in 64 counts, 64 times.
TEST_F(CompactionPickerTest, ReadsOfRowsAreCountedByFile) {
  constexpr int kReads = 64 * 20;
  WriteRun({{"a", kNow}, {"c", kNow}});
  WriteRun({{"a", kNow}, {"b", kNow}});
  const auto read = [&](std::string_view row) {
    for (int i = 0; i < kReads; ++i) ASSERT_OK(table_->ReadRow(row));
  };
  read("a");
  const GroupSummary& shown = Look();
  for (const size_t run : {0, 1}) {
    EXPECT_NEAR(static_cast<double>(shown.runs[run].files[0].row_reads), kReads, 128);
    EXPECT_EQ(shown.runs[run].files[0].useless_row_reads, 0u);
  }
  // The filter excludes the other file, and both for a row that does not exist.
  read("b");
  read("bb");
  Look();
  EXPECT_NEAR(static_cast<double>(shown.runs[0].files[0].row_reads), 2 * kReads, 192);
  EXPECT_NEAR(static_cast<double>(shown.runs[1].files[0].row_reads), kReads, 128);
  EXPECT_EQ(shown.runs[0].files[0].useless_row_reads, 0u);

  // Without a filter a file is searched in vain.
  ASSERT_OK(database_->SetLocalityGroup(
      "t", "g", {.filter = FilterKind::kNone, .compaction_policy = "shown"}));
  WriteRun({{"a", kNow}, {"c", kNow}});
  read("b");
  Look();
  EXPECT_NEAR(static_cast<double>(shown.runs[0].files[0].row_reads), kReads, 128);
  EXPECT_EQ(shown.runs[0].files[0].useless_row_reads, shown.runs[0].files[0].row_reads);
}

// Each entry of a row that an older run has, and each deletion, frees an entry there.
TEST_F(CompactionPickerTest, WhatARunHidesInOlderOnesIsGarbage) {
  WriteRun({{"a", kNow}, {"b", kNow}, {"c", kNow}, {"d", kNow}});
  const double older = static_cast<double>(FileOf(0).size) / 4;
  WriteRun({{"a", kNow}, {"b", kNow}});
  EXPECT_EQ(Look().runs[1].garbage_bytes, 0u);  // nothing is below
  EXPECT_EQ(Look().runs[0].garbage_bytes, static_cast<uint64_t>(2 * older));
  const double both = static_cast<double>(FileOf(0).size + FileOf(1).size) / 6;
  ASSERT_OK(table_->Apply(RowMutation("a").DeleteCell("f:q", Timestamp(kNow))));
  ASSERT_OK(table_->Apply(RowMutation("b").DeleteCell("f:q", Timestamp(kNow))));
  ASSERT_OK(table_->Apply(RowMutation("c").DeleteCell("f:q", Timestamp(kNow))));
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Look().runs[0].garbage_bytes, static_cast<uint64_t>(3 * both));
  EXPECT_EQ(Look().runs[1].garbage_bytes, static_cast<uint64_t>(2 * older));
}

// As if the timestamps were spread evenly over the file.
TEST_F(CompactionPickerTest, TheExpiredPartOfARunIsGarbage) {
  WriteRun({{"a", kExpired - 25}, {"b", kExpired + 74}});
  EXPECT_EQ(Look().runs[0].garbage_bytes, FileOf(0).size / 4);
  EXPECT_EQ(picked_->has_value(), false);
  clock_.Set(kNow + 25);
  EXPECT_EQ(Look().expired_before, kExpired + 25);
  EXPECT_EQ(Look().runs[0].garbage_bytes, FileOf(0).size / 2);
}

TEST_F(CompactionPickerTest, NothingOfARunHasExpiredThatBeginsWithTheLimit) {
  WriteRun({{"a", kExpired}, {"b", kExpired + 1}});
  EXPECT_EQ(Look().runs[0].garbage_bytes, 0u);
  clock_.Set(kNow + 1);
  EXPECT_EQ(Look().runs[0].garbage_bytes, FileOf(0).size / 2);
}

TEST_F(CompactionPickerTest, AFileInWhichEverythingHasExpiredIsDroppedIfThePolicyWantsThat) {
  WriteRun({{"a", kExpired - 100}, {"b", kExpired - 101}});
  ShownPolicy::drops_expired = false;
  EXPECT_EQ(Look().runs[0].garbage_bytes, FileOf(0).size);
  EXPECT_FALSE(picked_->has_value());
  ShownPolicy::drops_expired = true;
  Look();
  ASSERT_TRUE(picked_->has_value());
  EXPECT_EQ((*picked_)->pick.kind, CompactionPick::Kind::kDrop);
  EXPECT_EQ((*picked_)->pick.files, std::vector<uint64_t>{FileOf(0).file_number});
}

// The policy is shown only the runs after the file, and counts from the first of them.
TEST_F(CompactionPickerTest, APickBehindAQuarantinedFileIsOfTheRunsThatThePolicyWasShown) {
  for (int i = 0; i < 4; ++i) WriteRun({{"a", kNow}, {"b", kNow}});
  TheTablet()->Quarantine(TheGroup(), FileOf(1).file_number, absl::DataLossError("damaged"));
  ShownPolicy::pick = CompactionPick{.first = 0, .count = 2};
  EXPECT_EQ(Look().runs.size(), 2u);
  ASSERT_TRUE(picked_->has_value());
  EXPECT_EQ((*picked_)->pick, (CompactionPick{.first = 2, .count = 2}));
  // There would be enough runs, but the policy was not shown them.
  ShownPolicy::pick = CompactionPick{.first = 0, .count = 3};
  EXPECT_STATUS(kFailedPrecondition,
                "compaction policy \"shown\" has made a bad pick for table \"t\"",
                PickCompaction(TheTablet().get(), TheGroup()).status());
}

// Their garbage cannot be freed by a merge.
TEST_F(CompactionPickerTest, RunsAboveAQuarantinedFileAreShownWithoutTheirGarbage) {
  for (int i = 0; i < 4; ++i) WriteRun({{"a", kNow}, {"b", kNow}});
  TheTablet()->Quarantine(TheGroup(), FileOf(2).file_number, absl::DataLossError("damaged"));
  ShownPolicy::shown = {};
  const GroupSummary& shown = Look();
  // The last stretch that the policy was asked for has the oldest run.
  EXPECT_TRUE(shown.reaches_oldest);
  EXPECT_EQ(shown.runs.size(), 1u);
  TheTablet()->Quarantine(TheGroup(), FileOf(3).file_number, absl::DataLossError("damaged"));
  Look();
  EXPECT_FALSE(shown.reaches_oldest);
  ASSERT_EQ(shown.runs.size(), 2u);
  EXPECT_EQ(shown.runs[0].garbage_bytes, 0u);
  EXPECT_EQ(shown.runs[0].bytes, FileOf(0).size);
  EXPECT_EQ(shown.runs[1].bytes, FileOf(1).size);
}

}  // namespace
}  // namespace bigtable
