// Layouts of tables: which past rules they keep, and what a held rule collects. Their bytes are in
// format_test.cc.

#include "schema/table_layout.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"

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

TEST(TableLayoutTest, FamiliesAreFoundByTheirNames) {
  TableLayout layout;
  for (const std::string name : {"d", "b", "f", "ba"}) layout.AddFamily(name, 0, {}, 0);
  for (size_t i = 1; i < layout.families.size(); ++i) {
    EXPECT_LT(layout.families[i - 1].name, layout.families[i].name);
  }
  const auto check = [&] {
    for (const std::string name : {"b", "ba", "d", "f"}) {
      ASSERT_NE(layout.FindFamily(name), nullptr) << name;
      EXPECT_EQ(layout.FindFamily(name)->name, name);
      const FamilyLayout* const before = layout.FamilyBefore(name + std::string("\0q", 2));
      ASSERT_NE(before, nullptr) << name;
      EXPECT_EQ(before->name, name);
    }
    for (const std::string name : {"", "a", "c", "e", "z", "bb"}) {
      EXPECT_EQ(layout.FindFamily(name), nullptr) << name;
      EXPECT_EQ(layout.FamilyBefore(name + std::string("\0q", 2)), nullptr) << name;
    }
  };
  check();
  layout.AddFamily("g", 0, {}, 0);  // more than few
  check();
}

TEST(TableLayoutTest, GroupsAreFoundByNameAndId) {
  TableLayout layout;
  layout.groups.push_back({.id = 3, .name = "default", .options = {}});
  layout.groups.push_back({.id = 7, .name = "g", .options = {}});
  EXPECT_EQ(layout.FindGroup("g")->id, 7u);
  EXPECT_EQ(layout.FindGroup("h"), nullptr);
  EXPECT_EQ(layout.GroupIndex(3), 0u);
  EXPECT_EQ(layout.GroupIndex(7), 1u);
  EXPECT_EQ(layout.GroupIndex(5), 2u);
}

TEST(TableLayoutTest, ANewTableHasTheGroupsOfItsSchemaAndUsesThem) {
  TableSchema schema;
  schema.families["f"] = {};
  absl::StatusOr<TableLayout> layout = MakeTableLayout("t", 5, schema);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->table_id, 5u);
  ASSERT_EQ(layout->groups.size(), 1u);
  EXPECT_EQ(layout->groups[0].name, "default");
  EXPECT_EQ(layout->next_group_id, 1u);

  const auto status = [&](std::string_view name = "t") {
    return MakeTableLayout(name, 5, schema).status();
  };
  schema.families["g"] = {.locality_group = "other"};
  EXPECT_STATUS(kInvalidArgument, "in locality group \"other\", which the schema does not have",
                status());
  schema.locality_groups["other"] = {};
  schema.locality_groups["default"] = {.in_memory = true};
  schema.observers = {"o"};
  schema.split.tablet_size = 0;
  layout = MakeTableLayout("t", 5, schema);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->groups.size(), 2u);
  EXPECT_TRUE(layout->FindGroup("default")->options.in_memory);
  EXPECT_EQ(layout->FindFamily("g")->group_id, layout->FindGroup("other")->id);
  EXPECT_EQ(layout->observers, schema.observers);
  EXPECT_TRUE(layout->ToSchema().families ==
              MakeTableLayout("t", 6, layout->ToSchema())->ToSchema().families);
  EXPECT_TRUE(layout->ToSchema().locality_groups == schema.locality_groups);
  EXPECT_TRUE(layout->ToSchema().split == schema.split);
  EXPECT_EQ(layout->ToSchema().observers, schema.observers);
  EXPECT_EQ(layout->ToSchema().families.at("g").locality_group, "other");

  EXPECT_STATUS(kInvalidArgument, "name of a table", status("/"));
  TableSchema unused = schema;
  unused.locality_groups["unused"] = {};
  EXPECT_STATUS(kInvalidArgument, "no family of the schema is in locality group \"unused\"",
                MakeTableLayout("t", 5, unused));
  TableSchema bad = schema;
  bad.locality_groups["other"].block_size = 1;
  EXPECT_STATUS(kInvalidArgument, "block_size", MakeTableLayout("t", 5, bad));
  bad = schema;
  bad.locality_groups["other"].compaction_policy = "unknown";
  EXPECT_STATUS(kInvalidArgument, "locality group \"other\"", MakeTableLayout("t", 5, bad));
  bad = schema;
  bad.families["f"].owner = " ";
  EXPECT_STATUS(kInvalidArgument, "owner", MakeTableLayout("t", 5, bad));
  bad = schema;
  bad.observers = {"o", "o"};
  EXPECT_STATUS(kInvalidArgument, "twice", MakeTableLayout("t", 5, bad));
  bad = schema;
  bad.split.tablet_size = 1;
  EXPECT_STATUS(kInvalidArgument, "tablet_size", MakeTableLayout("t", 5, bad));
}

TEST(TableLayoutTest, ARetentionIsOfTheFamiliesOfItsGroup) {
  TableLayout layout;
  layout.groups.push_back({.id = 0, .name = "default", .options = {}});
  layout.groups.push_back({.id = 1, .name = "g", .options = {}});
  layout.families.push_back({.name = "a", .group_id = 1, .gc = GcRule::MaxVersions(2)});
  layout.families.push_back({.name = "b", .group_id = 0, .gc = kAll});
  layout.families.push_back({.name = "c", .group_id = 1, .gc = Seconds(1), .created = 8});
  const Retention retention = layout.RetentionOf(1, At(10));
  ASSERT_EQ(retention.families.size(), 2u);
  EXPECT_EQ(retention.families[0].name, "a");
  EXPECT_EQ(retention.families[0].versions.most, 2);
  EXPECT_EQ(retention.families[0].min_timestamp, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(retention.families[1].name, "c");
  EXPECT_EQ(retention.families[1].created, 8u);
  EXPECT_EQ(retention.families[1].min_timestamp, Micros(9));
  EXPECT_FALSE(retention.families[1].versions.any());
  EXPECT_FALSE(retention.held);
  EXPECT_EQ(retention.now, At(10));
  layout.families[1].held = true;  // of the other group
  EXPECT_FALSE(layout.RetentionOf(1, At(10)).held);
  layout.families[1].closed = true;
  EXPECT_TRUE(layout.EndHolds());
  EXPECT_FALSE(layout.families[1].held || layout.families[1].closed);
}

TEST(TableLayoutTest, TheLastChangeOfARuleIsThatOfAnyFamily) {
  TableLayout layout;
  EXPECT_EQ(layout.LastChange(), 0u);
  for (const std::string name : {"a", "b", "c"}) layout.AddFamily(name, 0, {}, 0);
  layout.families[1].ChangeRule(GcRule::MaxVersions(1), 30, At(0));
  layout.families[2].ChangeRule(GcRule::MaxVersions(1), 20, At(0));
  EXPECT_EQ(layout.LastChange(), 30u);
  layout.changes_since = 31;
  EXPECT_EQ(layout.LastChange(), 31u);
  layout.schema_changes = {{32, 0, ""}, {33, 0, ""}};
  EXPECT_EQ(layout.LastChange(), 33u);
}

TEST(TableLayoutTest, AChangeStreamComesFromTheSchemaInWholeMicroseconds) {
  TableSchema schema;
  schema.families["f"] = {};
  schema.changes = {.retention = absl::Seconds(2) + absl::Nanoseconds(1999), .max_bytes = 2 << 20};
  ASSERT_OK_AND_ASSIGN(const TableLayout layout, MakeTableLayout("t", 5, schema));
  const ChangeStreamRule kept{.retention = absl::Seconds(2) + absl::Microseconds(1),
                              .max_bytes = 2 << 20};
  EXPECT_EQ(layout.changes, kept);
  EXPECT_EQ(layout.ToSchema().changes, kept);
  schema.changes.max_bytes = 1;
  EXPECT_STATUS(kInvalidArgument, "max_bytes of a change stream", MakeTableLayout("t", 5, schema));
}

TEST(TableLayoutTest, SchemaChangesAreKeptAsLongAsChangesAre) {
  TableLayout layout;
  layout.table_id = 5;
  layout.name = "t";
  layout.groups.push_back({.id = 0, .name = "default", .options = {}});
  layout.SetChangeStream({.retention = absl::Seconds(10)});
  layout.changes_since = 5;
  EXPECT_EQ(layout.SchemaChangesWholeAfter(), 5u);
  layout.AddFamily("f", 0, {}, 0);
  const std::string with_f = layout.Encode();
  layout.AddSchemaChange(6, At(100));
  layout.families.clear();
  const int64_t at_100 = absl::ToUnixMicros(At(100));
  layout.AddSchemaChange(7, At(110));
  ASSERT_EQ(layout.schema_changes.size(), 2u);
  EXPECT_EQ(layout.schema_changes[0], (TableLayout::SchemaChange{6, at_100, with_f}));
  EXPECT_EQ(layout.schema_changes[1].sequence, 7u);
  ASSERT_OK_AND_ASSIGN(const TableLayout second,
                       TableLayout::Decode(layout.schema_changes[1].layout));
  EXPECT_TRUE(second.families.empty() && second.schema_changes.empty());
  const auto numbers = [&] {
    std::vector<SequenceNumber> all;
    for (const TableLayout::SchemaChange& change : layout.schema_changes) {
      all.push_back(change.sequence);
    }
    return all;
  };
  using Numbers = std::vector<SequenceNumber>;
  // The first is too old now, and is where the others begin.
  layout.AddSchemaChange(8, At(110) + absl::Microseconds(1));
  EXPECT_EQ(numbers(), (Numbers{6, 7, 8}));
  layout.AddSchemaChange(9, At(130), /*read_through=*/6);
  EXPECT_EQ(numbers(), (Numbers{6, 7, 8, 9}));
  layout.AddSchemaChange(10, At(131), /*read_through=*/7);
  EXPECT_EQ(numbers(), (Numbers{7, 8, 9, 10}));
  layout.AddSchemaChange(11, At(160));
  EXPECT_EQ(numbers(), (Numbers{10, 11}));
  EXPECT_EQ(layout.SchemaChangesWholeAfter(), 10u);
  layout.is_changing = true;
  EXPECT_TRUE(layout.EndHolds());
  EXPECT_FALSE(layout.is_changing || layout.EndHolds());
}

TEST(TableLayoutTest, AFamilyWhoseCodeIsNotRegisteredCannotBeMerged) {
  TableLayout layout;
  layout.AddFamily("a", 0, {.compaction_filter = "unknown-filter"}, 0);
  layout.AddFamily("b", 1, {.value_operator = "unknown-operator"}, 0);
  layout.AddFamily("c", 2, {.value_type = ValueType::kInt64Sum}, 0);
  EXPECT_STATUS(kFailedPrecondition, "has the compaction filter \"unknown-filter\"",
                layout.CheckCanMerge(0));
  EXPECT_STATUS(kFailedPrecondition, "unknown-operator", layout.CheckCanMerge(1));
  EXPECT_OK(layout.CheckCanMerge(2));
  EXPECT_TRUE(layout.HasFilter(0));
  EXPECT_FALSE(layout.HasFilter(1));
  EXPECT_STATUS(kNotFound,
                "table  has no column family \"x\"; it has: ", layout.NoFamilyError("x"));
}

TEST(TableLayoutTest, AgesAndVersionsOfARuleAreTakenApart) {
  const GcRule both = GcRule::Intersection(GcRule::MaxVersions(2), Seconds(5));
  EXPECT_EQ(MinTimestamp(kAll, At(10)), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(MinTimestamp(Seconds(3), At(10)), Micros(7));
  EXPECT_EQ(MinTimestamp(both, At(10), 1), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(MinTimestamp(both, At(10), 2), Micros(5));
  EXPECT_TRUE(HasAge(Seconds(3)));
  EXPECT_TRUE(HasAge(both));
  EXPECT_FALSE(HasAge(kAll));
  EXPECT_FALSE(HasAge(GcRule::MaxVersions(3)));
  EXPECT_FALSE(LimitsOf(Seconds(3), At(10)).any());
  EXPECT_EQ(LimitsOf(GcRule::MaxVersions(3), At(10)), (VersionLimits{3, {}}));
  EXPECT_EQ(LimitsOf(GcRule::Union(Seconds(9), GcRule::MaxVersions(3)), At(10)),
            (VersionLimits{3, {}}));
  EXPECT_EQ(LimitsOf(both, At(10)), (VersionLimits{2, {{2, Micros(5)}}}));
  EXPECT_EQ(LimitsOf(GcRule::Union(both, GcRule::MaxVersions(4)), At(10)),
            (VersionLimits{4, {{2, Micros(5)}, {4, kEveryTimestamp}}}));

  FamilyLayout family;
  family.gc = GcRule::Union(Seconds(9), GcRule::MaxVersions(3));
  EXPECT_EQ(family.fewest_versions(), 3);
  EXPECT_EQ(family.most_versions(), 3);
  EXPECT_TRUE(family.collects_by_count());
  EXPECT_EQ(family.SuspectBefore(At(10)), Micros(1));
  family.past.ages = {{5, Micros(4)}};
  EXPECT_EQ(family.SuspectBefore(At(10)), Micros(4));
  EXPECT_EQ(family.SuspectBefore(At(20)), Micros(11));
}

}  // namespace
}  // namespace bigtable
