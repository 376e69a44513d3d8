// What a major compaction makes of a column with counted versions, entry by entry.
#include "compaction/resolved_versions.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "compaction/column_input.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

std::string VerdictText(EntryVerdict verdict, EntryVersion version) {
  switch (verdict) {
    case EntryVerdict::kKeep:
      return "keep";
    case EntryVerdict::kMark:
      return "mark#" + std::to_string(version.sequence);
    case EntryVerdict::kShadow:
      return "shadow";
    case EntryVerdict::kGhost:
      return "ghost#" + std::to_string(version.sequence);
    case EntryVerdict::kDrop:
      return "drop";
    case EntryVerdict::kMarkedShadow:
      return "what only a filter does";
  }
  return "?";
}

RetainedFamily Keeping(VersionLimits limits) {
  return {.name = "f", .versions = std::move(limits)};
}

struct ResolvedColumn {
  ResolvedColumn(RetainedFamily family, const std::vector<std::string>& lines,
                 std::vector<SequenceNumber> snapshots = {}, PaidInput::Pay pay = nullptr)
      : in(std::move(family), /*major=*/true, lines, std::move(snapshots), std::move(pay)),
        versions(&in.column(), &in.input()) {
    versions.EnterColumn();
    versions.EnterTimestamp();
  }
  std::string Judge() {
    const std::string here = in.here();
    const EntryVerdict verdict = versions.Judge(in.kind(), in.version());
    EXPECT_TRUE(!in.input().valid() || in.here() == here) << "a look-ahead returns";
    return VerdictText(verdict, versions.written_version());
  }
  void Next() {
    const int64_t timestamp = in.column().timestamp();
    in.Next();
    if (in.column().timestamp() != timestamp) versions.EnterTimestamp();
  }
  // The verdict on each entry, a word for each.
  std::string JudgeAll() {
    std::string out;
    for (; in.input().valid(); Next()) {
      if (!HasTimestamp(in.kind())) continue;
      if (!out.empty()) out += " ";
      out += Judge();
    }
    return out;
  }

  ColumnInput in;
  ResolvedVersions versions;
};

TEST(ResolvedVersionsTest, TheNewestCellsStay) {
  ResolvedColumn column(Keeping({2}), {"r/f:q@3#3 cell", "r/f:q@2#2 cell", "r/f:q@1#1 cell"});
  EXPECT_EQ(column.JudgeAll(), "keep keep drop");
  EXPECT_FALSE(column.versions.has_traces());
}

TEST(ResolvedVersionsTest, TheLastWriteAtATimestampDecides) {
  ResolvedColumn column(Keeping({2}), {"r/f:q@3#5 cell", "r/f:q@3#4 cell", "r/f:q@3#3 cell"});
  EXPECT_EQ(column.JudgeAll(), "keep drop drop");
}

TEST(ResolvedVersionsTest, ACellThatEndedAfterOneThatStaysWasWrittenLeavesAGhost) {
  // At 4 the cell at 3 was deleted, and until then it counted against the one at 1.
  ResolvedColumn column(Keeping({2}),
                        {"r/f:q@3#4 delete-cell", "r/f:q@3#3 cell", "r/f:q@1#1 cell"});
  EXPECT_EQ(column.JudgeAll(), "ghost#4 drop keep");
  EXPECT_TRUE(column.versions.has_traces());
}

TEST(ResolvedVersionsTest, ACellThatEndedBeforeLeavesNothing) {
  ResolvedColumn column(Keeping({2}),
                        {"r/f:q@3#2 delete-cell", "r/f:q@3#1 cell", "r/f:q@1#4 cell"});
  EXPECT_EQ(column.JudgeAll(), "drop drop keep");
  EXPECT_FALSE(column.versions.has_traces());
}

TEST(ResolvedVersionsTest, ACellThatADeletedOneHasPushedOutIsDropped) {
  ResolvedColumn column(Keeping({1}),
                        {"r/f:q@3#4 delete-cell", "r/f:q@3#3 cell", "r/f:q@1#1 cell"});
  EXPECT_EQ(column.JudgeAll(), "drop drop drop");
}

TEST(ResolvedVersionsTest, WiderDeletionsEndCells) {
  ResolvedColumn column(Keeping({2}),
                        {"r/f:q#3 delete-column", "r/f:q@3#2 cell", "r/f:q@2#4 cell"});
  EXPECT_EQ(column.JudgeAll(), "drop keep");
}

TEST(ResolvedVersionsTest, AColumnIsNotReplayedWithWhatTheOneBeforeLeft) {
  ResolvedColumn column(Keeping({2}), {"r/f:p@3#4 delete-cell", "r/f:p@3#3 cell", "r/f:p@1#1 cell",
                                       "r/f:q@3#1 cell"});
  for (int i = 0; i < 3; ++i) {
    column.Judge();
    column.Next();
  }
  EXPECT_TRUE(column.versions.has_traces());
  column.versions.EnterColumn();
  column.versions.EnterTimestamp();
  EXPECT_FALSE(column.versions.has_traces());
  EXPECT_EQ(column.JudgeAll(), "keep");
}

TEST(ResolvedVersionsTest, ARuleWithAgesKeepsAShadowOfAnOldCellThatCounts) {
  const VersionLimits limits{
      .most = 2, .by_age = {{.newer = 1, .min_timestamp = 3}, {.newer = 2, .min_timestamp = 4}}};
  ResolvedColumn column(Keeping(limits), {"r/f:q@5#5 cell", "r/f:q@2#2 cell", "r/f:q@1#1 cell"});
  EXPECT_EQ(column.JudgeAll(), "keep shadow drop");
}

TEST(ResolvedVersionsTest, ACellThatWasCountedOutBeforeAnOlderOneWasWrittenIsMarked) {
  const VersionLimits limits{.most = 1, .by_age = {{.newer = 1, .min_timestamp = 1}}};
  // The cell at 3 was counted out at 3, and the one at 2 was written after it.
  ResolvedColumn column(Keeping(limits), {"r/f:q@5#6 delete-cell", "r/f:q@5#3 cell",
                                          "r/f:q@3#2 cell", "r/f:q@2#7 cell"});
  EXPECT_EQ(column.JudgeAll(), "ghost#6 drop mark#3 keep");
  EXPECT_TRUE(column.versions.has_traces());
}

TEST(ResolvedVersionsTest, AShadowThatNothingIsBehindIsDropped) {
  ResolvedColumn last(Keeping({2}), {"r/f:q@3#3 shadow"});
  EXPECT_EQ(last.JudgeAll(), "drop");
  ResolvedColumn with_older(Keeping({2}), {"r/f:q@3#3 shadow", "r/f:q@2#2 cell"});
  EXPECT_EQ(with_older.JudgeAll(), "shadow keep");
  ResolvedColumn with_unread(Keeping({2}), {"r/f:q@3#3 shadow"});
  with_unread.in.retention().has_unread_older = [](std::string_view, int64_t timestamp) {
    return timestamp == 3;
  };
  EXPECT_EQ(with_unread.JudgeAll(), "shadow");
}

TEST(ResolvedVersionsTest, TheFirstContributionThatIsAPartOfTheCell) {
  ResolvedColumn column(
      Keeping({2}), {"r/f:q@3#6 add-to-cell", "r/f:q@3#4 delete-cell", "r/f:q@3#2 add-to-cell"});
  EXPECT_EQ(column.Judge(), "keep");
  EXPECT_EQ(column.versions.first(), EntryVersion{}) << "nothing was replayed";

  ResolvedColumn replayed(
      Keeping({2}), {"r/f:q@4#7 delete-cell", "r/f:q@3#6 add-to-cell", "r/f:q@3#5 add-to-cell",
                     "r/f:q@3#4 delete-cell", "r/f:q@3#2 add-to-cell"});
  EXPECT_EQ(replayed.Judge(), "drop");
  replayed.Next();
  EXPECT_EQ(replayed.Judge(), "keep");
  EXPECT_EQ(replayed.versions.first(), (EntryVersion{5, 0}));
}

TEST(ResolvedVersionsTest, ARemovedCellCountsAgainstOlderOnes) {
  ResolvedColumn column(Keeping({2}), {"r/f:q@3#3 cell", "r/f:q@2#2 cell", "r/f:q@1#1 cell"});
  EXPECT_EQ(column.Judge(), "keep");
  EXPECT_TRUE(column.versions.CountsAgainstOlder());
  column.Next();
  EXPECT_EQ(column.Judge(), "keep");
  EXPECT_FALSE(column.versions.CountsAgainstOlder()) << "it is the last that the rule keeps";
  column.in.retention().has_unread_older = [](std::string_view, int64_t) { return true; };
  EXPECT_TRUE(column.versions.CountsAgainstOlder());

  ResolvedColumn alone(Keeping({2}), {"r/f:q@3#3 cell"});
  EXPECT_EQ(alone.Judge(), "keep");
  EXPECT_FALSE(alone.versions.CountsAgainstOlder());
}

TEST(ResolvedVersionsTest, PastRulesCountUntilTheirChange) {
  // Under the rule before 10, the cell at 1 was pushed out.
  RetainedFamily family = Keeping({3});
  family.past.EndVersions({1}, 10);
  ResolvedColumn column(family, {"r/f:q@3#3 cell", "r/f:q@1#1 cell"});
  column.in.retention().complete_through = 20;
  EXPECT_EQ(column.JudgeAll(), "keep drop");
}

TEST(ResolvedVersionsTest, AReplayCanBeCancelled) {
  std::vector<std::string> lines{"r/f:q@1000#1000 delete-cell"};
  for (int i = 1; i <= 600; ++i) {
    lines.push_back("r/f:q@" + std::to_string(i) + "#" + std::to_string(i) + " cell");
  }
  ResolvedColumn column(Keeping({5}), lines, {},
                        [](uint64_t) { return absl::CancelledError("enough"); });
  column.Judge();
  EXPECT_FALSE(column.in.input().valid());
  EXPECT_STATUS(kCancelled, "enough", column.in.input().status());
}

}  // namespace
}  // namespace bigtable
