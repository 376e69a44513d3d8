// Where a compaction is in its input, and what hides an entry there.
#include "compaction/collected_column.h"

#include <string>

#include "gtest/gtest.h"

#include "compaction/column_input.h"

namespace bigtable {
namespace {

constexpr RetainedFamily* kNoFamily = nullptr;

TEST(CollectedColumnTest, TheFamilyIsThatOfTheColumn) {
  ColumnInput in({.name = "f", .versions = {2}}, /*major=*/false,
                 {"r/e:q@1#1 cell", "r/f:q@1#1 cell", "s/f:q@1#1 cell", "s/g:q@1#1 cell"});
  EXPECT_EQ(in.column().family(), kNoFamily);
  EXPECT_FALSE(in.column().counts_versions());
  in.Next();
  EXPECT_EQ(in.column().family(), &in.retention().families[0]);
  EXPECT_TRUE(in.column().counts_versions());
  EXPECT_EQ(in.column().row_prefix(), RowPrefix("r"));
  in.Next();
  EXPECT_EQ(in.column().family(), &in.retention().families[0]);
  EXPECT_EQ(in.column().row_prefix(), RowPrefix("s"));
  in.Next();
  EXPECT_EQ(in.column().family(), kNoFamily);
}

TEST(CollectedColumnTest, AColumnDoesNotHaveKeysThatOnlyBeginLikeIt) {
  ColumnInput in({.name = "f"}, false, {"r/f:q@1#1 cell"});
  std::string longer = RowPrefix("r");
  AppendColumn(&longer, "f", "qq");
  AppendTrailer(&longer, 1, {1, 0}, EntryKind::kCell);
  EXPECT_TRUE(in.column().Has(in.input().key()));
  EXPECT_FALSE(in.column().Has(longer));
}

TEST(CollectedColumnTest, TheLaterWriteAtATimestampHidesTheEarlier) {
  ColumnInput in({.name = "f"}, false,
                 {"r/f:q@2#9 cell", "r/f:q@2#5 delete-cell", "r/f:q@1#7 cell"});
  EXPECT_EQ(in.column().HiderOf(in.version()), CollectedColumn::kNever);
  EXPECT_FALSE(in.column().is_overwritten());
  in.Next();
  EXPECT_EQ(in.column().HiderOf(in.version()), (EntryVersion{9, 0}));
  EXPECT_TRUE(in.column().is_overwritten());
  // Another timestamp is another cell.
  in.Next();
  EXPECT_EQ(in.column().newer(), EntryVersion{});
  EXPECT_EQ(in.column().HiderOf(in.version()), CollectedColumn::kNever);
}

TEST(CollectedColumnTest, ADeletionIsAWriteThatOverwritesNothing) {
  ColumnInput in({.name = "f"}, false, {"r/f:q@2#9 delete-cell", "r/f:q@2#5 cell"});
  in.Next();
  EXPECT_EQ(in.column().newer(), (EntryVersion{9, 0}));
  EXPECT_FALSE(in.column().is_overwritten());
}

TEST(CollectedColumnTest, ContributionsAndMarksHideNothing) {
  ColumnInput in({.name = "f"}, false,
                 {"r/f:q@2#9 counted-out", "r/f:q@2#7 add-to-cell x", "r/f:q@2#5 add-to-cell y"});
  in.Next();
  EXPECT_EQ(in.column().HiderOf(in.version()), CollectedColumn::kNever);
  in.Next();
  EXPECT_EQ(in.column().HiderOf(in.version()), CollectedColumn::kNever);
}

TEST(CollectedColumnTest, TheFirstOfWiderDeletionsAndWritesHides) {
  ColumnInput in({.name = "f"}, false,
                 {"r(group 0)#8 delete-row", "r/f:#6 delete-family", "r/f:q@2#7 cell",
                  "r/f:q@2#5 cell", "r/f:q@2#1 cell", "s/f:q@1#1 cell"});
  in.Next();
  in.Next();
  EXPECT_EQ(in.column().HiderOf({7, 0}), (EntryVersion{8, 0}));
  in.Next();
  EXPECT_EQ(in.column().HiderOf({5, 0}), (EntryVersion{6, 0}));
  in.Next();
  EXPECT_EQ(in.column().HiderOf({1, 0}), (EntryVersion{5, 0}));
  in.Next();
  EXPECT_EQ(in.column().HiderOf({1, 0}), CollectedColumn::kNever) << "it is in another row";
}

TEST(CollectedColumnTest, ASnapshotBetweenTheTwoSeesAHiddenEntry) {
  ColumnInput in({.name = "f"}, false, {"r/f:q@2#9 cell", "r/f:q@2#5 cell"}, /*snapshots=*/{7});
  const CollectedColumn& column = in.column();
  EXPECT_FALSE(column.IsHiddenFromAll({5, 0}, {9, 0}));
  EXPECT_FALSE(column.IsHiddenFromAll({7, 0}, {9, 0}));
  EXPECT_TRUE(column.IsHiddenFromAll({8, 0}, {9, 0}));
  EXPECT_TRUE(column.IsHiddenFromAll({5, 0}, {7, 0}));
  EXPECT_FALSE(column.IsHiddenFromAll({5, 0}, CollectedColumn::kNever));
  in.Next();
  EXPECT_FALSE(in.column().IsHiddenFromAll(in.version()));
}

TEST(CollectedColumnTest, OnlyAMajorCompactionResolvesAndUpToTheOldestSnapshot) {
  const std::vector<SequenceNumber> snapshots{4, 7};
  ColumnInput major({.name = "f"}, true, {"r/f:q@1#1 cell"}, snapshots);
  EXPECT_TRUE(major.column().Resolves({4, 5}));
  EXPECT_FALSE(major.column().Resolves({5, 0}));
  ColumnInput merging({.name = "f"}, false, {"r/f:q@1#1 cell"}, snapshots);
  EXPECT_FALSE(merging.column().Resolves({1, 0}));
}

}  // namespace
}  // namespace bigtable
