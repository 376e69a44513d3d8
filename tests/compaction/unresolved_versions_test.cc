// What a merging compaction keeps of a column with counted versions, entry by entry.
#include "compaction/unresolved_versions.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "compaction/column_input.h"

namespace bigtable {
namespace {

const char* TextOf(EntryVerdict verdict) {
  switch (verdict) {
    case EntryVerdict::kKeep:
      return "keep";
    case EntryVerdict::kShadow:
      return "shadow";
    case EntryVerdict::kDrop:
      return "drop";
    default:
      return "what only a major compaction does";
  }
}

// The verdict on each entry of a column, a word for each; "-" for a deletion that is wider than a
// cell, which is not judged here.
std::string Unresolved(RetainedFamily family, const std::vector<std::string>& lines,
                       std::vector<SequenceNumber> snapshots = {}) {
  family.name = "f";
  ColumnInput in(std::move(family), /*major=*/false, lines, std::move(snapshots));
  UnresolvedVersions versions(&in.column());
  versions.EnterColumn();
  std::string out;
  std::optional<int64_t> timestamp;
  for (; in.input().valid(); in.Next()) {
    if (!out.empty()) out += " ";
    if (!HasTimestamp(in.kind())) {
      out += "-";
      continue;
    }
    if (timestamp != in.column().timestamp()) versions.EnterTimestamp();
    timestamp = in.column().timestamp();
    const bool hidden = in.column().IsHiddenFromAll(in.version());
    out += TextOf(versions.Judge(in.kind(), in.version(), hidden));
  }
  return out;
}

TEST(UnresolvedVersionsTest, CellsWithEnoughNewerVersionsAreDropped) {
  EXPECT_EQ(Unresolved({.versions = {2}},
                       {"r/f:q@4#4 cell", "r/f:q@3#3 cell", "r/f:q@2#2 cell", "r/f:q@1#1 cell"}),
            "keep keep drop drop");
}

TEST(UnresolvedVersionsTest, OnlyVersionsThatWereWrittenLaterCount) {
  // The cell at 1 was written last, so nothing newer has existed since.
  EXPECT_EQ(Unresolved({.versions = {2}}, {"r/f:q@3#1 cell", "r/f:q@2#2 cell", "r/f:q@1#3 cell"}),
            "keep keep keep");
  // Of the newer ones, the two that were written last count.
  EXPECT_EQ(Unresolved({.versions = {2}},
                       {"r/f:q@4#1 cell", "r/f:q@3#5 cell", "r/f:q@2#4 cell", "r/f:q@1#3 cell"}),
            "keep keep keep drop");
}

TEST(UnresolvedVersionsTest, ASnapshotKeepsWhatItSees) {
  const std::vector<std::string> cells{"r/f:q@3#3 cell", "r/f:q@2#2 cell", "r/f:q@1#1 cell"};
  EXPECT_EQ(Unresolved({.versions = {2}}, cells, {2}), "keep keep keep");
  EXPECT_EQ(Unresolved({.versions = {2}}, cells, {3}), "keep keep drop");
}

TEST(UnresolvedVersionsTest, AfterADeletionNothingIsDropped) {
  EXPECT_EQ(Unresolved({.versions = {2}}, {"r/f:q@4#5 delete-cell", "r/f:q@4#4 cell",
                                           "r/f:q@3#3 cell", "r/f:q@2#2 cell", "r/f:q@1#1 cell"}),
            "keep shadow keep keep keep");
  EXPECT_EQ(
      Unresolved({.versions = {1}}, {"r/f:q#1 delete-column", "r/f:q@3#4 cell", "r/f:q@2#3 cell"}),
      "- keep keep");
  EXPECT_EQ(Unresolved({.versions = {1}}, {"r/f:q@3#4 shadow", "r/f:q@2#3 cell", "r/f:q@1#2 cell"}),
            "keep keep keep");
}

TEST(UnresolvedVersionsTest, AnOverwrittenCellLeavesAShadowUnlessOneVersionIsKept) {
  const std::vector<std::string> cells{"r/f:q@3#4 cell", "r/f:q@3#3 cell"};
  EXPECT_EQ(Unresolved({.versions = {2}}, cells), "keep shadow");
  EXPECT_EQ(Unresolved({.versions = {1}}, cells), "keep drop");
  // What was deleted, and not overwritten, leaves one under any rule.
  EXPECT_EQ(Unresolved({.versions = {1}}, {"r/f:q@3#4 delete-cell", "r/f:q@3#3 cell"}),
            "keep shadow");
}

TEST(UnresolvedVersionsTest, ContributionsToACellCountOnceAndNotAgainstEachOther) {
  EXPECT_EQ(Unresolved({.versions = {1}},
                       {"r/f:q@3#6 add-to-cell", "r/f:q@3#5 add-to-cell", "r/f:q@2#4 add-to-cell"}),
            "keep keep drop");
  // The cell was written with the last of them.
  EXPECT_EQ(Unresolved({.versions = {1}}, {"r/f:q@3#6 add-to-cell", "r/f:q@3#1 add-to-cell",
                                           "r/f:q@2#7 add-to-cell", "r/f:q@1#4 add-to-cell"}),
            "keep keep keep drop");
}

TEST(UnresolvedVersionsTest, OnlyEntriesAfterTheLastChangeOfTheRuleCount) {
  RetainedFamily family{.versions = {1}};
  family.past.EndVersions({2}, 10);
  EXPECT_EQ(Unresolved(family, {"r/f:q@3#9 cell", "r/f:q@2#8 cell"}), "keep keep");
  EXPECT_EQ(Unresolved(family, {"r/f:q@3#11 cell", "r/f:q@2#8 cell"}), "keep drop");
}

TEST(UnresolvedVersionsTest, AfterARuleThatCountedNothingIsCounted) {
  RetainedFamily family;
  family.past.EndVersions({2}, 10);
  // The present rule counts no versions, so that what was written under it leaves no shadow.
  EXPECT_EQ(Unresolved(family, {"r/f:q@3#12 cell", "r/f:q@3#11 cell", "r/f:q@3#9 cell"}),
            "keep drop shadow");
}

TEST(UnresolvedVersionsTest, ARuleWithAgesDropsOnlyWhatIsOld) {
  VersionLimits limits{.most = 1, .by_age = {{.newer = 1, .min_timestamp = 2}}};
  EXPECT_EQ(
      Unresolved({.versions = limits}, {"r/f:q@3#3 cell", "r/f:q@2#2 cell", "r/f:q@1#1 cell"}),
      "keep keep drop");
}

}  // namespace
}  // namespace bigtable
