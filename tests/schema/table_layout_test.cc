// Layouts of tables: which past rules they keep, and what a held rule collects. Their bytes are in
// format_test.cc.

#include "schema/table_layout.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace bigtable {
namespace {

const GcRule kAll;
GcRule Seconds(int64_t seconds) { return GcRule::MaxAge(absl::Seconds(seconds)); }
absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(seconds); }
int64_t Micros(int64_t seconds) { return absl::ToUnixMicros(At(seconds)); }

TEST(TableLayoutTest, KeepsEachPastNumberOfVersions) {
  FamilyLayout family;
  family.ChangeRule(GcRule::MaxVersions(3), 10, At(0));
  family.ChangeRule(GcRule::MaxVersions(1), 20, At(0));
  family.ChangeRule(GcRule::Union(GcRule::MaxVersions(1), Seconds(5)), 30, At(0));
  family.ChangeRule(kAll, 40, At(100));
  EXPECT_EQ(family.past.versions,
            (std::vector<PastRules::Versions>{{10, kAllVersions}, {20, 3}, {40, 1}}));
  EXPECT_EQ(family.past.ages, (std::vector<PastRules::Age>{{40, Micros(95)}}));
  EXPECT_EQ(family.past.last_change(), 40u);
  EXPECT_EQ(family.past.LoosenedBefore(kAllVersions), 40u);
  EXPECT_EQ(family.past.LoosenedBefore(2), 40u);
  EXPECT_EQ(family.past.LoosenedBefore(1), 0u);
}

TEST(TableLayoutTest, KeepsWhatAPastRuleOfVersionsAndAgesHadCollected) {
  const GcRule first = GcRule::Intersection(GcRule::MaxVersions(3), Seconds(10));
  const GcRule second = GcRule::Union(first, GcRule::MaxVersions(9));
  FamilyLayout family;
  family.ChangeRule(first, 10, At(0));
  family.ChangeRule(second, 20, At(100));
  family.ChangeRule(GcRule::Union(second, Seconds(70)), 30, At(200));
  using Past = std::vector<PastRules::Versions>;
  EXPECT_EQ(family.past.versions, (Past{{10, {}}, {20, {3, {{3, Micros(90)}}}}}));
  family.ChangeRule(kAll, 40, At(300));
  EXPECT_EQ(family.past.versions.back(),
            (PastRules::Versions{40, {9, {{3, Micros(290)}, {9, kEveryTimestamp}}}}));
  EXPECT_EQ(family.past.LoosenedBefore(1), 40u);
}

TEST(TableLayoutTest, KeepsAPastAgeOnlyIfTheNextOneIsLonger) {
  FamilyLayout family;
  family.ChangeRule(Seconds(10), 10, At(1000));
  family.ChangeRule(Seconds(5), 20, At(1000));
  EXPECT_TRUE(family.past.empty());
  family.ChangeRule(Seconds(900), 30, At(1000));
  EXPECT_EQ(family.past.ages, (std::vector<PastRules::Age>{{30, Micros(995)}}));
  family.ChangeRule(kAll, 40, At(1000));  // later, but it has collected less
  EXPECT_EQ(family.past.ages, (std::vector<PastRules::Age>{{30, Micros(995)}, {40, Micros(100)}}));
  family.ChangeRule(Seconds(1), 50, At(1000));
  family.ChangeRule(kAll, 60, At(1000));  // more than both before
  EXPECT_EQ(family.past.ages, (std::vector<PastRules::Age>{{60, Micros(999)}}));
  EXPECT_TRUE(family.past.HasExpired(59, Micros(999) - 1));
  EXPECT_FALSE(family.past.HasExpired(59, Micros(999)));
  EXPECT_FALSE(family.past.HasExpired(60, 0));
  EXPECT_EQ(family.SuspectBefore(At(1000)), Micros(999));
}

// This includes a file whose entries are all older than the age.
TEST(TableLayoutTest, NothingExpiresInAFamilyThatIsHeld) {
  TableLayout layout;
  layout.groups.push_back({.id = 0, .name = "default", .options = {}});
  layout.families.push_back({.name = "f", .group_id = 0, .gc = Seconds(1)});
  EXPECT_EQ(layout.RetentionOf(0, At(10)).families[0].min_timestamp, Micros(9));
  layout.families[0].held = true;
  EXPECT_TRUE(layout.RetentionOf(0, At(10)).held);
  EXPECT_EQ(layout.RetentionOf(0, At(10)).families[0].min_timestamp,
            std::numeric_limits<int64_t>::min());
  EXPECT_TRUE(layout.EndHolds());
  EXPECT_FALSE(layout.RetentionOf(0, At(10)).held);
  EXPECT_FALSE(layout.EndHolds());
}

}  // namespace
}  // namespace bigtable
