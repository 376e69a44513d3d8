// Which picks of a policy are refused, and where the engine's own policies begin to pick.
#include "compaction/pick_check.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "compaction/policies.h"
#include "retention/aggregates.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class PickCheckTest : public testing::Test {
 protected:
  using Kind = CompactionPick::Kind;

  // Runs of one file each, numbered from 1, from new to old.
  static GroupSummary Group(const std::vector<uint64_t>& bytes) {
    GroupSummary group;
    group.flush_size = 100;
    group.expired_before = 50;
    for (size_t i = 0; i < bytes.size(); ++i) {
      RunSummary& run = group.runs.emplace_back();
      run.bytes = bytes[i];
      run.files.push_back({.number = i + 1,
                           .bytes = bytes[i],
                           .smallest_key = "a",
                           .largest_key = "z",
                           .max_timestamp = 100});
    }
    return group;
  }
  static std::string Text(const std::optional<CompactionPick>& pick) {
    if (!pick.has_value()) return "nothing";
    std::string text = pick->kind == Kind::kMerge ? "merge" : "push";
    if (pick->kind == Kind::kDrop) text = "drop";
    text += " " + std::to_string(pick->first) + "+" + std::to_string(pick->count);
    for (const uint64_t file : pick->files) text += " " + std::to_string(file);
    return text;
  }
};

TEST_F(PickCheckTest, AMergeIsOfTwoRunsOrMoreThatThereAre) {
  const GroupSummary group = Group({1, 1, 1});
  const auto check = [&](size_t first, size_t count) {
    return CheckPick(group, {.first = first, .count = count});
  };
  EXPECT_OK(check(0, 2));
  EXPECT_OK(check(0, 3));
  EXPECT_OK(check(1, 2));
  EXPECT_STATUS(kFailedPrecondition, "a merge of no runs", check(0, 0));
  for (const auto& [first, count] : std::vector<std::pair<size_t, size_t>>{
           {2, 2}, {3, 2}, {4, 2}, {1, 3}, {0, 4}, {1, SIZE_MAX}, {SIZE_MAX, 2}}) {
    EXPECT_STATUS(kFailedPrecondition, "there are only 3 runs", check(first, count));
  }
}

TEST_F(PickCheckTest, AMergeOfOneRunIsOfTwoFilesOrMore) {
  GroupSummary group = Group({1, 1});
  group.runs[1].files.push_back({.number = 9});
  const auto check = [&](size_t first, const std::vector<uint64_t>& files,
                         const RowRange& rows = RowRange()) {
    return CheckPick(group, {.first = first, .count = 1, .files = files, .rows = rows});
  };
  EXPECT_OK(check(1, {2, 9}));
  EXPECT_STATUS(kFailedPrecondition, "at least two of its files, and not 0", check(1, {}));
  EXPECT_STATUS(kFailedPrecondition, "at least two of its files, and not 1", check(1, {9}));
  EXPECT_STATUS(kFailedPrecondition, "at least two of its files, and not 1", check(1, {9, 9}));
  EXPECT_STATUS(kFailedPrecondition, "file 1, which is not in run 1", check(1, {1, 2}));
  EXPECT_STATUS(kFailedPrecondition, "there are only 2 runs", check(2, {2, 9}));
  EXPECT_STATUS(kFailedPrecondition, "some rows of one run",
                check(1, {2, 9}, RowRange::StartingAt("b")));
  EXPECT_STATUS(kFailedPrecondition, "by 2 threads",
                CheckPick(group, {.first = 1, .count = 1, .files = {2, 9}, .threads = 2}));
  group.runs[1].files.push_back({.number = 10});
  EXPECT_OK(check(1, {10, 9}));
  EXPECT_STATUS(kFailedPrecondition, "on both sides of file 9", check(1, {2, 10}));
  group.runs[1].files[1].is_full = true;
  EXPECT_STATUS(kFailedPrecondition, "file 9: it is full", check(1, {9, 10}));
}

TEST_F(PickCheckTest, APushIsOfFilesOfARunWithAnotherBelow) {
  const auto check = [](size_t runs, size_t first, const std::vector<uint64_t>& files) {
    return CheckPick(Group(std::vector<uint64_t>(runs, 1)),
                     {.kind = Kind::kPush, .first = first, .files = files});
  };
  EXPECT_OK(check(3, 0, {1}));
  EXPECT_OK(check(3, 1, {2}));
  EXPECT_OK(check(2, 0, {1}));
  EXPECT_STATUS(kFailedPrecondition, "there are only 3 runs", check(3, 2, {3}));
  EXPECT_STATUS(kFailedPrecondition, "there are only 1 runs", check(1, 0, {1}));
  EXPECT_STATUS(kFailedPrecondition, "there are only 0 runs", check(0, 0, {1}));
  EXPECT_STATUS(kFailedPrecondition, "a push of no files", check(3, 0, {}));
  EXPECT_STATUS(kFailedPrecondition, "file 2, which is not in run 0", check(3, 0, {1, 2}));
  EXPECT_STATUS(kFailedPrecondition, "file 2, which is not in run 0", check(3, 0, {2}));
  GroupSummary group = Group({1, 1});
  group.runs[0].files.push_back({.number = 9});
  EXPECT_OK(CheckPick(group, {.kind = Kind::kPush, .first = 0, .files = {1, 9}}));
}

TEST_F(PickCheckTest, ADropIsOfExpiredFiles) {
  GroupSummary group = Group({1, 1, 1});
  group.runs[1].files[0].max_timestamp = 49;
  group.runs[2].files[0].max_timestamp = 50;
  const auto check = [&](const std::vector<uint64_t>& files) {
    return CheckPick(group, {.kind = Kind::kDrop, .files = files});
  };
  EXPECT_OK(check({2}));
  EXPECT_STATUS(kFailedPrecondition, "a drop of no files", check({}));
  EXPECT_STATUS(kFailedPrecondition, "file 1, which has not expired", check({1}));
  EXPECT_STATUS(kFailedPrecondition, "file 3, which has not expired", check({2, 3}));
  EXPECT_STATUS(kFailedPrecondition, "file 9, which has not expired or does not exist", check({9}));
  group.runs[1].files[0].max_timestamp = 100;
  EXPECT_STATUS(kFailedPrecondition, "file 2, which has not expired", check({2}));
}

TEST_F(PickCheckTest, AWaitHasADelayAndLeavesNoState) {
  const GroupSummary group = Group({1, 1});
  EXPECT_OK(CheckPick(group, {.kind = Kind::kWait, .delay = absl::Nanoseconds(1)}));
  EXPECT_STATUS(kFailedPrecondition, "a wait of 0: it must be positive",
                CheckPick(group, {.kind = Kind::kWait}));
  EXPECT_STATUS(kFailedPrecondition, "a wait of -1s",
                CheckPick(group, {.kind = Kind::kWait, .delay = absl::Seconds(-1)}));
  EXPECT_STATUS(kFailedPrecondition, "a wait with a state",
                CheckPick(group, {.kind = Kind::kWait, .delay = absl::Seconds(1), .state = "s"}));
}

TEST_F(PickCheckTest, RowsAreInANewerRunThanTheOldest) {
  GroupSummary group = Group({1, 1, 1});
  const auto set_rows = [&](size_t run, std::string_view first, std::string_view last) {
    group.runs[run].files[0].smallest_key = first;
    group.runs[run].files[0].largest_key = last;
  };
  set_rows(0, "a", "f");
  set_rows(1, "m", "p");
  set_rows(2, "a", "z");
  const auto check = [&](const CompactionPick& pick) { return CheckPick(group, pick); };
  const auto merge = [&](const RowRange& rows, size_t count = 3) {
    return check({.count = count, .rows = rows});
  };
  EXPECT_OK(merge(RowRange::StartingAt("n")));
  EXPECT_OK(merge(RowRange::RightOpen("a", "b")));
  EXPECT_OK(check({.count = 3, .files = {2}, .rows = RowRange::StartingAt("n")}));
  for (const RowRange& rows : {RowRange::RightOpen("g", "h"), RowRange::RightOpen("b", "b")}) {
    EXPECT_STATUS(kFailedPrecondition, "rows that are only in the oldest", merge(rows));
  }
  EXPECT_STATUS(kFailedPrecondition, "rows that are only in the oldest",
                merge(RowRange::StartingAt("n"), 2));
  EXPECT_STATUS(kFailedPrecondition, "rows that are only in the oldest",
                check({.count = 3, .files = {1}, .rows = RowRange::StartingAt("n")}));
  const auto push = [&](const RowRange& rows) {
    return check({.kind = Kind::kPush, .files = {1}, .rows = rows});
  };
  EXPECT_OK(push(RowRange::RightOpen("b", "c")));
  EXPECT_STATUS(kFailedPrecondition, "a push of file 1, which has none of the rows",
                push(RowRange::StartingAt("g")));
  EXPECT_STATUS(
      kFailedPrecondition, "a wait with rows",
      check({.kind = Kind::kWait, .rows = RowRange::StartingAt("a"), .delay = absl::Seconds(1)}));
  group.runs[1].files[0].max_timestamp = 49;
  EXPECT_STATUS(kFailedPrecondition, "a drop of some rows",
                check({.kind = Kind::kDrop, .files = {2}, .rows = RowRange::StartingAt("a")}));
}

TEST_F(PickCheckTest, ReasonsAndStatesAreShort) {
  const GroupSummary group = Group({1, 1});
  const auto check = [&](size_t reason, size_t state) {
    return CheckPick(group, {.first = 0,
                             .count = 2,
                             .reason = std::string(reason, 'r'),
                             .state = std::string(state, 's')});
  };
  EXPECT_OK(check(CompactionPick::kMostReason, CompactionPick::kMostState));
  EXPECT_STATUS(kFailedPrecondition, "a reason of 257 bytes: at most 256",
                check(CompactionPick::kMostReason + 1, 0));
  EXPECT_STATUS(kFailedPrecondition, "a state of 4097 bytes: at most 4096",
                check(0, CompactionPick::kMostState + 1));
}

TEST_F(PickCheckTest, AMergeOfSomeFilesMovesOneOfThem) {
  const GroupSummary group = Group({1, 1, 1});
  const auto check = [&](std::vector<uint64_t> files) {
    return CheckPick(group, {.first = 0, .count = 2, .files = std::move(files)});
  };
  EXPECT_OK(check({1}));
  EXPECT_OK(check({2, 1}));
  EXPECT_STATUS(kFailedPrecondition, "all in the oldest of its runs", check({2}));
  EXPECT_STATUS(kFailedPrecondition, "file 3, which is in none of the 2 runs from run 0 on",
                check({1, 3}));
}

TEST_F(PickCheckTest, ThereIsABoundForThreads) {
  const GroupSummary group = Group({1, 1});
  const auto check = [&](int threads) {
    return CheckPick(group, {.first = 0, .count = 2, .threads = threads});
  };
  EXPECT_OK(check(1));
  EXPECT_OK(check(64));
  EXPECT_STATUS(kFailedPrecondition, "0 threads: 1 to 64", check(0));
  EXPECT_STATUS(kFailedPrecondition, "65 threads: 1 to 64", check(65));
}

TEST_F(PickCheckTest, APickOfAnotherKindIsRefused) {
  EXPECT_STATUS(kFailedPrecondition, "unknown kind 9",
                CheckPick(Group({1, 1}), {.kind = static_cast<Kind>(9)}));
}

// --- Policies at their limits ---

TEST_F(PickCheckTest, FifoDropsFilesWithWideDeletionsOnlyWhenNothingIsLeftToHide) {
  GroupSummary group = Group({1, 1});
  group.reaches_oldest = true;
  for (RunSummary& run : group.runs) {
    run.files[0].max_timestamp = 10;
    run.files[0].has_wide_deletions = true;
  }
  EXPECT_EQ(Text(FifoPolicy().Pick(group)), "drop 0+0 2");
  group.runs[0].files[0].has_wide_deletions = false;
  EXPECT_EQ(Text(FifoPolicy().Pick(group)), "drop 0+0 1 2");
  group.reaches_oldest = false;
  EXPECT_EQ(Text(FifoPolicy().Pick(group)), "drop 0+0 1");
  group.reaches_oldest = true;
  group.runs[1].files.push_back({.number = 3, .bytes = 1, .max_timestamp = 100});
  EXPECT_EQ(Text(FifoPolicy().Pick(group)), "drop 0+0 1");
}

TEST_F(PickCheckTest, SizeTieredMergesAllOnceHalfOfTheBytesMayBeGarbage) {
  GroupSummary group = Group({1, 999});
  group.runs[0].garbage_bytes = 499;
  EXPECT_EQ(Text(SizeTieredPolicy(5).Pick(group)), "nothing");
  group.runs[0].garbage_bytes = 500;
  EXPECT_EQ(Text(SizeTieredPolicy(5).Pick(group)), "merge 0+2");
  group.runs[0].garbage_bytes = 5000;
  EXPECT_EQ(Text(SizeTieredPolicy(5).Pick(group)), "merge 0+2");
  group.runs.pop_back();
  EXPECT_EQ(Text(SizeTieredPolicy(5).Pick(group)), "nothing");
}

TEST_F(PickCheckTest, SizeTieredJoinsRunsUpToTwiceTheAverageOfNewerOnes) {
  const auto pick = [](const std::vector<uint64_t>& bytes, int width) {
    return Text(SizeTieredPolicy(width).Pick(Group(bytes)));
  };
  EXPECT_EQ(pick({10, 20}, 2), "merge 0+2");
  EXPECT_EQ(pick({10, 21}, 2), "nothing");
  EXPECT_EQ(pick({10, 20, 30}, 3), "merge 0+3");
  EXPECT_EQ(pick({10, 20, 31}, 3), "nothing");
  EXPECT_EQ(pick({1, 10, 10, 10}, 3), "merge 1+3");
  EXPECT_EQ(pick({10, 10}, 3), "nothing");
}

TEST_F(PickCheckTest, SizeTieredMergesWhenThereAreTooManyRuns) {
  std::vector<uint64_t> bytes;
  for (int i = 0; i < 20; ++i) bytes.push_back(uint64_t{3} << 2 * i);
  EXPECT_EQ(Text(SizeTieredPolicy(5).Pick(Group(bytes))), "nothing");
  bytes.push_back(uint64_t{3} << 40);
  EXPECT_EQ(Text(SizeTieredPolicy(5).Pick(Group(bytes))), "merge 0+2");
  bytes[10] = bytes[9];
  EXPECT_EQ(Text(SizeTieredPolicy(5).Pick(Group(bytes))), "merge 9+2");
}

TEST_F(PickCheckTest, LeveledMergesFourFreshRuns) {
  const auto pick = [](const std::vector<uint64_t>& bytes) {
    return Text(LeveledPolicy(10).Pick(Group(bytes)));
  };
  EXPECT_EQ(pick({400, 400, 400}), "nothing");
  EXPECT_EQ(pick({400, 400, 400, 400}), "merge 0+4");
  EXPECT_EQ(pick({400, 400, 400, 401}), "nothing");
  EXPECT_EQ(pick({400, 400, 401, 400}), "push 2+2 3");
  EXPECT_EQ(pick({}), "nothing");
}

TEST_F(PickCheckTest, LeveledPushesFromALevelThatIsLargerThanItsPartOfTheNext) {
  const auto pick = [](const std::vector<uint64_t>& bytes) {
    return Text(LeveledPolicy(10).Pick(Group(bytes)));
  };
  EXPECT_EQ(pick({500, 5000}), "nothing");
  EXPECT_EQ(pick({501, 5000}), "push 0+2 1");
  EXPECT_EQ(pick({500, 5010, 50000}), "push 1+2 2");
  EXPECT_EQ(pick({500, 5000, 50000}), "nothing");
  EXPECT_EQ(pick({401, 1000}), "push 0+2 1");  // a level may shrink to the size of fresh runs
}

TEST_F(PickCheckTest, LeveledPushesTheFileWithTheFewestBytesBelow) {
  GroupSummary group = Group({900, 1000});
  group.runs[0].files = {{.number = 1, .bytes = 99, .smallest_key = "a", .largest_key = "c"},
                         {.number = 2, .bytes = 99, .smallest_key = "d", .largest_key = "f"},
                         {.number = 3, .bytes = 299, .smallest_key = "g", .largest_key = "i"}};
  group.runs[1].files = {{.number = 4, .bytes = 100, .smallest_key = "a", .largest_key = "b"},
                         {.number = 5, .bytes = 100, .smallest_key = "c", .largest_key = "c"},
                         {.number = 6, .bytes = 100, .smallest_key = "f", .largest_key = "g"},
                         {.number = 7, .bytes = 100, .smallest_key = "i", .largest_key = "j"}};
  SetOverlaps(&group);
  EXPECT_EQ(group.runs[0].files[0].overlap_bytes, 200u);
  EXPECT_EQ(group.runs[0].files[1].overlap_bytes, 100u);
  EXPECT_EQ(group.runs[0].files[2].overlap_bytes, 200u);
  EXPECT_EQ(group.runs[1].files[0].overlap_bytes, 0u);
  // 200 below 100, 100 below 100, and 200 below 300.
  EXPECT_EQ(Text(LeveledPolicy(10).Pick(group)), "push 0+2 3");
  group.runs[0].files[1].smallest_key = "ca";
  group.runs[0].files[1].largest_key = "e";
  SetOverlaps(&group);
  EXPECT_EQ(Text(LeveledPolicy(10).Pick(group)), "push 0+2 2");
  group.runs[0].files[1].largest_key = "f";
  group.runs[1].files[2].bytes = 60;
  SetOverlaps(&group);
  EXPECT_EQ(Text(LeveledPolicy(10).Pick(group)), "push 0+2 3");
}

// --- Names ---

TEST_F(PickCheckTest, NamesOfPoliciesAndOperatorsArePrintableAndShort) {
  for (const std::string& name : {std::string("a"), std::string("!~"), std::string(64, 'a')}) {
    EXPECT_TRUE(IsPolicyName(name) && IsOperatorName(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string(65, 'a'), std::string("a b"), std::string("a:b"),
        std::string("a\x7f"), std::string("a\x1f"), std::string("\xff")}) {
    EXPECT_FALSE(IsPolicyName(name) || IsOperatorName(name)) << name;
  }
  EXPECT_EQ(NameOf(CompactionStyle::kSizeTiered), "size_tiered");
  EXPECT_EQ(NameOf(CompactionStyle::kLeveled), "leveled");
  EXPECT_EQ(NameOf(CompactionStyle::kFifo), "fifo");
  EXPECT_EQ(NameOf(CompactionStyle::kNone), "none");
}

}  // namespace
}  // namespace bigtable
