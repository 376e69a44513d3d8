// The garbage collection rules of families.
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// The result must not depend on when a flush or a compaction ran. Each step is followed by nothing,
// by a flush, or by a compaction.
class GcRuleTest : public DatabaseFixture, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { Open(); }
  Table* Create(const GcRule& rule) {
    TableSchema schema;
    schema.families["f"] = {.gc = rule};
    return CreateTable("t", schema);
  }
  void Do(Table* table, const RowMutation& mutation) {
    ASSERT_OK(table->Apply(mutation));
    if (GetParam() == "Flush") {
      ASSERT_OK(database_->Flush("t"));
    }
    if (GetParam() == "Compact") {
      ASSERT_OK(database_->Compact("t"));
    }
  }
  void Put(Table* table, int64_t timestamp, std::string_view value) {
    Do(table, RowMutation("r").Set("f:q", Timestamp(timestamp), value));
  }
};
INSTANTIATE_TEST_SUITE_P(After, GcRuleTest, testing::Values("Nothing", "Flush", "Compact"),
                         [](const auto& parameter) { return parameter.param; });

TEST_P(GcRuleTest, WithoutARuleEverythingIsKept) {
  Table* const table = Create(GcRule());
  for (int i = 1; i <= 4; ++i) Put(table, i, "v");

  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@4=v f:q@3=v f:q@2=v f:q@1=v");
}

TEST_P(GcRuleTest, MaxVersionsKeepsTheNewestByTimestampNotByArrival) {
  Table* const table = Create(GcRule::MaxVersions(2));
  for (const int64_t timestamp : {5, 2, 9, 7, 1}) Put(table, timestamp, "v");

  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@9=v f:q@7=v");
}

TEST_P(GcRuleTest, MaxVersionsCountsEachColumnByItself) {
  Table* const table = Create(GcRule::MaxVersions(1));
  Put(table, 1, "q");
  Do(table, RowMutation("r").Set("f:other", Timestamp(2), "other"));
  Do(table, RowMutation("s").Set("f:q", Timestamp(3), "s"));

  EXPECT_EQ(Show(table->ReadRow("r")), "f:other@2=other f:q@1=q");
}

TEST_P(GcRuleTest, MaxVersionsCountsNewerCellsThatWereDeletedLater) {
  Table* const table = Create(GcRule::MaxVersions(2));
  Put(table, 1, "a");
  Put(table, 2, "b");
  Put(table, 3, "c");
  Do(table, RowMutation("r").DeleteCell("f:q", Timestamp(3)));
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@2=b");

  Do(table, RowMutation("r").DeleteCell("f:q", Timestamp(2)));
  EXPECT_EQ(Show(table->ReadRow("r")), "");
}

TEST_P(GcRuleTest, MaxVersionsDoesNotCountCellsDeletedBefore) {
  Table* const table = Create(GcRule::MaxVersions(1));
  Put(table, 9, "deleted");
  Do(table, RowMutation("r").Delete("f:q"));
  Put(table, 1, "written later");

  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@1=written later");
}

TEST_P(GcRuleTest, MaxVersionsCountsARewrittenTimestampOnce) {
  Table* const table = Create(GcRule::MaxVersions(2));
  Put(table, 1, "a");
  Put(table, 2, "b");
  Put(table, 2, "b again");
  Do(table, RowMutation("r").DeleteCell("f:q", Timestamp(2)));
  Put(table, 2, "b once more");

  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@2=b once more f:q@1=a");
}

TEST_P(GcRuleTest, MaxAgeFollowsTheClock) {
  Table* const table = Create(GcRule::MaxAge(absl::Milliseconds(1)));
  clock_.Set(10'000);
  Put(table, 8'999, "too old from the start");
  Put(table, 9'000, "just young enough");
  Put(table, 10'500, "of the future");
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@10500=of the future f:q@9000=just young enough");

  clock_.Set(10'001);
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@10500=of the future");
  clock_.Set(20'000);
  EXPECT_EQ(Show(table->ReadRow("r")), "");
}

TEST_P(GcRuleTest, AUnionCollectsWhatEitherRuleCollects) {
  Table* const table =
      Create(GcRule::Union(GcRule::MaxVersions(2), GcRule::MaxAge(absl::Milliseconds(1))));
  clock_.Set(10'000);
  Put(table, 9'100, "a");
  Put(table, 9'200, "b");
  Put(table, 9'300, "c");
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@9300=c f:q@9200=b");

  clock_.Set(10'250);
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@9300=c");
}

TEST_P(GcRuleTest, AnIntersectionCollectsWhatBothRulesCollect) {
  Table* const table =
      Create(GcRule::Intersection(GcRule::MaxVersions(2), GcRule::MaxAge(absl::Milliseconds(1))));
  clock_.Set(10'000);
  Put(table, 9'100, "a");
  Put(table, 9'200, "b");
  Put(table, 9'300, "c");
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@9300=c f:q@9200=b f:q@9100=a");

  clock_.Set(10'150);  // "a" is too old, and has two newer ones
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@9300=c f:q@9200=b");
  clock_.Set(20'000);
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@9300=c f:q@9200=b");
  Put(table, 9'400, "d");
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@9400=d f:q@9300=c");
}

TEST_P(GcRuleTest, RulesCanBeNested) {
  const GcRule few =
      GcRule::Intersection(GcRule::MaxVersions(1), GcRule::MaxAge(absl::Milliseconds(1)));
  Table* const table = Create(GcRule::Union(few, GcRule::MaxAge(absl::Milliseconds(5))));
  clock_.Set(10'000);
  Put(table, 6'000, "a");
  Put(table, 9'100, "b");
  Put(table, 9'200, "c");
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@9200=c f:q@9100=b");

  clock_.Set(12'000);
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@9200=c");
  clock_.Set(15'000);
  EXPECT_EQ(Show(table->ReadRow("r")), "");
}

TEST_P(GcRuleTest, WhatAnIntersectionCollectedStaysCollectedWhenNewerCellsAreDeleted) {
  Table* const table =
      Create(GcRule::Intersection(GcRule::MaxVersions(1), GcRule::MaxAge(absl::Milliseconds(1))));
  clock_.Set(10'000);
  Put(table, 1'000, "old");
  Put(table, 9'500, "new");
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@9500=new");
  ASSERT_OK(table->Apply(RowMutation("r").DeleteCell("f:q", Timestamp(9'500))));
  EXPECT_EQ(Show(table->ReadRow("r")), "");
  Put(table, 2'000, "written after that");
  EXPECT_EQ(Show(table->ReadRow("r")), "f:q@2000=written after that");
}

TEST_P(GcRuleTest, GarbageCollectionComesBeforeFilters) {
  Table* const table = Create(GcRule::MaxVersions(1));
  Put(table, 1, "old");
  Put(table, 2, "new");

  EXPECT_EQ(Show(table->ReadRow("r", Filter::TimestampRange(Timestamp(0), Timestamp(2)))), "");
  EXPECT_EQ(Show(table->ReadRow("r", Filter::ValueRegex("old"))), "");
}

TEST(GcRuleFormTest, RulesThatDropTheSameAreEqual) {
  const auto versions = [](int64_t n) { return GcRule::MaxVersions(n); };
  const auto hours = [](int n) { return GcRule::MaxAge(absl::Hours(n)); };
  using R = GcRule;
  EXPECT_EQ(R::Intersection(versions(2), versions(5)), versions(5));
  EXPECT_EQ(R::Intersection(hours(2), hours(5)), hours(5));
  EXPECT_EQ(R::Intersection(versions(2), R()), R());
  EXPECT_EQ(R::Union(versions(2), R()), versions(2));
  EXPECT_EQ(R::Union(R::Intersection(versions(2), hours(1)), versions(2)), versions(2));
  EXPECT_EQ(R::Intersection(R::Union(versions(2), hours(9)), R::Union(versions(5), hours(1))),
            R::Union(R::Union(versions(5), hours(9)), R::Intersection(versions(2), hours(1))));
  const R both = R::Union(R::Intersection(versions(3), hours(4)), versions(7));
  ASSERT_EQ(both.steps().size(), 2u);
  EXPECT_EQ(both.steps()[0], (R::Step{3, absl::Hours(4)}));
  EXPECT_EQ(both.max_versions(), 7);
  EXPECT_EQ(both.max_age(), std::nullopt);
}

TEST(GcRuleUnionTest, TakesTheStricterOfTwoRulesOfAKind) {
  const GcRule rule =
      GcRule::Union(GcRule::Union(GcRule::MaxVersions(5), GcRule::MaxVersions(3)),
                    GcRule::Union(GcRule::MaxAge(absl::Hours(1)), GcRule::MaxAge(absl::Hours(2))));

  EXPECT_EQ(rule.max_versions(), 3);
  EXPECT_EQ(rule.max_age(), absl::Hours(1));
  EXPECT_EQ(GcRule::Union(GcRule(), GcRule()), GcRule());
}

}  // namespace
}  // namespace bigtable
