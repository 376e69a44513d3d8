// Which contributions to a cell a compaction merges into one entry.
#include "compaction/merged_contributions.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "compaction/column_input.h"
#include "support/expect_status.h"
#include "support/model_aggregates.h"

namespace bigtable {
namespace {

RetainedFamily Concatenating(VersionLimits limits = {}) {
  return {.name = "f",
          .versions = std::move(limits),
          .aggregate = Aggregate::Of(ValueType::kBytes, kConcatenation)};
}

// The entry that is made of the first ones, and where the input is after it.
struct Merged {
  Merged(ColumnInput* in, EntryVersion first = {}) {
    MergedContributions contributions(&in->column(), &in->input());
    contributions.EnterColumn();
    std::string key;
    ok = contributions.Merge(in->kind(), in->version(), first, &key);
    entry = EntryText(key, contributions.state());
    next = in->here();
  }
  bool ok;
  std::string entry;
  std::string next;
};

TEST(MergedContributionsTest, ASingleOneStaysAsItIs) {
  ColumnInput in(Concatenating(), false, {"r/f:q@2#5 add-to-cell a", "r/f:q@1#3 add-to-cell b"});
  const Merged merged(&in);
  EXPECT_TRUE(merged.ok);
  EXPECT_EQ(merged.entry, "r/f:q@2#5.0 add-to-cell a");
  EXPECT_EQ(merged.next, "r/f:q@1#3.0 add-to-cell b") << "another timestamp is another cell";
}

TEST(MergedContributionsTest, SeveralGiveOneStateWithTheVersionOfTheNewest) {
  ColumnInput in(Concatenating(), false,
                 {"r/f:q@2#5 add-to-cell c", "r/f:q@2#4 merge-to-cell b", "r/f:q@2#3 add-to-cell a",
                  "r/f:qq@2#2 add-to-cell x"});
  const Merged merged(&in);
  EXPECT_TRUE(merged.ok);
  EXPECT_EQ(merged.entry, "r/f:q@2#5.0 merge-to-cell abc");
  EXPECT_EQ(merged.next, "r/f:qq@2#2.0 add-to-cell x");
}

TEST(MergedContributionsTest, ASnapshotSeparatesThem) {
  ColumnInput in(Concatenating(), false,
                 {"r/f:q@2#5 add-to-cell c", "r/f:q@2#4 add-to-cell b", "r/f:q@2#3 add-to-cell a"},
                 /*snapshots=*/{3});
  const Merged merged(&in);
  EXPECT_EQ(merged.entry, "r/f:q@2#5.0 merge-to-cell bc");
  EXPECT_EQ(merged.next, "r/f:q@2#3.0 add-to-cell a");
}

TEST(MergedContributionsTest, ADeletionSeparatesThem) {
  ColumnInput in(Concatenating(), false,
                 {"r/f:q#4 delete-column", "r/f:q@2#5 add-to-cell c", "r/f:q@2#3 add-to-cell a"});
  in.Next();
  const Merged merged(&in);
  EXPECT_EQ(merged.entry, "r/f:q@2#5.0 add-to-cell c");
  EXPECT_EQ(merged.next, "r/f:q@2#3.0 add-to-cell a");
}

TEST(MergedContributionsTest, AnExpirySeparatesThem) {
  RetainedFamily family = Concatenating();
  family.past.EndAge(/*min_timestamp=*/3, /*change=*/4);
  ColumnInput in(family, false, {"r/f:q@2#5 add-to-cell c", "r/f:q@2#3 add-to-cell a"});
  EXPECT_EQ(Merged(&in).next, "r/f:q@2#3.0 add-to-cell a");
}

TEST(MergedContributionsTest, TheOldestSnapshotSeparatesWhatAMajorCompactionResolves) {
  ColumnInput in(Concatenating(), true, {"r/f:q@2#5 add-to-cell c", "r/f:q@2#3 add-to-cell a"},
                 /*snapshots=*/{4});
  EXPECT_EQ(Merged(&in).next, "r/f:q@2#3.0 add-to-cell a");
}

TEST(MergedContributionsTest, CountedVersionsAreMergedIfNothingIsBetweenThem) {
  const std::vector<std::string> consecutive{"r/f:q@2#5 add-to-cell c", "r/f:q@2#4 add-to-cell a",
                                             "r/f:q@1#3 add-to-cell x"};
  ColumnInput in(Concatenating({3}), false, consecutive);
  EXPECT_EQ(Merged(&in).entry, "r/f:q@2#5.0 merge-to-cell ac");

  const std::vector<std::string> separated{"r/f:q@2#5 add-to-cell c", "r/f:q@2#3 add-to-cell a",
                                           "r/f:q@1#4 add-to-cell x"};
  ColumnInput other(Concatenating({3}), false, separated);
  EXPECT_EQ(Merged(&other).entry, "r/f:q@2#5.0 add-to-cell c");
  EXPECT_EQ(other.here(), "r/f:q@2#3.0 add-to-cell a") << "the look-ahead returns";
  // Nobody counts.
  ColumnInput uncounted(Concatenating(), false, separated);
  EXPECT_EQ(Merged(&uncounted).entry, "r/f:q@2#5.0 merge-to-cell ac");
}

TEST(MergedContributionsTest, AChangeOfTheRuleIsAnEventBetweenThem) {
  RetainedFamily family = Concatenating({3});
  family.past.EndVersions({2}, 5);
  ColumnInput in(family, false, {"r/f:q@2#6 add-to-cell c", "r/f:q@2#4 add-to-cell a"});
  EXPECT_EQ(Merged(&in).entry, "r/f:q@2#6.0 add-to-cell c");
}

TEST(MergedContributionsTest, ResolvedOnesAreMergedDownToTheFirstOfTheCell) {
  ColumnInput in(Concatenating({3}), true,
                 {"r/f:q@2#5 add-to-cell c", "r/f:q@2#3 add-to-cell b", "r/f:q@2#2 add-to-cell a"});
  const Merged merged(&in, /*first=*/{3, 0});
  EXPECT_EQ(merged.entry, "r/f:q@2#5.0 merge-to-cell bc");
  EXPECT_EQ(merged.next, "r/f:q@2#2.0 add-to-cell a");
}

TEST(MergedContributionsTest, WithoutAnOperatorTheyStayUntilTheyAreResolved) {
  const std::vector<std::string> lines{"r/f:q@2#5 add-to-cell c", "r/f:q@2#3 add-to-cell a"};
  const RetainedFamily family{.name = "f"};
  ColumnInput merging(family, false, lines);
  const Merged merged(&merging);
  EXPECT_TRUE(merged.ok);
  EXPECT_EQ(merged.entry, "r/f:q@2#5.0 add-to-cell c");
  ColumnInput major(family, true, lines);
  EXPECT_FALSE(Merged(&major).ok);
  EXPECT_STATUS(kDataLoss, "holds bytes", major.input().status());
}

TEST(MergedContributionsTest, AnErrorOfTheOperatorEndsTheInput) {
  ColumnInput in(Concatenating(), false,
                 {"r/f:q@2#5 add-to-cell c", "r/f:q@2#3 merge-to-cell corrupt"});
  EXPECT_FALSE(Merged(&in).ok);
  EXPECT_FALSE(in.input().valid());
  EXPECT_STATUS(kDataLoss, "corrupt", in.input().status());
}

}  // namespace
}  // namespace bigtable
