// What the policies of bench/policies/ pick, for runs that are given by their sizes.
#include "bench/policies/paper_policies.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/compaction_policy.h"

#include "bench/policies/fluid.h"
#include "bench/policies/lethe.h"
#include "bench/policies/levels.h"
#include "bench/policies/monkey.h"
#include "bench/policies/partial.h"
#include "support/expect_status.h"

namespace policies {
namespace {

using bigtable::CompactionPick;
using bigtable::FileSummary;
using bigtable::GroupSummary;
using Kind = CompactionPick::Kind;

// Runs of one file each, numbered from 1, from new to old; a flush has 100 bytes.
GroupSummary Group(const std::vector<uint64_t>& bytes) {
  GroupSummary group;
  group.flush_size = 100;
  for (size_t i = 0; i < bytes.size(); ++i) {
    group.runs.push_back(
        {.bytes = bytes[i],
         .files = {{.number = i + 1, .bytes = bytes[i], .smallest_key = "a", .largest_key = "z"}}});
  }
  return group;
}

std::string Text(const std::optional<CompactionPick>& pick) {
  if (!pick.has_value()) return "nothing";
  switch (pick->kind) {
    case Kind::kMerge:
      return absl::StrCat("merge ", pick->first, "+", pick->count);
    case Kind::kPush: {
      std::string text = absl::StrCat("push from ", pick->first, ":");
      for (const uint64_t file : pick->files) absl::StrAppend(&text, " ", file);
      return text;
    }
    case Kind::kWait:
      return absl::StrCat("wait ", absl::FormatDuration(pick->delay));
    case Kind::kDrop:
      return "drop";
  }
  return "another kind";
}

std::string Picks(const FluidShape& shape, const std::vector<uint64_t>& bytes) {
  return Text(Fluid(shape).Pick(Group(bytes)));
}

TEST(LevelsTest, ALevelBeginsAQuarterBelowAPowerOfTheRatio) {
  EXPECT_EQ(LevelOf(0, 100, 10), 0);
  EXPECT_EQ(LevelOf(749, 100, 10), 0);
  EXPECT_EQ(LevelOf(750, 100, 10), 1);
  EXPECT_EQ(LevelOf(7499, 100, 10), 1);
  EXPECT_EQ(LevelOf(7500, 100, 10), 2);
  EXPECT_EQ(LevelOf(150, 100, 2), 1);
}

TEST(LevelsTest, AnOlderRunIsNotInAHigherLevel) {
  const std::vector<Level> levels = LevelsOf(Group({100, 1000, 90, 1000, 8000}), 10);
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].count, 1u);
  EXPECT_EQ(levels[1].first, 1u);
  EXPECT_EQ(levels[1].count, 3u);
  EXPECT_EQ(levels[1].bytes, 2090u);
  EXPECT_EQ(levels[2].number, 2);
}

TEST(FluidTest, TieringMergesTRunsOfALevel) {
  const FluidShape shape = FluidShape::Tiering(4);
  EXPECT_EQ(Picks(shape, {100, 100, 100}), "nothing");
  EXPECT_EQ(Picks(shape, {100, 100, 100, 100}), "merge 0+4");
  EXPECT_EQ(Picks(shape, {100, 400, 400, 400}), "nothing");
  EXPECT_EQ(Picks(shape, {100, 400, 400, 400, 400}), "merge 1+4");
  // The result of the first four is the fourth of the next level: all at once.
  EXPECT_EQ(Picks(shape, {100, 100, 100, 100, 400, 400, 400}), "merge 0+7");
}

TEST(FluidTest, LevelingHasOneRunOfEachLevel) {
  const FluidShape shape = FluidShape::Leveling(10);
  EXPECT_EQ(Picks(shape, {100, 1000}), "nothing");
  EXPECT_EQ(Picks(shape, {100, 300, 1000}), "merge 0+2");
  EXPECT_EQ(Picks(shape, {100, 700, 1000, 8000}), "merge 0+3");
  EXPECT_EQ(Picks(shape, {100, 700, 7000, 8000}), "merge 0+4");
}

TEST(FluidTest, LazyLevelingHasOneLargestRunAndTiersAbove) {
  const FluidShape shape = FluidShape::LazyLeveling(4);
  EXPECT_EQ(Picks(shape, {100, 100, 100, 2000}), "nothing");
  EXPECT_EQ(Picks(shape, {100, 100, 100, 100, 2000}), "merge 0+4");
  EXPECT_EQ(Picks(shape, {400, 400, 400, 2000}), "nothing");
  EXPECT_EQ(Picks(shape, {400, 400, 400, 400, 2000}), "merge 0+5");
}

TEST(FluidTest, WhereTheOldestRunIsNotShownNoLevelIsTheLargest) {
  GroupSummary group = Group({100, 100, 100});
  group.reaches_oldest = false;
  EXPECT_EQ(Text(Fluid({4, 3, 1}).Pick(group)), "nothing");
  group.reaches_oldest = true;
  EXPECT_EQ(Text(Fluid({4, 3, 1}).Pick(group)), "merge 0+3");
}

// The rates of false positives of all levels, weighted by their sizes, have the bits on average.
TEST(MonkeyTest, SmallRunsHaveMoreBits) {
  EXPECT_EQ(MonkeyBits(10, 10, 0), 9);
  EXPECT_EQ(MonkeyBits(10, 10, 1), 14);
  EXPECT_EQ(MonkeyBits(10, 10, 2), 19);
  EXPECT_EQ(MonkeyBits(10, 10, 9), 32);
  EXPECT_EQ(MonkeyBits(1, 2, 0), 1);
  double bits = 0, share = 0.9;
  for (int above = 0; above < 4; ++above, share /= 10) bits += share * MonkeyBits(10, 10, above);
  EXPECT_NEAR(bits, 10, 0.6);
}

TEST(MonkeyTest, AnOutputHasTheBitsOfItsLevel) {
  const auto bits = [](const std::vector<uint64_t>& bytes) {
    return Monkey(std::make_unique<Fluid>(FluidShape::Leveling(10)), 10, 10)
        .Pick(Group(bytes))
        ->output.filter_bits;
  };
  EXPECT_EQ(bits({100, 300, 100'000}), 24);
  EXPECT_EQ(bits({100, 700, 1000, 100'000}), 19);
  EXPECT_EQ(bits({100'000, 700'000}), 9);
}

class PartialTest : public testing::Test {
 protected:
  // Two levels; the upper one is too large.
  static GroupSummary TwoLevels() {
    GroupSummary group = Group({3000, 10'000});
    group.runs[0].files = {{.number = 1,
                            .bytes = 1000,
                            .entries = 10,
                            .deletions = 1,
                            .smallest_key = "a",
                            .largest_key = "c",
                            .min_sequence = 30,
                            .overlap_bytes = 3000},
                           {.number = 2,
                            .bytes = 1000,
                            .entries = 10,
                            .deletions = 5,
                            .smallest_key = "d",
                            .largest_key = "f",
                            .min_sequence = 20,
                            .overlap_bytes = 5000},
                           {.number = 3,
                            .bytes = 1000,
                            .entries = 10,
                            .deletions = 0,
                            .smallest_key = "g",
                            .largest_key = "i",
                            .min_sequence = 10,
                            .overlap_bytes = 4000}};
    return group;
  }
  static std::string Chosen(FileChoice choice, const GroupSummary& group) {
    return Text(PartialLeveling(10, choice).Pick(group));
  }
};

TEST_F(PartialTest, EachChoiceTakesItsFile) {
  EXPECT_EQ(Chosen(FileChoice::kLeastOverlap, TwoLevels()), "push from 0: 1");
  EXPECT_EQ(Chosen(FileChoice::kMostDeleted, TwoLevels()), "push from 0: 2");
  EXPECT_EQ(Chosen(FileChoice::kOldest, TwoLevels()), "push from 0: 3");
}

TEST_F(PartialTest, RoundRobinGoesOnWhereItWasAlsoAfterARestart) {
  GroupSummary group = TwoLevels();
  std::string order;
  for (int i = 0; i < 4; ++i) {
    PartialLeveling policy(10, FileChoice::kRoundRobin);
    const std::optional<CompactionPick> pick = policy.Pick(group);
    ASSERT_TRUE(pick.has_value());
    absl::StrAppend(&order, pick->files[0], " ");
    group.state = *pick->state;
  }
  EXPECT_EQ(order, "1 2 3 1 ");
}

TEST_F(PartialTest, FreshRunsAreMerged) {
  EXPECT_EQ(Text(PartialLeveling(10, FileChoice::kOldest).Pick(Group({100, 100, 400, 400}))),
            "merge 0+4");
  EXPECT_EQ(Text(PartialLeveling(10, FileChoice::kOldest).Pick(Group({100, 100, 400, 4000}))),
            "nothing");
}

TEST(LetheTest, TheDeadlineIsDividedByTheSizesOfTheLevels) {
  const absl::Duration hour = absl::Hours(1);
  const auto seconds = [&](size_t run, size_t runs) {
    return absl::ToDoubleSeconds(Lethe::MostAge(hour, 10, run, runs));
  };
  EXPECT_NEAR(seconds(0, 2), 3600, 1e-6);
  EXPECT_NEAR(seconds(0, 3), 3600.0 / 11, 1e-6);
  EXPECT_NEAR(seconds(1, 3), 3600, 1e-6);
  EXPECT_NEAR(seconds(1, 4), 3600.0 * 11 / 111, 1e-6);
}

TEST(LetheTest, FilesWithOldDeletionsArePushedAndOthersAreWaitedFor) {
  const absl::Time now = absl::FromUnixSeconds(100'000);
  GroupSummary group = Group({1000, 100'000});
  group.now = now;
  group.runs[0].files = {
      {.number = 1, .bytes = 300, .deletions = 1, .oldest_deletion = now - absl::Minutes(61)},
      {.number = 2, .bytes = 300, .deletions = 1, .oldest_deletion = now - absl::Minutes(50)},
      {.number = 3, .bytes = 300, .deletions = 1, .oldest_deletion = now - absl::Minutes(60)},
      {.number = 4, .bytes = 300, .deletions = 0}};
  Lethe policy(std::make_unique<Fluid>(FluidShape::Leveling(10)), absl::Hours(1), 10);
  EXPECT_EQ(Text(policy.Pick(group)), "push from 0: 1 3");
  group.now = now - absl::Minutes(5);
  EXPECT_EQ(Text(policy.Pick(group)), "wait 4m");
  group.runs[0].files = {{.number = 4, .bytes = 300, .deletions = 0}};
  EXPECT_EQ(Text(policy.Pick(group)), "nothing");
  // Deletions of the oldest run hide nothing.
  group.runs.erase(group.runs.begin());
  group.runs[0].files[0].deletions = 1;
  group.runs[0].files[0].oldest_deletion = now - absl::Hours(9);
  EXPECT_EQ(Text(policy.Pick(group)), "nothing");
}

TEST(PaperPoliciesTest, ParametersAreInTheName) {
  for (const char* name : {"fluid(K=2/Z=1)", "monkey(bits=5)", "lethe(minutes=30)", "fluid(Z=3)"}) {
    EXPECT_OK(RegisterPaperPolicy(name)) << name;
    EXPECT_OK(bigtable::MakeCompactionPolicy(name)) << name;
  }
  for (const char* name :
       {"", "(K=1)", "fluid(", "fluid(K)", "fluid(K=)", "fluid(K=x)", "fluid(K=1/K=2)", "fluid(=1)",
        "fluid(K=0)", "fluid(K=100)", "fluid(T=3)", "tiering(K=1)", "unknown", "fluid(K=1/)"}) {
    EXPECT_EQ(RegisterPaperPolicy(name).code(), absl::StatusCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(RegisterPaperPolicy("fluid(K=100)").message(), "fluid: K must be 1 to 99, and is 100");
}

// What is in the name is what the policy does.
TEST(PaperPoliciesTest, ParametersDecideWhatIsPicked) {
  ASSERT_OK(RegisterPaperPolicy("fluid(K=1/Z=1)"));
  ASSERT_OK(RegisterPaperPolicy("fluid(K=9/Z=9)"));
  bigtable::GroupSummary group;
  group.flush_size = 100;
  for (int i = 0; i < 3; ++i) group.runs.push_back({.bytes = 100});
  EXPECT_TRUE((*bigtable::MakeCompactionPolicy("fluid(K=1/Z=1)"))->Pick(group).has_value());
  EXPECT_FALSE((*bigtable::MakeCompactionPolicy("fluid(K=9/Z=9)"))->Pick(group).has_value());
}

}  // namespace
}  // namespace policies
