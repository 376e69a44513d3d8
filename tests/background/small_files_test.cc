// Small files of a run are joined, so that rows which are written in order, a few for each flush,
// do not leave ever more files.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/entry_key.h"
#include "compaction/policies.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/random.h"

namespace bigtable {
namespace {

constexpr uint64_t kTarget = uint64_t{1} << 20;

class SmallFilesPickTest : public testing::Test {
 protected:
  SmallFilesPickTest() {
    group_.target_file_size = kTarget;
    group_.flush_size = kTarget;
    group_.expired_before = std::numeric_limits<int64_t>::min();
  }

  // Files of these bytes, numbered from 0, of two rows each.
  void AddRun(const std::vector<uint64_t>& bytes) {
    RunSummary& run = group_.runs.emplace_back();
    for (const uint64_t size : bytes) {
      const uint64_t number = run.files.size();
      run.files.push_back({.number = number,
                           .bytes = size,
                           .entries = 2,
                           .smallest_key = KeyOf(2 * number),
                           .largest_key = KeyOf(2 * number + 1),
                           .max_timestamp = 1});
      run.bytes += size;
    }
  }
  std::string_view KeyOf(uint64_t row) {
    std::string key = RowPrefix(absl::StrFormat("%06d", row));
    AppendColumn(&key, "f", "q");
    AppendTrailer(&key, 1, EntryVersion{.sequence = 1}, EntryKind::kCell);
    return *keys_.emplace_back(std::make_unique<std::string>(key));
  }
  // The first and last file that are joined, which are next to each other.
  std::string Picked() {
    const std::optional<CompactionPick> pick = PickSmallFiles(group_);
    if (!pick.has_value()) return "none";
    EXPECT_EQ(pick->kind, CompactionPick::Kind::kMerge);
    EXPECT_EQ(pick->count, 1u);
    EXPECT_EQ(pick->files.size(), pick->files.back() - pick->files.front() + 1);
    return absl::StrFormat("run %d: %d to %d", pick->first, pick->files.front(),
                           pick->files.back());
  }

  GroupSummary group_;
  std::vector<std::unique_ptr<std::string>> keys_;
};

TEST_F(SmallFilesPickTest, TenOrMoreThatAreNextToEachOtherAreJoined) {
  AddRun(std::vector<uint64_t>(kLeastJoined - 1, 100));
  EXPECT_EQ(Picked(), "none");
  AddRun(std::vector<uint64_t>(kLeastJoined, 100));
  EXPECT_EQ(Picked(), "run 1: 0 to 9");
  // After what else there is to do; here nothing.
  EXPECT_EQ(SizeTieredPolicy(5).Pick(group_), PickSmallFiles(group_));
  EXPECT_EQ(LeveledPolicy(10).Pick(group_), PickSmallFiles(group_));
  group_.runs.erase(group_.runs.begin());
  EXPECT_EQ(SizeTieredPolicy(5).Pick(group_), PickSmallFiles(group_));
  EXPECT_EQ(LeveledPolicy(10).Pick(group_), PickSmallFiles(group_));
  EXPECT_EQ(FifoPolicy().Pick(group_), std::nullopt);
  EXPECT_EQ(NoCompactionPolicy().Pick(group_), std::nullopt);
}

TEST_F(SmallFilesPickTest, AFileGrowsFourfoldOrIsLeft) {
  std::vector<uint64_t> bytes(25, 100);
  bytes[12] = 800;  // of 3,200 in all
  AddRun(bytes);
  EXPECT_EQ(Picked(), "run 0: 0 to 24");
  group_.runs.clear();
  bytes[12] = 801;
  AddRun(bytes);
  EXPECT_EQ(Picked(), "run 0: 0 to 11");
}

TEST_F(SmallFilesPickTest, LargeFilesAreLeft) {
  std::vector<uint64_t> bytes(2 * kLeastJoined, kTarget / kSmallPart);
  bytes[7] = kTarget / kSmallPart + 1;
  AddRun(bytes);
  // Eight of them are a file that is as large as files get.
  EXPECT_EQ(Picked(), "none");
  bytes.assign(bytes.size(), kTarget / kLeastJoined);
  bytes[7] = kTarget / kSmallPart + 1;
  group_.runs.clear();
  AddRun(bytes);
  EXPECT_EQ(Picked(), "run 0: 8 to 17");
}

TEST_F(SmallFilesPickTest, FilesThatWouldNotBecomeFewerAreLeft) {
  AddRun(std::vector<uint64_t>(2 * kLeastJoined, 100));
  group_.runs[0].files[3].is_full = true;
  EXPECT_EQ(Picked(), "run 0: 4 to 19");
  group_.runs[0].files[12].is_compacting = true;
  EXPECT_EQ(Picked(), "none");
}

TEST_F(SmallFilesPickTest, FilesThatExpireAtOtherTimesAreLeft) {
  AddRun(std::vector<uint64_t>(kLeastJoined + 1, 100));
  std::vector<FileSummary>& files = group_.runs[0].files;
  for (size_t i = 0; i < files.size(); ++i) files[i].max_timestamp = static_cast<int64_t>(i) * 100;
  EXPECT_EQ(Picked(), "run 0: 0 to 10");
  group_.now = absl::FromUnixMicros(900);
  const auto age = static_cast<int64_t>(kPartOfAge);
  group_.expired_before = 900 - 1000 * age;
  EXPECT_EQ(Picked(), "run 0: 0 to 10");
  group_.expired_before = 900 - 900 * age;
  EXPECT_EQ(Picked(), "run 0: 0 to 9");
  group_.expired_before = 900 - 899 * age;
  EXPECT_EQ(Picked(), "none");
  // The extremes of both.
  group_.expired_before = std::numeric_limits<int64_t>::min() + 1;
  files[0].max_timestamp = -1;
  EXPECT_EQ(Picked(), "run 0: 0 to 10");
  files[1].max_timestamp = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Picked(), "none");
  group_.expired_before = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Picked(), "none");
}

TEST_F(SmallFilesPickTest, APartOfARowIsLeft) {
  AddRun(std::vector<uint64_t>(kLeastJoined + 4, 100));
  // Its largest key and the next smallest one are of one row.
  group_.runs[0].files[2].largest_key = group_.runs[0].files[3].smallest_key;
  EXPECT_EQ(Picked(), "run 0: 4 to 13");
}

TEST_F(SmallFilesPickTest, AnyOrderOfSizesComesToRestWithFewFiles) {
  // As rows in order leave them, a flush of any size for each.
  std::vector<uint64_t> sizes;
  uint64_t flushed = 0, written = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    sizes.push_back(100 + i * 7919 % 900);
    flushed += sizes.back();
    for (int picks = 0;; ++picks) {
      ASSERT_LT(picks, 100) << "it does not come to rest";
      group_.runs.clear();
      keys_.clear();
      AddRun(sizes);
      const std::optional<CompactionPick> pick = PickSmallFiles(group_);
      if (!pick.has_value()) break;
      const auto first = sizes.begin() + static_cast<std::ptrdiff_t>(pick->files.front());
      const auto last = first + static_cast<std::ptrdiff_t>(pick->files.size());
      uint64_t joined = 0;
      for (auto size = first; size != last; ++size) joined += *size;
      written += joined;
      *first = joined;
      sizes.erase(first + 1, last);
    }
  }
  EXPECT_LT(sizes.size(), 4 * kLeastJoined);
  EXPECT_LT(written, 4 * flushed);
}

class SmallFilesTest : public DatabaseFixture, public testing::WithParamInterface<CompactionStyle> {
 protected:
  void OpenIt(const DatabaseOptions& options, size_t block_size = 16 << 10) {
    Open(options);
    TableSchema schema;
    schema.families["f"] = {};
    schema.split.tablet_size = 0;
    schema.locality_groups["default"].compaction = GetParam();
    schema.locality_groups["default"].block_size = block_size;
    table_ = CreateTable("t", schema);
  }
  static std::string RowOf(int i) { return absl::StrFormat("row%06d", i); }
  void Write(int begin, int end, size_t bytes) {
    std::vector<RowMutation> batch;
    for (int i = begin; i < end; ++i) {
      batch.push_back(RowMutation(RowOf(i)).Set("f:q", Timestamp(1), std::string(bytes, 'v')));
    }
    for (const absl::Status& status : table_->ApplyBatch(batch)) EXPECT_OK(status);
    EXPECT_OK(database_->Flush("t"));
  }
  LocalityGroupStatistics Size() { return database_->Statistics().tables.at("t").at("default"); }
  int Count() {
    int rows = 0;
    RowReader reader = table_->ReadRows(RowRange::All());
    while (reader.Next()) EXPECT_EQ(reader.row().key(), RowOf(rows++));
    EXPECT_OK(reader.status());
    return rows;
  }

  Table* table_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Styles, SmallFilesTest,
                         testing::Values(CompactionStyle::kSizeTiered, CompactionStyle::kLeveled));

TEST_P(SmallFilesTest, RowsInOrderLeaveFewFiles) {
  OpenIt(Options());
  for (int i = 0; i < 300; ++i) Write(3 * i, 3 * i + 3, 100);
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_LT(Size().files, 3 * kLeastJoined);
  EXPECT_EQ(Count(), 900);
  // Each entry was written again twice or so.
  const DatabaseStatistics statistics = database_->Statistics();
  EXPECT_LT(statistics.merging_compaction_bytes_written,
            3 * statistics.minor_compaction_bytes_written);
  database_.reset();
  Open(Options());
  table_ = OpenTable("t");
  EXPECT_EQ(Count(), 900);
}

TEST_P(SmallFilesTest, DeletionsInThemGoIfNothingIsOlder) {
  OpenIt(Options());
  const int files = static_cast<int>(kLeastJoined);
  for (int i = 0; i < files; ++i) {
    if (i + 1 == files) {
      ASSERT_OK(database_->WaitUntilQuiet());
      EXPECT_EQ(Size().deletions, kLeastJoined - 1);
    }
    EXPECT_OK(table_->Apply(RowMutation(RowOf(2 * i) + "deleted").DeleteRow()));
    Write(2 * i, 2 * i + 2, 100);
  }
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_EQ(Size().files, 1u);
  EXPECT_EQ(Size().deletions, 0u);
  EXPECT_EQ(Count(), 2 * files);
}

// Long keys in small blocks: the memory of the index ends files long before their size does. Files
// that ended so are not joined again and again.
TEST_P(SmallFilesTest, ItComesToRestWhereMemoryEndsFiles) {
  DatabaseOptions options = Options();
  options.memory_budget = 8 << 20;
  options.target_file_size = uint64_t{1} << 30;
  OpenIt(options, /*block_size=*/1 << 10);
  constexpr int kPart = 1200;
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    std::vector<RowMutation> batch;
    for (int row = kPart * i; row < kPart * (i + 1); ++row) {
      const std::string key = absl::StrCat(RowOf(row), random.Bytes(200));
      batch.push_back(RowMutation(key).Set("f:q", Timestamp(1), std::string(1000, 'v')));
    }
    for (const absl::Status& status : table_->ApplyBatch(batch)) EXPECT_OK(status);
    EXPECT_OK(database_->Flush("t"));
  }
  ASSERT_OK(database_->WaitUntilQuiet({.deadline = absl::Now() + absl::Seconds(60)}));
  EXPECT_GT(Size().files, kLeastJoined);
  EXPECT_LT(Size().files, 2 * kLeastJoined + 10);
  const DatabaseStatistics statistics = database_->Statistics();
  EXPECT_LT(statistics.merging_compaction_bytes_written,
            2 * statistics.minor_compaction_bytes_written);
}

}  // namespace
}  // namespace bigtable
