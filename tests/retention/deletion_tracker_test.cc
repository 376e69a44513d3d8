// Which entries deletions hide, compared to a list of all deletions.

#include "retention/deletion_tracker.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

constexpr uint32_t kGroup = 3;
constexpr uint32_t kOtherGroup = 5;
constexpr int64_t kTimestamp = 10;

TEST(DeletionTrackerTest, ADeletionOfATimeRangeHidesItsTimestampsInItsColumn) {
  DeletionTracker tracker;
  tracker.EnterRow();
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  tracker.AddTimeRange({5, 10}, {7, 0});
  EXPECT_TRUE(tracker.any());
  EXPECT_FALSE(tracker.Hides({6, 0}, 10));
  EXPECT_TRUE(tracker.Hides({6, 0}, 9));
  EXPECT_FALSE(tracker.Hides({8, 0}, 9));
  EXPECT_EQ(tracker.FirstAfter({6, 0}, 5), (EntryVersion{7, 0}));
  EXPECT_EQ(tracker.FirstAfter({6, 0}, 4), DeletionTracker::kNever);
  EXPECT_EQ(tracker.FirstAfter({6, 0}), DeletionTracker::kNever);
  tracker.EnterColumn();
  EXPECT_FALSE(tracker.any());
  EXPECT_FALSE(tracker.Hides({6, 0}, 9));
}

TEST(TimeRangeDeletionsTest, NothingIsLeftOfThoseOfTheColumnBefore) {
  TimeRangeDeletions deletions;
  deletions.Add({5, 10}, {7, 0});
  EXPECT_EQ(deletions.NewestAt(8), (EntryVersion{7, 0}));
  deletions.Clear();
  EXPECT_TRUE(deletions.empty());
  for (const int64_t timestamp : {7, 8, 9}) {
    EXPECT_EQ(deletions.NewestAt(timestamp), EntryVersion());
    EXPECT_EQ(deletions.FirstAfter({}, timestamp), nullptr);
  }
}

TEST(RandomDeletionTest, TimeRangesAgreeWithAListOfThem) {
  ForEachSeed(kSlow ? 200 : 2000, [](uint64_t seed) {
    Random random(seed);
    struct Deletion {
      TimeRange range;
      EntryVersion version;
    };
    std::vector<Deletion> list;
    TimeRangeDeletions deletions;
    const uint64_t most = 1 + random.Below(10);
    for (uint32_t i = 0; i < most; ++i) {
      const int64_t begin = random.Between(0, 12);
      list.push_back({{begin, begin + random.Between(1, 6)}, {1 + random.Below(6), i}});
      deletions.Add(list.back().range, list.back().version);
    }
    int64_t timestamp = 20;
    for (int i = 0; i < 30; ++i) {
      // Mostly from new to old.
      timestamp = random.OneIn(8) ? random.Between(0, 20) : std::max<int64_t>(0, timestamp - 1);
      const EntryVersion version{random.Below(7), static_cast<uint32_t>(random.Below(10))};
      EntryVersion newest;
      EntryVersion first = DeletionTracker::kNever;
      for (const Deletion& deletion : list) {
        if (!deletion.range.Contains(timestamp)) continue;
        newest = std::max(newest, deletion.version);
        if (deletion.version > version) first = std::min(first, deletion.version);
      }
      ASSERT_EQ(deletions.NewestAt(timestamp), newest) << timestamp;
      const EntryVersion* const found = deletions.FirstAfter(version, timestamp);
      ASSERT_EQ(found == nullptr ? DeletionTracker::kNever : *found, first) << timestamp;
    }
    Tally("cases");
  });
}

TEST(DeletionTrackerTest, NothingIsHiddenWhereNothingWasDeleted) {
  DeletionTracker tracker;
  tracker.EnterRow();
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  EXPECT_FALSE(tracker.any());
  EXPECT_FALSE(tracker.has_wide());
  EXPECT_FALSE(tracker.Hides({1, 0}, kTimestamp));
  EXPECT_EQ(tracker.FirstAfter({1, 0}), DeletionTracker::kNever);
}

TEST(DeletionTrackerTest, ADeletionHidesOlderVersionsAndNotItsOwn) {
  DeletionTracker tracker;
  tracker.EnterRow();
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  tracker.Add(EntryKind::kDeleteColumn, {7, 1}, kGroup);
  EXPECT_TRUE(tracker.Hides({7, 0}, kTimestamp));
  EXPECT_FALSE(tracker.Hides({7, 2}, kTimestamp));
  EXPECT_EQ(tracker.FirstAfter({7, 0}), (EntryVersion{7, 1}));
  EXPECT_EQ(tracker.FirstAfter({7, 1}), DeletionTracker::kNever);
}

TEST(DeletionTrackerTest, ADeletionEndsWithItsScope) {
  DeletionTracker tracker;
  tracker.EnterRow();
  tracker.Add(EntryKind::kDeleteRow, {3, 0}, kGroup);
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  tracker.Add(EntryKind::kDeleteFamily, {5, 0}, kGroup);
  tracker.EnterColumn();
  tracker.Add(EntryKind::kDeleteColumn, {7, 0}, kGroup);
  EXPECT_TRUE(tracker.Hides({6, 0}, kTimestamp));
  tracker.EnterColumn();
  EXPECT_FALSE(tracker.Hides({6, 0}, kTimestamp));
  EXPECT_TRUE(tracker.Hides({4, 0}, kTimestamp));
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  EXPECT_FALSE(tracker.Hides({4, 0}, kTimestamp));
  EXPECT_TRUE(tracker.Hides({2, 0}, kTimestamp));
  tracker.EnterRow();
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  EXPECT_FALSE(tracker.any());
}

TEST(DeletionTrackerTest, ADeletionOfTheRowIsForItsLocalityGroupAlone) {
  DeletionTracker tracker;
  tracker.EnterRow();
  tracker.Add(EntryKind::kDeleteRow, {9, 0}, kGroup);
  tracker.Add(EntryKind::kDeleteRow, {4, 0}, kOtherGroup);
  tracker.EnterFamily(kOtherGroup);
  tracker.EnterColumn();
  EXPECT_FALSE(tracker.Hides({5, 0}, kTimestamp));
  EXPECT_TRUE(tracker.Hides({3, 0}, kTimestamp));
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  EXPECT_TRUE(tracker.Hides({5, 0}, kTimestamp));
}

TEST(DeletionTrackerTest, AgreesWithAListOfAllDeletionsRandom) {
  constexpr EntryKind kKinds[] = {EntryKind::kDeleteRow, EntryKind::kDeleteFamily,
                                  EntryKind::kDeleteColumn};
  ForEachSeed(5, [&](uint64_t seed) {
    Random random(seed);
    DeletionTracker tracker;
    for (int i = 0; i < 1000; ++i) {
      std::vector<EntryVersion> all;
      size_t wide = 0;
      tracker.EnterRow();
      const uint64_t others = random.Below(3);
      for (uint64_t n = 0; n < others; ++n) {
        tracker.Add(EntryKind::kDeleteRow, {20 - n, 0}, kOtherGroup);
      }
      for (const EntryKind kind : kKinds) {
        if (kind == EntryKind::kDeleteFamily) tracker.EnterFamily(kGroup);
        if (kind != EntryKind::kDeleteRow) tracker.EnterColumn();
        SequenceNumber sequence = 20;
        for (uint64_t n = random.Below(4); n > 0; --n) {
          sequence -= 1 + random.Below(5);
          const EntryVersion version{sequence, static_cast<uint32_t>(random.Below(2))};
          tracker.Add(kind, version, kGroup);
          all.push_back(version);
        }
        if (kind != EntryKind::kDeleteColumn) wide = all.size();
      }
      for (SequenceNumber sequence = 1; sequence <= 21; ++sequence) {
        const EntryVersion version{sequence, static_cast<uint32_t>(random.Below(2))};
        EntryVersion first = DeletionTracker::kNever;
        for (const EntryVersion& deletion : all) {
          if (deletion > version) first = std::min(first, deletion);
        }
        ASSERT_EQ(tracker.FirstAfter(version), first);
        // No other entry has the same version.
        const bool is_one = std::find(all.begin(), all.end(), version) != all.end();
        ASSERT_EQ(tracker.Hides(version, kTimestamp) && !is_one,
                  first != DeletionTracker::kNever && !is_one);
      }
      ASSERT_EQ(tracker.any(), !all.empty());
      std::vector<EntryVersion> visited;
      tracker.ForEachWide([&](EntryVersion version) { visited.push_back(version); });
      ASSERT_TRUE(std::equal(visited.begin(), visited.end(), all.begin(),
                             all.begin() + static_cast<std::ptrdiff_t>(wide)));
    }
    Tally("cases", 1000);
  });
}

}  // namespace
}  // namespace bigtable
