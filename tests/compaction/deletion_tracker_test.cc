// Which entries deletions hide, compared to a list of all deletions.

#include "compaction/deletion_tracker.h"

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

TEST(DeletionTrackerTest, NothingIsHiddenWhereNothingWasDeleted) {
  DeletionTracker tracker;
  tracker.EnterRow();
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  EXPECT_FALSE(tracker.any());
  EXPECT_FALSE(tracker.has_wide());
  EXPECT_FALSE(tracker.Hides({1, 0}));
  EXPECT_EQ(tracker.FirstAfter({1, 0}), DeletionTracker::kNever);
}

TEST(DeletionTrackerTest, ADeletionHidesOlderVersionsAndNotItsOwn) {
  DeletionTracker tracker;
  tracker.EnterRow();
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  tracker.Add(EntryKind::kDeleteColumn, {7, 1}, kGroup);
  EXPECT_TRUE(tracker.Hides({7, 0}));
  EXPECT_FALSE(tracker.Hides({7, 2}));
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
  EXPECT_TRUE(tracker.Hides({6, 0}));
  tracker.EnterColumn();
  EXPECT_FALSE(tracker.Hides({6, 0}));
  EXPECT_TRUE(tracker.Hides({4, 0}));
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  EXPECT_FALSE(tracker.Hides({4, 0}));
  EXPECT_TRUE(tracker.Hides({2, 0}));
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
  EXPECT_FALSE(tracker.Hides({5, 0}));
  EXPECT_TRUE(tracker.Hides({3, 0}));
  tracker.EnterFamily(kGroup);
  tracker.EnterColumn();
  EXPECT_TRUE(tracker.Hides({5, 0}));
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
        ASSERT_EQ(tracker.Hides(version) && !is_one, first != DeletionTracker::kNever && !is_one);
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
